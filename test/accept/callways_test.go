package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// calledParts calls on() with a struct that has parts of all kinds, and with a negative int.
const calledParts = `
struct pair { int a; char b; };
struct all { struct pair x; char name[8]; char *str; struct pair sa[2]; struct pair *to[2]; };
struct pair apart = { 7, 8 };
char text[] = "hello";
__attribute__((noinline)) int on(struct all *p, int n) { __asm__ volatile("" :: "r"(p)); return n; }
int main(void) {
	struct all a = { { -3, -4 }, "abcdefg", text, { { 1, 2 }, { -3, -4 } }, { &a.x, &apart } };
	text[0] = 'h'; // so that the page is there
	return on(&a, -3) == 0;
}
`

// A callWay is a way to call a function with parts of the event.
type callWay struct {
	setup string // lines at the top of the script
	lines string // lines of the handler
	call  string // the call: F is the function, P and N are parts of the event
	user  bool   // kernel halves do not have it
	kept  bool   // the int goes through a dict, where it has no width
}

// callWays are ways to call a function with parts of the event.
var callWays = []callWay{
	{call: "F(P, N)"},
	{call: "F(n = N, p = P)"},
	{call: "F(P, n = N)"},
	{setup: "def W(*, p, n): return F(p, n)", call: "W(n = N, p = P)"},
	{setup: "def W(p, *, n, q = 5): return F(p, n)", call: "W(P, n = N)"},
	{setup: "def W(p, *, n = 5, q): return F(p, n)", call: "W(P, q = P, n = N)"},
	{setup: "def W(p, n, **k): return F(p, n)", call: "W(P, N, z = 3, y = N)", user: true},
	{setup: "def W(p, **k): return F(p, k[\"z\"])", call: "W(P, z = N)", user: true, kept: true},
	{setup: "def W(*a): return F(a[0], a[1])", call: "W(P, N)", user: true},
	{setup: "def W(*a): return F(*a)", call: "W(P, N)", user: true},
	{setup: "def W(x, *a, n, **k): return F(a[0], n)", call: "W(5, n = N, m = 7, *[P, 6])", user: true},
	{call: "F(*(P, N))", user: true},
	{call: "F(P, *(N,))", user: true},

	{call: "F(P, **{\"n\": N})", user: true},
	{call: "F(n = N, *(P,))", user: true},
	{lines: "a = (P, N)", call: "F(*a)", user: true},
	{call: "(lambda p, n: F(p, n))(P, N)"},
	{call: "(lambda p, *, n, q = 1: F(p, n))(P, n = N)"},
	{call: "(lambda p, *, n = N: F(p, n))(P)"},
	{lines: "def w(p, *, n): return F(p, n)", call: "w(P, n = N)"},
	{lines: "def w(p, n = N): return F(p, n)", call: "w(P)"},
	{lines: "def w(p, *r, n = len(e.comm), **k): return F(p, r[0])", call: "w(P, N, u = 1)", user: true},
	{lines: "w = lambda n, p = P: F(p, n)", call: "w(N)"},
	{lines: "w = lambda n, p = P: F(p, n)", call: "w(p = P, n = N)"},
}

// usesOfParts are what functions do with a part p, in both halves.
const usesOfParts = `
def F(p, n):
    t = 0
    for x in p.sa: t += x.a
    for x in p.to: t += x.b
    return (p.x.a, hasattr(p, "x"), hasattr(p, "none"), getattr(p, "x").b, getattr(p, "none", 1), cstr(p.str),
        mem(p.name, 3)[2], p.sa[1].a, t, n)
`

// usedParts is what usesOfParts gives.
const usedParts = `(-3, True, False, -4, 1, "hello", 99, -3, 2, -3)`

// A function that is called with parts of the event sees the same of them in both halves, whichever way it is called.
//
// > It does not matter how it is called: by a name, with names, `*` and `**`, or where it stands.
// > A loop over an array of structs reads the parts of each of them: in `for x in p.sa: print(x.a)` the first `x.a` is
// > `p.sa[0].a`.
func TestWaysToCall(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "parts.c", calledParts)
	var code, want strings.Builder
	code.WriteString(usesOfParts + "def H(p, n): return sprintf(\"%x\", n)\n")
	probe := func(i int, w callWay, f, half, wanted string) {
		name := fmt.Sprintf("%s%d%s", half, i, f)
		replace := strings.NewReplacer("F(", f+"(", "W(", "W"+name+"(", "P", "e.args.p", "N", "e.args.n").Replace
		fmt.Fprintf(&code, "%s\ndef %s(e):\n", replace(w.setup), name)
		if w.lines != "" {
			fmt.Fprintf(&code, "    %s\n", replace(w.lines))
		}
		fmt.Fprintf(&code, "    return %s\n", replace(w.call))
		if half == "k" {
			fmt.Fprintf(&code, "probe(\"ufunc:BIN:on\", lambda e: print(%q, e.value), kernel = %s)\n", name, name)
		} else {
			fmt.Fprintf(&code, "probe(\"ufunc:BIN:on\", lambda e: print(%q, %s(e)))\n", name, name)
		}
		fmt.Fprintf(&want, "%s %s\n", name, wanted)
	}
	for i, w := range callWays {
		if !w.user {
			probe(i, w, "F", "k", usedParts)
		}
		probe(i, w, "F", "u", usedParts)
		if !w.kept {
			probe(i, w, "H", "u", "fffffffd")
		}
	}
	e := startrace(t, "-q", script(t, strings.ReplaceAll(code.String(), "BIN", binary)), "-c", binary).ok(t)
	if e.stdout != want.String() {
		t.Errorf("got\n%s\nwant\n%s\n%s", e.stdout, want.String(), e.stderr)
	}
}
