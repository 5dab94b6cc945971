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

	{setup: "W = [G, F]", call: "W[1](P, N)"},
	{setup: "W = [G, F]", call: "W[-1](P, N)"},
	{setup: "W = [G, F]", call: "W[e.pid // e.pid](P, N)", user: true},
	{setup: "W = {\"a\": G, \"b\": F}", call: "W[\"b\"](P, N)"},
	{setup: "W = {\"a\": G, \"b\": F}", call: "W[\"\".join([\"b\"])](P, N)", user: true},
	{setup: "W = {\"a\": G, \"b\": F}", call: "W.get(\"b\")(P, N)"},
	{setup: "W = {\"a\": G, \"b\": F}", call: "W.get(\"c\", F)(P, N)"},
	{setup: "W = {\"a\": {\"b\": (G, F)}}", call: "W[\"a\"][\"b\"][1](P, N)"},
	{setup: "W = [record(f = G), record(f = F)]", call: "W[1].f(P, N)"},
	{setup: "W = record(f = F)", call: "W.f(P, N)"},
	{setup: "W = (G, F)", call: "W[1](P, N)"},
	{setup: "W = [lambda p, n: F(p, n)]", call: "W[0](P, N)"},
	{setup: "W = [lambda e: F(P, N)]", call: "W[0](e)"},
	{setup: "W = {\"a\": lambda p, *, n: F(p, n)}", call: "W[\"a\"](P, n = N)"},
	{setup: "W = {\"a\": F}", call: "W[\"a\"](*(P, N))", user: true},
	{call: "(F if e.pid > 0 else G)(P, N)", user: true},
	{call: "(G if e.pid == 0 else F)(p = P, n = N)", user: true},
	{setup: "W = [F]", call: "(W or [G])[0](P, N)", user: true},
	{lines: "w = F if e.pid > 0 else G", call: "w(P, N)", user: true},
	{lines: "w = G\n    if e.pid > 0: w = F", call: "w(P, N)", user: true},
	{lines: "w = G\n    for i in range(e.pid // e.pid): w = F", call: "w(P, N)", user: true},
	{lines: "w = lambda p, n: F(p, n)\n    if e.pid == 0: w = G", call: "w(P, N)", user: true},
	{setup: "W = [G, F]", lines: "r = []\n    for w in W: r.append(w(P, N))", call: "r[1]", user: true},
	{setup: "W = [G, F]", lines: "r = None\n    for w in W: r = w(P, N)", call: "r"},
	{lines: "r = None\n    for w in (G, F): r = w(P, N)", call: "r"},
	{lines: "r = None\n    for w in [lambda p, n: G(p, n), lambda p, n: F(p, n)]: r = w(P, N)", call: "r"},
	{setup: "W = [G, F]", call: "[w(P, N) for w in W][1]", user: true},
	{setup: "W = {\"a\": G, \"b\": F}", call: "[w(P, N) for k, w in W.items() if k == \"b\"][0]", user: true},
	{setup: "W = {\"a\": G, \"b\": F}", call: "[W[k](P, N) for k in W][1]", user: true},
	{setup: "W = [G, F]", call: "[w(P, N) for i, w in enumerate(W) if i][0]", user: true},
	{call: "[F][0](P, N)", user: true},
	{call: "{\"a\": F}[\"a\"](P, N)", user: true},
	{lines: "w = [G]\n    w = w + [F]", call: "w[1](P, N)", user: true},
	{lines: "w = {\"a\": lambda p, n: F(p, n)}", call: "w[\"a\"](P, N)", user: true},
	{call: "record(f = F).f(P, N)", user: true},
	{call: "{\"a\": G, \"b\": F}.get(\"b\")(P, N)", user: true},
	{call: "[w(P, N) for k, w in {\"a\": G, \"b\": F}.items()][1]", user: true},
	{lines: "w = [lambda p, n: F(p, n)]\n    w.append(w[0])", call: "w.pop()(P, N)", user: true},

	{setup: "def W(f, p, n): return f(p, n)", call: "W(F, P, N)"},
	{setup: "def W(f, p, n): return f(p, n)", call: "W(lambda p, n: F(p, n), P, N)"},
	{setup: "def W(f, p): return f(p)", call: "W(lambda p: F(p, N), P)"},
	{setup: "def W(f): return f()", call: "W(lambda: F(P, N))"},
	{setup: "def W(f): return f()", lines: "p = P\n    n = N", call: "W(lambda: F(p, n))"},
	{setup: "def W(f, p): return f(p)", lines: "def w(p, n = N): return F(p, n)", call: "W(w, P)"},
	{setup: "def W(f, p): return f(p)", call: "W(lambda p, n = N: F(p, n), P)"},
	{setup: "def W(p, f, n): return f(p, n = n)", call: "W(P, f = lambda p, n: F(p, n), n = N)"},
	{setup: "def W(f, g): return f(g)", call: "W(lambda g: g(P), lambda p: F(p, N))"},
	{setup: "def W(p, n, f = F): return f(p, n)", call: "W(P, N)"},
	{setup: "def W(p, n, *f): return f[1](p, n)", call: "W(P, N, G, F)", user: true},
	{setup: "def W(p, n, *f): return [g(p, n) for g in f][1]", call: "W(P, N, G, lambda p, n: F(p, n))", user: true},
	{lines: "def w(f, p): return f(p, N)", call: "w(F, P)"},
	{lines: "def w(f, p): return f(p, N)", call: "w(lambda p, n: F(p, n), P)"},

	{setup: "def W(n): return lambda p: F(p, n)", call: "W(N)(P)"},
	{setup: "def W(n): return lambda p: F(p, n)", lines: "w = W(N)", call: "w(P)"},
	{setup: "def W(f, p): return lambda n: f(p, n)", call: "W(F, P)(N)"},
	{setup: "def W(f, p): return lambda n: f(p, n)", call: "W(lambda p, n: F(p, n), P)(N)"},
	{setup: "def W():\n    def w(p, n): return F(p, n)\n    return w", call: "W()(P, N)"},
	{setup: "def W():\n    return lambda p, n: F(p, n)\nW2 = W()", call: "W2(P, N)"},
	{setup: "def W(): return [G, lambda p, n: F(p, n)]", call: "W()[1](P, N)", user: true},
	{setup: "W2 = {\"a\": G, \"b\": F}\ndef W(k): return W2[k]", call: "W(\"b\")(P, N)"},
	{setup: "W2 = {\"a\": G, \"b\": F}\ndef W(k):\n    w = W2[k]\n    return w", call: "W(\"b\")(P, N)"},
	{setup: "def W(b): return F if b else G", call: "W(e.pid > 0)(P, N)", user: true},
	{call: "{1: G, 2: F}[2](P, N)", user: true},
	{call: "{e.pid > 0: F, 2: G}[e.pid > 0](P, N)", user: true},
	{lines: "w = {len(e.comm) < 0: G, len(e.comm) >= 0: F}", call: "w[1 > 0](P, N)", user: true},
	{call: "[f(P, N) for f in {1: F}.values()][0]", user: true},
}

