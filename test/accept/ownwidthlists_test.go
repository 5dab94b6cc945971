package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// listedInts has arrays and vectors of -1, 2, -3 of each type of ints, and rows of them.
const listedInts = `
#include <vector>
enum kind : signed char { low = -3, none = -1, two = 2 };
#define LISTS(type, name, a, b, c) \
	struct name##s { type list[3]; type rows[2][3]; std::vector<type> grown; } name = { \
		{ a, b, c }, { { a, b, c }, { c, b, a } }, { a, b, c } }; \
	extern "C" __attribute__((noinline)) long on_##name(name##s *p) { return p->list[0]; }
LISTS(signed char, bytes, -1, 2, -3)
LISTS(short, shorts, -1, 2, -3)
LISTS(int, ints, -1, 2, -3)
LISTS(long, longs, -1, 2, -3)
LISTS(unsigned, words, -1u, 2, -3u)
LISTS(kind, kinds, none, two, low)
int main() {
	on_bytes(&bytes); on_shorts(&shorts); on_ints(&ints); on_longs(&longs); on_words(&words); on_kinds(&kinds);
}
`

// An element of an array or a list has its own bits, however a handler comes to it.
//
// > It does not matter whether the field has a name in between, stands in a list that a `for` goes over, or is one of
// > several fields of the same width.
func TestOwnWidthOfElements(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++ -g -O0", "clang++ -g -O0 -gdwarf-4"} {
		binary := need.Built(t, compiler, "lists.cpp", listedInts)
		for name, bits := range map[string]int{"bytes": 8, "shorts": 16, "ints": 32, "longs": 64, "words": 32,
			"kinds": 8} {
			code := strings.NewReplacer("BIN", binary, "NAME", name).Replace(elementsByAllWays)
			low := fmt.Sprintf("%x 2 %x", ^uint64(0)>>(64-bits), ^uint64(2)<<(64-bits)>>(64-bits))
			want := strings.Repeat(low+"\n", 11)
			if e := startrace(t, "-q", script(t, code), "-c", binary).ok(t); e.stdout != want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", compiler, name, e.stdout, want)
			}
		}
	}
}

// elementsByAllWays prints three elements of the array, the vector and a row.
const elementsByAllWays = `
at = {"first": 0}
def show(list):
    first = at["first"]
    printf("%x %x %x\n", list[0], list[1], list[2])
    printf("%x %x %x\n", list[first], list[first + 1], list[first + 2])
    a, b, c = list
    printf("%x %x %x\n", a, b, c)
    print(*[sprintf("%x", x) for x in list])
def looped(list):
    for n, x in [(0, 0)]:
        pass
    text = []
    for x in list:
        text.append(sprintf("%x", x))
    print(" ".join(text))
def each(e):
    p = e.args.p
    show(p.list)
    looped(p.list)
    show(p.grown)
    looped(p.grown)
    for row in p.rows:
        print(*[sprintf("%x", x) for x in row])
        break
probe("ufunc:BIN:on_NAME", each)
`

// mixedSource has a function with arguments of several widths.
const mixedSource = `
__attribute__((noipa)) long mixed(signed char c, short s, int i, long l, unsigned u, unsigned char b) { return l; }
int main(void) { return mixed(-1, -2, -3, -4, 5, 6) == 0; }
`

// mixedLoops go over fields of several widths in lists that are written there.
const mixedLoops = `
def shown(x):
    return sprintf("%x", x)
def each(e):
    a = e.args
    text = []
    for x in (a.c, a.s, a.i, a.l, a.u, a.b):
        text.append(sprintf("%x", x))
    print("tuple", *text)
    for x in [a.u, a.c]:
        y = x
        printf("list %x %o %b\n", y, x, x)
    for n, x in (("c", a.c), ("i", a.i)):
        printf("row %s %x\n", n, x)
    print("comprehension", *[sprintf("%x", x) for x in (a.c, a.i)])
    print("dict", {sprintf("%x", x): 1 for x in (a.c, a.i)})
    print("function", *[shown(x) for x in (a.s, a.b, a.i)])
    for x in (a.c, a.i):
        for y in (a.s, a.u):
            printf("both %x %x\n", x, y)
    print("computed", *[sprintf("%x", x) for x in (a.c, a.c + 0)])
    sum = 0
    for x in (a.c, a.i):
        sum += x
    printf("sum %x\n", sum)
    printf("one %x\n", a.c if a.i < 0 else a.i)
    printf("constant %x %x\n", -1, a.i if a.i < 0 else -1)
    print("sorted", *[sprintf("%x", x) for x in sorted([a.c, a.i])])
probe("ufunc:BIN:mixed", each)
`

// Fields of several widths that a loop goes over have each their own bits.
//
// > Fields of several widths keep each its own where a `for` or a comprehension goes over a list or a tuple that is
// > written there, of at most 64 elements: `for x in (e.args.fd, e.args.pos): printf("%x\n", x)`.
// > Elsewhere one of several fields of different widths has 64 bits, as in `e.args.fd if c else e.args.pos` and
// > `sorted([e.args.fd, e.args.pos])`.
// > A constant has 64 bits.
// > So has what is a field or a constant: `e.args.fd if c else -1`.
func TestOwnWidthsOfOneLoop(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "mixed.c", mixedSource)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(mixedLoops, "BIN", binary)), "-c", binary).ok(t)
	const want = `tuple ff fffe fffffffd fffffffffffffffc 5 6
list 5 5 101
list ff 377 11111111
row c ff
row i fffffffd
comprehension ff fffffffd
dict {"ff": 1, "fffffffd": 1}
function fffe 6 fffffffd
both ff fffe
both ff 5
both fffffffd fffe
both fffffffd 5
computed ff ffffffffffffffff
sum fffffffffffffffc
one ffffffffffffffff
constant ffffffffffffffff fffffffffffffffd
sorted fffffffffffffffd ffffffffffffffff
`
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}
