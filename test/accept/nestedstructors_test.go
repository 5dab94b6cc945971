package accept

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// nestedStructors is a program that counts its constructors and destructors itself: of classes with a base, two, a
// virtual one, members that have some, templates, arrays, those that delegate and those that call themselves.
const nestedStructors = `#include <cstdio>
volatile int sink, cells = 4;
static volatile long made[18], ended[18];
#define MADE(n) made[n]++; sink += n
#define ENDED(n) ended[n]++; sink -= n
struct plain { int v; plain(int x) : v(x) { MADE(0); } ~plain() { ENDED(0); } };
struct inner : plain { plain m; inner(int x) : plain(x), m(x + 1) { MADE(1); } ~inner() { ENDED(1); } };
struct shape { virtual int go() = 0; shape() { MADE(2); } virtual ~shape() { ENDED(2); } };
struct disc : shape {
	int k;
	disc(int z) : k(z) { MADE(3); }
	~disc() override { ENDED(3); }
	int go() override { return k; }
};
struct root { int v; root(int x) : v(x) { MADE(4); } virtual ~root() { ENDED(4); } };
struct left : virtual root { int p; left(int x) : root(x), p(x) { MADE(5); } ~left() { ENDED(5); } };
struct right : virtual root { int q; right(int x) : root(x), q(x) { MADE(6); } ~right() { ENDED(6); } };
struct join : left, right { plain m; join(int x) : root(x), left(x), right(x), m(x) { MADE(7); } ~join() { ENDED(7); } };
struct two : shape, virtual root {
	two(int x) : root(x) { MADE(8); }
	~two() { ENDED(8); }
	int go() override { return v; }
};
template <class T> struct box { T v; box(T x) : v(x) { MADE(9); } virtual ~box() { ENDED(9); } };
struct sent {
	int v;
	sent(int x) : sent(x, 1) { MADE(10); }
	sent(int x, long y) : v(x + y) { MADE(10); }
	~sent() { ENDED(10); }
};
struct chain {
	chain *next;
	chain(int n) : next(n ? new chain(n - 1) : nullptr) { MADE(11); }
	~chain() { ENDED(11); delete next; }
};
struct cell { int v; cell() : v(1) { MADE(12); } virtual ~cell() { ENDED(12); } };
#define CALL __attribute__((noinline))
struct idea { virtual int go() = 0; idea() { MADE(13); } virtual ~idea() { ENDED(13); } };
struct only : idea { // all calls of what is virtual in idea come here
	int k;
	only(int z) : k(z) { MADE(14); }
	~only() override { ENDED(14); }
	int go() override { return k; }
};
struct part : virtual root { int q; CALL part(int x) : root(x), q(x) { MADE(15); } CALL ~part() { ENDED(15); } };
struct more : virtual root { int q; more(int x) : root(x), q(x) { MADE(16); } ~more() { ENDED(16); } };
struct whole : part, more { CALL whole(int x) : root(x), part(x), more(x) { MADE(17); } CALL ~whole() { ENDED(17); } };
CALL int think(idea *i) { int r = i->go(); delete i; return r; }
CALL int use(shape *s) { int r = s->go(); delete s; return r; }
CALL void drop(root *r) { delete r; }
CALL void dropcells(cell *c) { delete[] c; }
CALL void locals(int k) { plain a(k); inner b(k); sink += k; inner c(k + 1); }
int main() {
	locals(1); locals(2); locals(3);
	use(new disc(3)); use(new disc(4)); { disc d(5); sink += d.go(); }
	{ left a(1); right b(2); join c(3); two d(4); sink += d.go(); }
	drop(new left(3)); drop(new right(4)); drop(new join(5)); drop(new two(6)); use(new two(7)); delete new join(8);
	{ box<int> a(1), b(2); } delete new box<int>(3);
	{ sent a(1); sink += a.v; sent b(2, 3); sink += b.v; }
	{ chain a(3); } delete new chain(2);
	dropcells(new cell[cells]); delete new cell;
	think(new only(1)); think(new only(2)); { only o(3); sink += o.go(); }
	{ whole w(1); } drop(new whole(2)); { part p(4); }
	const char *names[] = {"plain", "inner", "shape", "disc", "root", "left", "right", "join", "two", "box<int>", "sent",
		"chain", "cell", "idea", "only", "part", "more", "whole"};
	for (int i = 0; i < 18; i++) {
		const char *last = i == 9 ? "box" : names[i];
		printf("%s::%s %ld\n%s::~%s %ld\n", names[i], last, made[i], names[i], last, ended[i]);
	}
}
`

// Copies of the functions that compilers make of one constructor or destructor, one in the other, are one call,
// wherever they were inlined. Of none more calls are seen than the program makes, and of what g++ has put into thunks,
// where fewer are, a message tells.
//
// > Of a constructor or a destructor of C++ a compiler makes several functions, which can call each other: one object
// > is one call.
func TestNestedStructors(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, level := range []string{"0", "1", "2", "3", "s"} {
			t.Run(compiler+level, func(t *testing.T) {
				structorsOf(t, need.Built(t, compiler+" -g -O"+level, "nested.cc", nestedStructors))
			})
		}
	}
}

// structorNames are those that nestedStructors counts.
func structorNames() (names []string) {
	for _, class := range strings.Fields("plain inner shape disc root left right join two box<int> sent chain cell " +
		"idea only part more whole") {
		last, _, _ := strings.Cut(class, "<")
		names = append(names, class+"::"+last, class+"::~"+last)
	}
	return names
}

// structorsOf compares what is seen of the constructors and destructors of a program with what it says.
func structorsOf(t *testing.T, binary string) {
	var probes strings.Builder
	probes.WriteString("n = count()\nspans = count()\n")
	for _, name := range structorNames() {
		fmt.Fprintf(&probes, "probe(\"uprobe:%s:%s\", lambda e: n[%q].add())\n", binary, name, name)
		fmt.Fprintf(&probes, "at_exit(lambda: print(\"seen\", %q, n[%q].value))\n", name, name)
	}
	for _, name := range []string{"left::~left", "join::~join", "disc::~disc"} {
		fmt.Fprintf(&probes, "probe(\"ufunc:%s:%s\", lambda e: spans.add())\n", binary, name)
	}
	e := startrace(t, script(t, probes.String()), "-c", binary).ok(t)
	seen, counted := map[string]int{}, map[string]int{}
	for line := range strings.Lines(e.stdout) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n, err := strconv.Atoi(words[len(words)-1])
		switch {
		case err != nil:
		case len(words) == 3 && words[0] == "seen":
			seen[words[1]] = n
		case len(words) == 2:
			counted[words[0]] = n
		}
	}
	for _, name := range structorNames() {
		told := strings.Contains(e.stderr, "a copy of "+name+": debug information says nothing of the one in ")
		n, of := seen[name], counted[name]
		if n > of || n < of && !told {
			t.Errorf("%s: %d calls are seen of %d", name, n, of)
		}
	}
	if len(seen) != len(structorNames()) || counted["chain::chain"] == 0 {
		t.Errorf("seen are %v of %v: %s", seen, counted, e.stderr)
	}
	if strings.Contains(e.stderr, "did not return") {
		t.Errorf("calls are said to have been left: %s", e.stderr)
	}
}
