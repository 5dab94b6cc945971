package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// vectors hands over lists of 0, 1, 3, 64 and 100 elements.
const vectors = `#include <string>
#include <vector>
enum kind { none, some = -1 };
struct order { std::vector<int> counts; std::vector<double> prices; std::vector<unsigned char> bytes;
	std::vector<kind> kinds; std::vector<std::string> names; };
__attribute__((noinline)) int look(order *o) { asm volatile(""); return o->counts.size(); }
int main() {
	for (int n : {0, 1, 3, 64, 100}) {
		order o;
		for (int i = 0; i < n; i++) {
			o.counts.push_back(-i);
			o.prices.push_back(i * .5);
			o.bytes.push_back(250 + i);
			o.kinds.push_back(i % 2 ? some : none);
			o.names.push_back("a");
		}
		look(&o);
	}
	return 0;
}
`

// A list of numbers of a program is a tuple in both halves, of 64 elements at most.
//
// > A list of numbers of a program, as a `std::vector<int>` or a slice of Go, is such a tuple, too.
// > `len` of such an array, where it stands in the event, is how many elements it has, cut or not.
//
// > It is the same by the variable of a loop over such lists.
func TestNumbersInListsOfPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := `
kept, truths, seen = table(), table(), {}
def keep(e):
    o = e.args.o
    n = len(o.counts)
    kept[n] = (o.counts, o.prices, o.bytes, o.kinds)
    truths[n] = 1 if o.counts else 0
def tell(e):
    o, n = e.args.o, len(e.args.o.counts)
    all = (o.counts, o.prices, o.bytes, o.kinds)
    least = min(n, 64)
    want = ([-i for i in range(least)], [i * 0.5 for i in range(least)], [(250 + i) % 256 for i in range(least)],
        [-(i % 2) for i in range(least)])
    for got, list in zip(all, want):
        if got != tuple(list) or len(got) != n or str(got).endswith(", …)") != (n > 64):
            print("differs", n, got, list)
    seen[n] = all, int(bool(o.counts))
    print(n, sum(o.prices))
probe("uprobe:BIN:look", kernel = keep)
probe("uprobe:BIN:look", tell)
def end():
    for n, want in seen.items():
        if (kept[n], truths[n]) != want:
            print("the kernel differs", n, kept[n], truths[n], want)
at_exit(end)
`
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2"} {
		binary := need.Built(t, command, "vectors.cc", vectors)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		if want := "0 0\n1 0.0\n3 1.5\n64 1008.0\n100 1008.0\n"; e.stdout != want {
			t.Errorf("%s: got %s, want %s", command, e.stdout, want)
		}
	}
}

// What goes over such a list in a kernel half, or over one of other elements, is told what to do.
func TestLoopsOverListsOfPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g -O0", "vectors.cc", vectors)
	const way = "go over range(8), or as many as are wanted, and ask `i < len(list)` before list[i]"
	for _, text := range []string{
		"def f(e):\n    for x in e.args.o.counts: c.add(x)\nprobe('uprobe:BIN:look', kernel = f)",
		"probe('uprobe:BIN:look', kernel = lambda e: 3 in e.args.o.counts)",
		"probe('uprobe:BIN:look', lambda e: print([x for x in e.args.o.names]))",
	} {
		e := startrace(t, "-q", script(t, "c = cell(0)\n"+strings.ReplaceAll(text, "BIN", binary)), "-c", binary)
		if !strings.Contains(e.stderr, way) {
			t.Errorf("%s: got %s", text, e.stderr)
		}
	}
	text := `
c = cell(0)
def f(e):
    for i in range(8):
        if i < len(e.args.o.counts):
            c.add(e.args.o.counts[i])
probe("uprobe:BIN:look", kernel = f)
def g(e): print([len(e.args.o.names[i]) for i in range(2) if i < len(e.args.o.names)])
probe("uprobe:BIN:look", g)
at_exit(lambda: print(c.get()))
`
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
	want := fmt.Sprintf("[]\n[1]\n[1, 1]\n[1, 1]\n[1, 1]\n%d\n", -3-2*28)
	if e.stdout != want {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
}

// A list that is no value as a whole is true where it has elements, in both halves. On the left of `and` and `or`,
// which may be the value of the whole, user space has to ask for them.
func TestTruthOfListsOfPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g -O0", "vectors.cc", vectors)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:look", lambda e: n["some"].add(), where = lambda e: e.args.o.names)
probe("uprobe:BIN:look", lambda e: n["none"].add(), where = lambda e: not e.args.o.names)
probe("uprobe:BIN:look", lambda e: n["len" if len(e.args.o.names) > 0 else "0"].add())
def asked(e):
    l = e.args.o.names
    if not l:
        n["user none"].add()
    if bool(l) == (len(l) > 0) and [1 for _ in (1,) if l] and (True if l else False):
        n["user some"].add()
