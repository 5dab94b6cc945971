package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// listKinds hands over a list of each kind, one that is not made yet, and one whose end is far off. Those in the
// namespace other have the members that libc++ gives them.
const listKinds = `#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <unistd.h>
namespace other {
template <class T> struct vector { T *__begin_, *__end_, *__end_cap_; };
template <> struct vector<bool> { unsigned long *__begin_, __size_, __cap_; };
template <class T, unsigned long N> struct span { T *__data_; unsigned long __size_; };
template <class T, unsigned long N> struct array { T __elems_[N]; };
}
struct pair { int a, b; };
struct all {
	std::vector<char> chars;
	std::vector<bool> bits;
	std::array<int, 3> fixed;
	std::array<int, 0> none;
	std::array<char, 4> text;
	std::array<std::array<short, 2>, 2> rows;
	std::span<int> part;
	std::span<int, 2> two;
	std::span<bool> bools;
	std::vector<int> &ref;
	std::vector<int> *to;
	std::vector<std::string> names;
	std::vector<pair> pairs;
	std::vector<const char *> texts;
	std::vector<long> early, far;
	std::vector<double> empty;
	other::vector<char> chars2;
	other::vector<bool> bits2;
	other::span<int, 18446744073709551615UL> part2;
	other::array<int, 3> fixed2;
};
__attribute__((noinline)) int look(all *o, std::span<int> part, const std::array<int, 3> &fixed) {
	asm volatile("" ::: "memory");
	return o->fixed[0] + part[0] + fixed[0];
}
int main() {
	std::vector<int> ints{1, -2, 3};
	bool bools[] = {true, false};
	char chars[] = {'h', -1};
	unsigned long bits[] = {1, 2};
	all o{{'h', -1}, {}, {1, -2, 3}, {}, {'a', 'b'}, {{{1, -2}, {3, 4}}}, std::span(ints).subspan(1),
		std::span<int, 2>(ints.data(), 2), bools, ints, &ints, {"a", "b"}, {{1, 2}, {3, 4}}, {"x", nullptr},
		{1, 2}, {1, 2}, {}, {chars, chars + 2, chars + 2}, {bits, 66, 2}, {&ints[0], 2}, {{1, -2, 3}}};
	for (int i = 0; i < 70; i++)
		o.bits.push_back(i % 3 == 0);
	((uintptr_t *)&o.early)[1] = ((uintptr_t *)&o.early)[0] - 4096;
	((uintptr_t *)&o.far)[1] = ((uintptr_t *)&o.far)[0] + (1ul << 41);
	look(&o, o.part, o.fixed);
	_exit(0); // what was overwritten cannot be freed
}
`

// Each kind of list is what it is in both halves, whatever library it is of.
//
// > So is a list of chars or of bools: of a `std::vector<char>`, a `std::span` and a slice of Go.
// > A `std::array` is the array in it, which of chars is a string.
// > `list[-1]` is the last element.
// > In both halves they have `len(list)`, elements and a truth, and user space goes over them as kernel halves do.
// > A reference to a list is the list.
// > The memory of a list that is damaged or not made yet can say that it ends before it begins, or that it has more
// > than 256 GiB.
// > So `len` of it, the list and each of its elements are FAULT.
func TestKindsOfLists(t *testing.T) {
	needTracing(t)
	text := `
c = cell(None)
def keep(e):
    o = e.args.o
    n = 0
    for x in o.fixed:
        n += x
    c.set((o.chars, o.fixed, o.ref, len(o.bits), o.bits[3], o.chars[-1], 3 in o.fixed, len(o.early), len(o.far),
        o.early, o.part, n, len(o.names), len(o.none), o.bools, o.fixed[-1]))
def truths(e):
    o = e.args.o
    c2.set((1 if o.bits else 0, 1 if o.names else 0, 1 if o.chars else 0, 1 if o.empty else 0, 1 if o.none else 0))
c2 = cell(None)
probe("uprobe:BIN:look", kernel = keep)
probe("uprobe:BIN:look", kernel = truths)
def chars(e):
    o = e.args.o
    p = o.chars
    print(p, len(p), p[0], p[-1], p[-3], 104 in o.chars, [x for x in p], bool(o.chars))
def bits(e):
    o = e.args.o
    print(len(o.bits), [o.bits[i] for i in range(4)], o.bits[69], o.bits[70], bool(o.bits), 1 if o.bits else 0)
def fixed(e):
    o = e.args.o
    p = o.fixed
    print(p, len(o.fixed), o.fixed[1], p[-1], 3 in o.fixed, [x for x in o.fixed], bool(o.fixed), e.args.fixed)
    print(o.none, len(o.none), bool(o.none), o.text, o.rows, o.rows[0][1], [sprintf("%x", x) for x in o.fixed])
def spans(e):
    o = e.args.o
    p = e.args.part
    print(o.part, o.two, o.bools, len(o.part), len(o.two), o.two[1], o.two[2], 3 in o.part, p, p[-1])
def others(e):
    o = e.args.o
    p = o.names
    print(o.ref, len(o.ref), o.to[0], len(o.to[0]), o.to[0][1], bool(o.to), p[1], len(p), p[-1], o.pairs[1].b)
def more(e):
    o = e.args.o
    p = o.empty
    print(o.texts[0], o.texts[1], bool(o.texts), not o.names, [1 for _ in (1,) if o.names], p, bool(p), len(p))
    print(o.early, len(o.early), o.early[0], o.far, len(o.far), o.far[0])
def second(e):
    o = e.args.o
    b = o.bits2
    print(o.chars2, len(b), b[0], b[1], b[65], b[66], o.part2, o.fixed2, len(o.fixed2), bool(b))
for f in (chars, bits, fixed, spans, others, more, second):
    probe("uprobe:BIN:look", f)
probe("uprobe:BIN:look", lambda e: print(e.args.part, e.args.fixed))
at_exit(lambda: print(c.get(), c2.get()))
`
	want := `(104, -1) 2 104 -1 <fault> True [104, -1] True
70 [True, False, False, True] True <fault> True 1
(1, -2, 3) 3 -2 3 True [1, -2, 3] True (1, -2, 3)
() 0 False ab ((1, -2), (3, 4)) -2 ["1", "fffffffe", "3"]
(-2, 3) (1, -2) (True, False) 2 2 -2 <fault> True (-2, 3) 3
(1, -2, 3) 3 (1, -2, 3) 3 -2 True b 2 b 4
x <fault> True False [1] () False 0
<fault> <fault> <fault> <fault> <fault> <fault>
(104, -1) 66 True False True <fault> (1, -2) (1, -2, 3) 3 True
(-2, 3) (1, -2, 3)
((104, -1), (1, -2, 3), (1, -2, 3), 70, True, -1, True, <fault>, <fault>, <fault>, ` +
		"(-2, 3), 2, 2, 0, (True, False), 3) (1, 1, 1, 0, 0)\n"
	for _, command := range []string{"g++ -std=c++20 -g -O0", "g++ -std=c++20 -gdwarf-4 -O2",
		"clang++ -std=c++20 -g -O1"} {
		t.Run(command, func(t *testing.T) {
			binary := need.Built(t, command, "lists.cc", listKinds)
			e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
			if e.stdout != want {
				t.Errorf("got %s, want %s", e.stdout, want)
			}
		})
	}
}

