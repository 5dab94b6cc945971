package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const widthsSource = `#define N __attribute__((noinline, noclone))
#define A(t) t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n
#define V(v) v-1, v-2, v-3, v-4, v-5, v-6, v-7, v-8, v-9, v-10, v-11, v-12, v-13, v-14
N int bytes(A(signed char)) { __asm__ volatile(""); return a + n; }
N short words(A(short)) { __asm__ volatile(""); return a + n; }
N signed char ints(A(int)) { __asm__ volatile(""); return a + n; }
N long longs(A(long)) { __asm__ volatile(""); return a + n; }
N int plain(A(unsigned short)) { __asm__ volatile(""); return a + n; }
int main(void) { return bytes(V(0)) + words(V(0)) + ints(V(0)) + longs(V(0)) + plain(V(0)) == 0; }
`

// hex are the low bits of -from, -from-1, … to -to as a script shows them.
func hex(bits, from, to int) string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprintf("%x", -uint64(n)&(1<<(bits-1)<<1-1)))
	}
	return strings.Join(out, " ")
}

// A negative field has its own bits at all of 14 places in registers and on the stack, in loops, in one of two values,
// in functions inside and outside of the handler, and at points that have it in several widths.
//
// > It does not matter whether the field has a name in between, stands in a list that a `for` goes over, or is one of
// > several fields of the same width.
func TestOwnWidthOfEach(t *testing.T) {
	binary := widthsBinary(t)
	args := func(format string) string {
		var out []string
		for i := range 14 {
			out = append(out, fmt.Sprintf(format, i))
		}
		return strings.Join(out, ", ")
	}
	verbs := strings.TrimSpace(strings.Repeat("%x ", 14))
	e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "ARGS", args("e.args[%d]"), "VERBS", verbs).
		Replace(`
def helper(x):
    return sprintf("%x", x)

def all(e):
    printf("all %s VERBS %d %d\n", e.func, ARGS, e.args[0], e.args[13])

def loops(e):
    list, kept = [], 0
    for x in [e.args[0], e.args[12], e.args[13]]:
        list.append(sprintf("%x", x))
        list.append(helper(x))
    for i, x in [(1, e.args[0]), (2, e.args[13])]:
        list.append(sprintf("%x%x", i, x))
    list += [sprintf("%x", x) for x in (e.args[6], e.args[7])]
    list += [sprintf("%x", x) for x in (e.args[6], 1 - 2)]
    print("loops", e.func, *list)

def names(e):
    one = e.args[12]
    n = 0
    while_odd = e.args[0] if now() > 0 else e.args[13]
    if now() > 0:
        two = e.args[7]
    else:
        two = e.args[8]
    def inside(x):
        return sprintf("%x %x", one, x)
    last = e.args[1]
    for _ in range(2):
        was = sprintf("%x", last)
        last = last - 1
    printf("names %s %x %x %x %s %s %x %s\n", e.func, one, two, while_odd, inside(e.args[13]), was, last + 0,
           (lambda x: sprintf("%x", x))(e.args[12]))

probe(["ufunc:BIN:bytes", "ufunc:BIN:words", "ufunc:BIN:ints", "ufunc:BIN:longs", "ufunc:BIN:plain"], all)
probe(["ufunc:BIN:bytes", "ufunc:BIN:longs", "ufunc:BIN:plain"], loops)
probe("ufunc:BIN:words", names)
probe("ufunc:BIN:ints", lambda e: printf("ret %x %d\n", e.ret, e.ret))
`)), "-c", binary).ok(t)
	want := []string{
		"all bytes " + hex(8, 1, 14) + " -1 -14", "all words " + hex(16, 1, 14) + " -1 -14",
		"all ints " + hex(32, 1, 14) + " -1 -14", "all longs " + hex(64, 1, 14) + " -1 -14",
		"all plain " + hex(16, 1, 14) + " 65535 65522",
		"ret f1 -15",
		"names words fff3 fff8 ffff fff3 fff2 fffffffffffffffd fffffffffffffffc fff3",
	}
	for _, at := range []struct {
		name string
		bits int
	}{{"bytes", 8}, {"longs", 64}, {"plain", 16}} {
		h := func(n int) string { return hex(at.bits, n, n) }
		want = append(want, strings.Join([]string{"loops", at.name, h(1), h(1), h(13), h(13), h(14), h(14), "1" + h(1),
			"2" + h(14), h(7), h(8), h(7), hex(64, 1, 1)}, " "))
	}
	equalLines(t, sorted(e.stdout, ""), want)
}

