package script

import (
	"testing"

	"go.starlark.net/syntax"
)

// A comparison that can have a list that was cut on a side is a call. One of names is a call only where there was such
// a list, which names do not make; one with a literal or a number never is.
func TestComparisonsThatCall(t *testing.T) {
	for text, want := range map[string]string{
		"a == b": "once cut", "a != (b)": "once cut", "a in b": "once cut", `"x" not in b`: "once cut",
		"e.x == b": "always", "a == t[1]": "always", "f() in b": "always", "a == (b, 1)": "always",
		"a != b + c": "always",
		`a == "x"`:   "never", "1 != b": "never", "a == None": "never", "a in [1, 2]": "never", "a < b": "never",
		"a >= b": "never",
	} {
		x, err := (&syntax.FileOptions{}).ParseExpr("", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := "never"
		switch y := replacement(x).(type) {
		case *syntax.CallExpr:
			got = "always"
		case *syntax.CondExpr:
			if name, ok := y.Cond.(*syntax.Ident); ok && name.Name == anyCutName {
				got = "once cut"
			}
		}
		if got != want {
			t.Errorf("%s: calls %s, want %s", text, got, want)
		}
	}
}
