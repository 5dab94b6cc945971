package diff

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/refusal"
)

// refused are kernel halves that the documentation says are refused, with a part of the message and where it points.
var refused = []struct{ src, want string }{
	{"def f(e):\n    return e.args.u8 / 2\n", "2:"},
	{"def f(e):\n    return e.args.u8 * 0.5\n", "2:"},
	{"def f(e):\n    return float(e.args.u8)\n", "2:"},
	{"def f(e):\n    return [e.args.u8]\n", "2:"},
	{"def f(e):\n    x = e.args.s8 if e.args.flag else None\n    return x + 1\n", "may be None"},
	{"L = [1, 2]\ndef f(e):\n    L[0] = e.args.u8\n", "table"},
	{"D = {1: 2}\ndef f(e):\n    D[1] += 1\n", "table"},
	{"D = {1: 2}\ndef f(e):\n    return D[e.args.u8]\n", "get(key, default)"},
	{"def f(e):\n    return f(e)\n", "calls itself"},
	{"def f(e):\n    return 1 if e.args.flag else \"a\"\n", "2:"},
	{"def f(e):\n    for i in range(20000):\n        pass\n", "16384"},
	{"def f(e):\n    while True:\n        pass\n", "2:"},
	{"def f(e):\n    p = e.args.p\n    if p == None:\n        return p.u8\n", "None"},
	{"def f(e):\n    return e.args.s.startswith(e.args.t)\n", "constant"},
	{"def f(e):\n    return matches(e.args.s, e.args.t)\n", "constant glob"},
	{"G = group(n = count())\ndef f(e):\n    G.add(1)\n", "G.n.add"},
	{"def f(e):\n    for a in e.args.p.argv:\n        pass\n", "goes over range"},
	{"def f(e):\n    return e.args.zz\n", "zz"},
	{"def f(e):\n    return errno(e.args.s32) if e.args.flag else signal(e.args.s32)\n", "2:"},
	{"def f(e):\n    return errno(e.args.s32) + 1\n", "2:"},
	{"def f(e):\n    return errno(e.args.s32) == \"EPERM\"\n", "2:"},
	{"def f(e):\n    return len(errno(e.args.s32))\n", "2:"},
	{"def f(e):\n    return e.args.s in range(3)\n", "got a string, want an int"},
	{"def f(e):\n    return \"a\" not in range(3)\n", "asks about an int, got a string"},
	{"def f(e):\n    return (e.args.u8, 1) in range(3)\n", "got a tuple, want an int"},
	{"def f(e):\n    return None in range(3)\n", "asks about an int, got None"},
	{"def f(e):\n    return (1 if e.args.flag else None) in range(3)\n", "may be None"},
}

// TestOneMistakeIsOneMessage: what a mistake was made of is no mistake of its own, whatever builtin gets it.
func TestOneMistakeIsOneMessage(t *testing.T) {
	f := facts(t)
	for _, use := range []string{`matches(x, "a")`, "len(x)", "int32(x)", "abs(x)", "errno(x)", "bool(x)",
		"min(x, 1)", "names(x, \"O_\")", "cstr(x)", "cast(\"u8\", x)"} {
		src := "def f(e):\n    v = 3000000000 * 9000000000000000 == e.args.s64\n    x = (1, v)[1]\n    return " + use +
			"\n"
		_, err := compile(scriptOf([]*Program{{Name: "f", Text: src}}), f, StrMax, false)
		var diags refusal.Diags
		if !errors.As(err, &diags) || len(diags) != 1 || !strings.Contains(diags[0].Msg, wideConstant) {
			t.Errorf("%s: %v", use, err)
		}
	}
}

// TestRefused compiles what must be refused.
func TestRefused(t *testing.T) {
	f := facts(t)
	for _, c := range refused {
		_, err := compile(scriptOf([]*Program{{Name: "f", Text: c.src}}), f, StrMax, false)
		switch {
		case err == nil:
			t.Errorf("not refused:\n%s", c.src)
		case strings.Contains(err.Error(), "panic") || !strings.Contains(err.Error(), c.want):
			t.Errorf("%v, want %q:\n%s", err, c.want, c.src)
		}
	}
}

// wide is where a constant of more than 64 bits would be used with its low ones.
var wide = []string{
	"e.args.u64 + W", "W - e.args.s64", "e.args.u8 * W", "e.args.u64 & W", "e.args.u64 | -W", "W ^ e.args.u64",
	"e.args.u64 // W",
	"W % e.args.u8", "e.args.u8 << W", "W << e.args.u8", "W >> e.args.u8", "-W + e.args.u8", "~W & e.args.u8",
	"e.args.u64 < W", "-W >= e.args.s64", "e.args.u64 == W", "W != e.args.s64", "e.args.u64 in (1, W)",
	"e.args.u64 in L", "D.get(e.args.u64, 1)",
	"((e.args.u8, 0) if e.args.flag else (T.pop(e.args.u8, 1), W))",
	"((0, True) if e.args.flag else (0, (lambda x: x == W)(e.args.u8)))",
	"W", "(e.args.u8, W)", "record(a = W)", "W if e.args.flag else 1", "e.args.u8 or W", "min(e.args.u8, W)",
	"max(W, e.args.u8)",
	"T.get(W)", "T.pop(W)", "T.get(e.args.u8, W)", "T.set(1, W)", "T.set(W, 1)", "T.add(W)", "T.add(1, W)",
	"T.remove(W)", "T[W]", "W in T",
	"N[W].add()", "N[1].add(W)", "H[1].add(W)", "H[1].add(1, W)", "C.set(W)", "C.add(W)", "V()", "P()",
	"F()",
}

// TestWideConstants compiles each; flags, defaults and lists have such numbers, too.
func TestWideConstants(t *testing.T) {
	f := facts(t)
	for _, number := range []string{"18446744073709551616", "100000000000000000000", "(-9223372036854775809)",
		"(1 << 64)"} {
		head := "W = " + number +
			"\nL = [1, W]\nD = {W: 1, 2: 3}\nT, N, H, C = table(), count(), hist(), cell(0)\n" +
			"def V(x = W):\n    return x\ndef P():\n    x = W\n    return x\nF = lambda: flag(\"w\", W)\n" +
			"WF = flag(\"wide\", W)\nF = lambda: WF\n"
		for _, x := range wide {
			src := head + "def f(e):\n    T[1] = 2\n    N[1].add()\n    return " + x + "\n"
			if negative := strings.HasPrefix(number, "(-"); negative && strings.ContainsAny(x, "-~") {
				continue // 9223372036854775809
			}
			_, err := compile(scriptOf([]*Program{{Name: "f", Text: src}}), f, StrMax, false)
			if err == nil || !strings.Contains(err.Error(), wideConstant) ||
				strings.Contains(err.Error(), "one kind of value") {
				t.Errorf("%s with %s: %v, want %q", x, number, err, wideConstant)
			}
		}
	}
}