func widthsBinary(t *testing.T) string {
	t.Helper()
	needTracing(t)
	return need.Built(t, "gcc -w -g -O1", "widths.c", widthsSource)
}

// elementsSource has negative elements of each width, in arrays, rows and lists.
const elementsSource = `#include <vector>
enum kind { none, some = -1 };
struct all { signed char bytes[2]; short words[2]; int ints[3]; long longs[2]; unsigned char plain[2]; int rows[2][2];
	kind kinds[2]; std::vector<int> list; std::vector<short> shorts; };
__attribute__((noinline)) int look(all *o) { asm volatile("" ::: "memory"); return o->ints[0]; }
int main() {
	all o{{-1, 2}, {-1, 2}, {-1, 2, -3}, {-1, 2}, {255, 1}, {{-1, 2}, {-3, -4}}, {some, none}, {-1, -2}, {-5}};
	return look(&o) == 0;
}
`

// The elements of an array or a list have the bits of its type wherever they are taken out, and what is computed of
// them has 64.
//
// > So is each element of an array or a list, however it is taken out: by an index, `for`, unpacking, a comprehension,
// > a slice, or by `list`, `tuple`, `sorted`, `reversed`, `enumerate` and `zip`.
func TestOwnWidthOfWhatIsTakenOut(t *testing.T) {
	needTracing(t)
	text := `
def hex(list):
    return " ".join([sprintf("%x", x) for x in list])
def loops(e):
    o = e.args.o
    for x in o.bytes: printf("%x ", x)
    for x in o.words: printf("%x ", x)
    for x in o.ints: printf("%x %o %b %u ", x, x, x, x)
    for x in o.longs: printf("%x ", x)
    for x in o.plain: printf("%x ", x)
    for x in o.kinds: printf("%x ", x)
    for x in o.list: printf("%x ", x)
    for x in o.shorts: printf("%x ", x)
    for row in o.rows:
        for x in row: printf("%x ", x)
    sum = 0
    for x in o.ints:
        sum += x
        printf("%x ", sum)
    print()
def parts(e):
    o = e.args.o
    a, b, c = o.ints
    (p, q), (r, s) = o.rows
    kept = [x for x in o.ints]
    printf("%x %x %x, %x %x %x %x, ", a, b, c, p, q, r, s)
    print(hex(o.ints), hex(o.list), hex(kept), hex(o.ints[1:]), hex(sorted(o.words)), hex(reversed(list(o.bytes))),
          sep = ", ")
    print([sprintf("%x %x", i, x) for i, x in enumerate(o.ints)],
          [sprintf("%x %x", x, y) for x, y in zip(o.ints, o.list)])
    print([sprintf("%x", o.ints[i]) for i in range(3)], [sprintf("%x %x", x, y) for x, y in o.rows], hex(o.longs))
    print([sprintf("%x", x - 1) for x in o.bytes], sprintf("%x %x", o.list[-1], o.ints[-1]))
probe("uprobe:BIN:look", loops)
probe("uprobe:BIN:look", parts)
`
	want := `ff 2 ffff 2 ffffffff 37777777777 ` + strings.Repeat("1", 32) + ` 4294967295 ` +
		`2 2 10 2 fffffffd 37777777775 ` + strings.Repeat("1", 30) + `01 4294967293 ffffffffffffffff 2 ff 1 ` +
		`ffffffff 0 ffffffff fffffffe fffb ffffffff 2 fffffffd fffffffc ffffffffffffffff 1 fffffffffffffffe ` + `
ffffffff 2 fffffffd, ffffffff 2 fffffffd fffffffc, ffffffff 2 fffffffd, ffffffff fffffffe, ffffffff 2 fffffffd, ` +
		`2 fffffffd, ffff 2, 2 ff
["0 ffffffff", "1 2", "2 fffffffd"] ["ffffffff ffffffff", "2 fffffffe"]
["ffffffff", "2", "fffffffd"] ["ffffffff 2", "fffffffd fffffffc"] ffffffffffffffff 2
["fffffffffffffffe", "1"] fffffffe fffffffd
`
	binary := need.Built(t, "g++ -g -O0", "elements.cc", elementsSource)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
	if e.stdout != want {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
}

// Each part of what zip and enumerate give has the bits of its own type, and so has each argument of printf beside a
// list that is given by a star, and each element of that list.
//
// > Each part of the tuples that `zip` and `enumerate` give has its own width, and so has each element of a list that
// > is given by a star: `printf("%x %x\n", *p.arr)`.
func TestOwnWidthOfEachPart(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "g++ -g -O0", "elements.cc", elementsSource)
	for _, c := range [][2]string{
		{`for a, b in zip(o.words, [1, 2]): printf("%x %x|", a, b)`, "ffff 1|2 2|"},
		{`for a, b in zip([-1, -2], o.words): printf("%x %x|", a, b)`, "ffffffffffffffff ffff|fffffffffffffffe 2|"},
		{`for a, b in zip(o.words, [o.bytes[0], o.bytes[0]]): printf("%x %x|", a, b)`, "ffff ff|2 ff|"},
		{`for a, b, c in zip(o.list, o.shorts, o.longs): printf("%x %x %x|", a, b, c)`,
			"ffffffff fffb ffffffffffffffff|"},
		{`for pair in zip(o.words, o.bytes): printf("%x %x|", pair[0], pair[1])`, "ffff ff|2 2|"},
		{`for pair in zip(o.words, o.bytes): printf("%x %x|", *pair)`, "ffff ff|2 2|"},
		{`for i, (a, b) in enumerate(zip(o.words, o.bytes)): printf("%x %x %x|", i, a, b)`, "0 ffff ff|1 2 2|"},
		{`for i, a in enumerate(o.words, -1): printf("%x %x|", i, a)`, "ffffffffffffffff ffff|0 2|"},
		{`for (a, b), c in zip(zip(o.words, o.bytes), o.ints): printf("%x %x %x|", a, b, c)`,
			"ffff ff ffffffff|2 2 2|"},
		{`for a, b in reversed(list(zip(o.words, o.bytes))): printf("%x %x|", a, b)`, "2 2|ffff ff|"},
		{`for a, b in sorted(tuple(zip(o.words, o.bytes))): printf("%x %x|", a, b)`, "ffff ff|2 2|"},
		{`for a, b in zip(o.words, o.bytes)[:1]: printf("%x %x|", a, b)`, "ffff ff|"},
		{`(a, b), (c, d) = zip(o.words, o.bytes); printf("%x %x %x %x|", a, b, c, d)`, "ffff ff 2 2|"},
		{`printf("%x %x|", zip(o.words, o.bytes)[0][0], zip(o.words, o.bytes)[0][1])`, "ffff ff|"},
		{`printf("%s|", [sprintf("%x %x", a, b) for a, b in zip(o.words, o.bytes)][0])`, "ffff ff|"},
		{`for a, b in [(x, y) for x, y in zip(o.words, o.bytes)]: printf("%x %x|", a, b)`, "ffff ff|2 2|"},
		{`for a, b in zip(o.words, [x - 0 for x in o.bytes]): printf("%x %x|", a, b)`,
			"ffff ffffffffffffffff|2 2|"},
		{`printf("%x %x|", *o.words)`, "ffff 2|"},
		{`printf("%x %x|", *o.list)`, "ffffffff fffffffe|"},
		{`printf("%x %d %x|", *o.ints)`, "ffffffff 2 fffffffd|"},
		{`printf("%d %x|", *o.list)`, "-1 fffffffe|"},
		{`printf("%x %x %x|", o.ints[0], *o.words)`, "ffffffff ffff 2|"},
		{`printf("%x %x|", *(o.words[0], o.bytes[0]))`, "ffff ff|"},
		{`printf("%x %x|", *[o.words[0], -1])`, "ffff ffffffffffffffff|"},
		{`printf("%x %x|", *o.longs)`, "ffffffffffffffff 2|"},
		{`printf("%s|", sprintf("%x %x", *o.words))`, "ffff 2|"},
		{`printf("%x %x|", *[x - 1 for x in o.bytes])`, "fffffffffffffffe 1|"},
		{`printf(*["%x|", o.words[0]])`, "ffffffffffffffff|"},
	} {
		text := "def f(e):\n    o = e.args.o\n    " + c[0] + "\nprobe('uprobe:" + binary + ":look', f)\n"
		if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], e.stdout, c[1])
		}
	}
}