probe("uprobe:BIN:look", asked)
at_exit(lambda: print(sorted(n.items())))
`, "BIN", binary)), "-c", binary).ok(t)
	want := `[("0", 1), ("len", 4), ("none", 1), ("some", 4), ("user none", 1), ("user some", 4)]`
	if e.stdout != want+"\n" {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
	for _, text := range []string{"e.args.o.names and 1", "e.args.o.names or [1]"} {
		e := startrace(t, "-q", "-e", "probe('uprobe:"+binary+":look', lambda e: print("+text+"))", "-c", binary)
		if !strings.Contains(e.stderr, "ask `len(list) > 0`") {
			t.Errorf("%s: got %s%s", text, e.stdout, e.stderr)
		}
	}
}

// > A list that was cut is the elements that were read, as a cut string is its bytes.
// > A list of strings and an array of which each event says the length can be cut.
// > `len` of a value that was kept, `==`, `in`, loops, indices and `sum` are about these elements, and only what is
// > printed has `…` behind the last one.
// > All ways of printing have the mark.
// > In JSON it is a last element of the array, `"…"`.
// > `str(p)` has it, too.
// > A part of such a list is cut where it ends with the last element: `p[3:]`.
// > So are `p + q` where q was, and `p * 2`.
// > `",".join(p)` is a string that was cut.
// > A list that a script makes of the elements (`list(p)`, `sorted(p)`, a comprehension) is not.
// > In the keys of tables and aggregations a cut list and the whole one of the same elements are two keys, in both
// > halves.
func TestCutLists(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := `
kernels, users, n, l, was = table(), table(), count(), cell(None), {}
def kept(e):
    kernels[e.args.o.kinds] = 1 # of 64 elements and of 100 these are the same
    n[e.args.o.kinds].add()
    l.set(e.args.o.kinds)
def tell(e):
    was["list"] = e.args.o.kinds
    p = was["list"]
    users[p] = 1
    if len(e.args.o.kinds) == 100:
        print((len(p), sum(p), p == (0, -1) * 32, "…" in p, p[-1], [x for x in p][-1], p[62:], str(p[62:])))
        print(p[62:], p[62:64], p[60:62], list(p[62:]), sorted(p[62:]), p[:1] + p[62:], p[62:] + p[:1], p[63:] * 2)
        print(",".join([str(x) for x in p[62:]]), json.encode(p[62:]), {"p": p[62:]}, record(p = p[62:]))
        printf("%s %v %s\n", p[62:], p[62:], sprintf("%s", p[62:]))
        show(p[62:])
probe("uprobe:BIN:look", kernel = kept)
probe("uprobe:BIN:look", tell)
def end():
    both = [[(len(k), str(k).endswith("…)")) for k, _ in x.items() if len(k) == 64] for x in (kernels, users, n)]
    print([sorted(x) for x in both], [kernels[k] + users[k] for k, _ in kernels.items() if len(k) == 64], len(l.get()))
at_exit(end)
`
	binary := need.Built(t, "g++ -g -O0", "vectors.cc", vectors)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
	want := `(64, -32, True, False, -1, -1, (0, -1, …), "(0, -1, …)")
(0, -1, …) (0, -1, …) (0, -1) [0, -1] [-1, 0] (0, 0, -1, …) (0, -1, 0) (-1, -1, …)
0,-1 [0,-1,"…"] {"p": (0, -1, …)} record(p = (0, -1, …))
(0, -1, …) (0, -1, …) (0, -1, …)
(0, -1, …)
[[(64, False), (64, True)], [(64, False), (64, True)], [(64, False), (64, True)]] [2, 2] 64
`
	if !strings.HasPrefix(e.stdout, want) {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
	e = startrace(t, "-q", "--format", "json", "-e", `probe("syscall:execve", lambda e: print(",".join(e.args.argv)))`,
		"-e", `probe("syscall:execve")`, "-c", "true "+strings.Repeat("a ", 130)).ok(t)
	if !strings.Contains(e.stdout, `"a","a","…"]`) || !strings.Contains(e.stdout, `a,a…\n"`) {
		t.Errorf("got %s", e.stdout)
	}
}