// What is no value as a whole is refused with what to ask instead.
//
// > A list of other elements, as strings, structs or pointers, and a `std::vector<bool>`, whose elements are bits, are
// > no values as a whole.
// > A pointer to a list is an address, as in C, and `p[0]` is the list.
func TestListsThatAreNoValues(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "g++ -std=c++20 -g -O0", "lists.cc", listKinds)
	const parts = "so it is no value as a whole: go over range(8), or as many as are wanted, and ask `i < len(list)` " +
		"before list[i]"
	const address = "this is the address of a list, as C has it: p[0] is the list, as in len(p[0])"
	for _, c := range []struct{ text, want string }{
		{"print(e.args.o.names)", "the elements of this list are no numbers, " + parts},
		{"print({1: e.args.o.pairs})", parts},
		{"show(sorted(e.args.o.texts))", parts},
		{"print('a' in e.args.o.names)", parts},
		{"print(e.args.o.bits)", "this list keeps its elements as single bits, " + parts},
		{"print(e.args.o.names or 1)", "ask `len(list) > 0`"},
		{"print(len(e.args.o.to))", address},
		{"print([x for x in e.args.o.to])", address},
		{"print(3 in e.args.o.to)", address},
		{"print(sum(e.args.o.to))", address},
	} {
		e := startrace(t, "-q", "-e", "probe('uprobe:"+binary+":look', lambda e: "+c.text+")", "-c", binary)
		if !strings.Contains(e.stderr, c.want) || strings.Count(e.stderr, "\n") > 1 || e.stdout != "" {
			t.Errorf("%s: got %s%s, want %s", c.text, e.stdout, e.stderr, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"len(e.args.o.to) > 1", address}, {"3 in e.args.o.to", address}, {"3 in e.args.o.chars", "go over range(8)"},
	} {
		text := "probe('uprobe:" + binary + ":look', lambda e: print(1), where = lambda e: " + c.text + ")"
		e := startrace(t, "-q", "-e", text, "-c", binary)
		if !strings.Contains(e.stderr, c.want) {
			t.Errorf("where = %s: got %s, want %s", c.text, e.stderr, c.want)
		}
	}
}

// A loop whose range is too long to be written out is told how long one may be.
//
// > A loop of a kernel half does not go over a list: it goes over `range(8)`, at most `range(64)`, and asks
// > `i < len(list)` before `list[i]`.
func TestLongRangeOverList(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "g++ -std=c++20 -g -O0", "lists.cc", listKinds)
	text := `
c = cell(0)
def f(e):
    for i in range(N):
        if i < len(e.args.o.ref):
            c.add(e.args.o.ref[i])
probe("uprobe:BIN:look", kernel = f)
at_exit(lambda: print(c.get()))
`
	for n, want := range map[string]string{"64": "2\n",
		"65": "or that of a loop over at most range(64)"} {
		of := strings.NewReplacer("BIN", binary, "(N)", "("+n+")").Replace(text)
		e := startrace(t, "-q", script(t, of), "-c", binary)
		if !strings.Contains(e.stdout+e.stderr, want) {
			t.Errorf("range(%s): got %s%s, want %s", n, e.stdout, e.stderr, want)
		}
	}
}