// usesOfParts are what functions do with a part p, in both halves.
const usesOfParts = `
def F(p, n):
    t = 0
    for x in p.sa: t += x.a
    for x in p.to: t += x.b
    return (p.x.a, hasattr(p, "x"), hasattr(p, "none"), getattr(p, "x").b, getattr(p, "none", 1), cstr(p.str),
        mem(p.name, 3)[2], p.sa[1].a, t, n)
def G(p, n): return (1, True, True, p.x.b, 2, cstr(p.str), 3, p.sa[0].a, 4, n)
`

// usedParts is what usesOfParts gives.
const usedParts = `(-3, True, False, -4, 1, "hello", 99, -3, 2, -3)`

// A function that is called with parts of the event sees the same of them in both halves, whichever way it is called.
//
// > It does not matter how it is called: by a name, with names, `*` and `**`, or where it stands.
// > Where user space decides which function a call runs, what each of them uses is read: of those in a list, a dict
// > or a record, of those that a condition or a loop chooses, of arguments and of results.
// > A loop over an array of structs reads the parts of each of them: in `for x in p.sa: print(x.a)` the first `x.a` is
// > `p.sa[0].a`.
func TestWaysToCall(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "parts.c", calledParts)
	var code, want strings.Builder
	code.WriteString(usesOfParts + "def U(p, n): return (F(p, n), sprintf(\"%x\", n))\n")
	probe := func(i int, w callWay, f, half, wanted string) {
		name := fmt.Sprintf("%s%d%s", half, i, f)
		replace := strings.NewReplacer("None", "None", "F", f, "W2", "V"+name, "W", "W"+name, "P", "e.args.p",
			"N", "e.args.n").Replace
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
		if w.kept {
			probe(i, w, "F", "u", usedParts)
		} else {
			probe(i, w, "U", "u", "("+usedParts+`, "fffffffd")`)
		}
	}
	e := startrace(t, "-q", script(t, strings.ReplaceAll(code.String(), "BIN", binary)), "-c", binary)
	for line := range strings.Lines(want.String()) {
		if !strings.Contains(e.stdout, line) {
			name, _, _ := strings.Cut(line, " ")
			t.Errorf("%s: want %s\n%s", callWayOf(code.String(), name), line, firstLines(e.stderr))
		}
	}
	e.ok(t)
}

