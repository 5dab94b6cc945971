package script

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/starlark/value"
)

// What the interpreter runs is not what was written, but means it, and the tree is as before.
func TestInstrument(t *testing.T) {
	const text = `
def f(a, b = "x" + "y", *rest):
    s = "<"
    s += a + b
    l = [1]
    same = l
    l += [2]
    d = {"k" + a: "%s-%s" % (a, b)}
    g = lambda x: x + a
    return (s, same, d, g("l"), ",".join([a, b]), "{}{z}".format(a, z = b), [x + a for x in ["p"] if x + "" == "p"],
            b"ab"[0], b"ab" == bytes("ab"), str(b"ab"), 1 + 2, 7 % 4, [1] + [2], (1,) + (2,), "%d" % 3)
out = f(cut)
`
	h, _ := runTest(t, "")
	h.predeclared["cut"] = value.Cut([]byte("abc"))
	f, err := h.parse("t.star", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	before := nodes(f.tree)
	globals, err := h.exec(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `("<abc…xy", [1, 2], {"kabc…": "abc…-xy"}, "labc…", "abc…,xy", "abc…xy", ["pabc…"], 97, True, "ab", 3, ` +
		`3, [1, 2], (1, 2), "3")`
	if got := value.Text(globals["out"]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if after := nodes(f.tree); after != before {
		t.Errorf("the tree was\n%s\nand is\n%s", before, after)
	}
}

// nodes is a tree in words.
func nodes(f *syntax.File) string {
	var b strings.Builder
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			b.WriteString(n.Name + " ")
		case *syntax.BinaryExpr:
			b.WriteString(n.Op.String() + " ")
		case *syntax.AssignStmt:
			b.WriteString(n.Op.String() + " ")
		case *syntax.Literal:
			b.WriteString(n.Token.String() + " " + n.Raw + " ")
		}
		return true
	})
	return b.String()
}

// Errors of what was changed stand at the operator, and nothing of the change shows.
func TestInstrumentedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"def f(x):\n    return 1 in x\nf(1)\n":          "t.star:2:14: ",
		"def f(x):\n    return x == f\nf(1) in 1\n":     "t.star:3:6: ",
		"def f(x):\n    return x + \"a\"\nf(1)\n":       "t.star:2:14: int + string: these types have no +",
		"def f(x):\n    x += \"a\"\nf(1)\n":             "t.star:2:7: int + string",
		"def f(x):\n    return \"%d\" % x\nf(\"a\")\n":  "t.star:2:17: %d",
		"def f(x):\n    return \",\".join(x)\nf([1])\n": "t.star:2:20: join",
	} {
		h, _ := runTest(t, "")
		f, err := h.parse("t.star", []byte(text))
		if err == nil {
			_, err = h.exec(f)
		}
		if err = h.explain(err); err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "$") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
