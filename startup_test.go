package startrace_test

import (
	"go/ast"
	"testing"
)

// What a package computes when the program starts, each run pays for, also one that only says exit(). Patterns were the
// dearest: a third of the time of such a run. They are compiled when they are first needed, by sync.OnceValue.
func TestNoPatternsAtStart(t *testing.T) {
	for _, f := range productFiles(t) {
		for _, d := range f.ast.Decls {
			if _, ok := d.(*ast.GenDecl); !ok || within(f.folder, "test") {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
					t.Errorf("%s: the pattern is compiled when the program starts", f.position(s))
				}
				_, later := n.(*ast.FuncLit)
				return !later
			})
		}
	}
}