// What a function takes of the event cannot be read where it is not known which one is called.
//
// > To a function that comes there otherwise, as out of a list of the script by `KEPT.append(f)`, a call can give
// > numbers and texts, but no struct and not the event: that is an error.
// > A function that reads memory is refused where it goes there.
func TestUnknownFunctions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "parts.c", calledParts)
	for _, c := range []struct{ lines, stdout, stderr string }{
		{"l = []\n    l.append(lambda n: n)\n    print(l[0](e.args.n), l[0](cstr(e.args.p.str)))", "-3 hello\n", ""},
		{"l = []\n    l.append(lambda e: e.args.n)\n    print(l[0](e))", "-3\n", ""},
		{"l = []\n    put = l.append\n    put(lambda p: p.x.a)\n    print(l[0](e.args.p))", "", "6:15: which function"},
		{"l = []\n    put = l.append\n    put(lambda e: e.pid)\n    print(l[0](e))", "", ":6:15: which function"},
		{"K.append(lambda p: cstr(p))\n    print(K[1](e.args[0]))", "", ":3:14: who calls this function is not known"},
		{"l = []\n    put = l.append\n    put(lambda p: cstr(p))", "", ":5:9: who calls this function is not known"},
		{"K[0] = lambda n: -n\n    print(K[0](e.args.n))", "3\n", ""},
		{"K[0] = lambda p: p.x.a\n    print(K[0](e.args.p))", "", ":4:15: what this function takes"},
		{"print([x.a for x in sorted(e.args.p.sa)])", "", ":3:14: user space decides which part of the event this is"},
		{"print(sorted(e.args.p.sa, key = lambda x: x.a))", "", ":3:17: the key of sorted gets parts"},
		{"print(max(e.args.p.sa).a)", "", ":3:28: user space decides which part of the event this is"},
		{"print([f(e) for f in [lambda x: x.args[0] != 0, lambda x: x.args.n]])", "[True, -3]\n", ""},
	} {
		code := fmt.Sprintf("K = [lambda p: 0]\ndef f(e):\n    %s\nprobe(\"ufunc:%s:on\", f)\n", c.lines, binary)
		e := startrace(t, "-q", script(t, code), "-c", binary)
		if e.stdout != c.stdout || !strings.Contains(e.stderr, c.stderr) || c.stderr == "" && e.stderr != "" {
			t.Errorf("%s\ngives %q and %q, want %q and %q", c.lines, e.stdout, e.stderr, c.stdout, c.stderr)
		}
	}
}

// callWayOf is the part of the script in which a function is called.
func callWayOf(code, name string) string {
	_, after, _ := strings.Cut(code, "def "+name+"(")
	text, _, _ := strings.Cut(after, "probe(")
	return name + "(" + text
}

func firstLines(s string) string {
	return strings.Join(strings.SplitN(s, "\n", 8)[:min(7, strings.Count(s, "\n"))], "\n")
}
