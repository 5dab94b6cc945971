package startrace_test

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestSettingsAreUsed: each setting that a flag of a run gives means something to the run. A flag that is read and that
// nobody asks for would be ignored without a word.
func TestSettingsAreUsed(t *testing.T) {
	for _, p := range typed(t) {
		if strings.TrimPrefix(p.PkgPath, module) != "internal/session" {
			continue
		}
		used := map[types.Object]bool{}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					used[p.TypesInfo.Uses[s.Sel]] = true
				}
				return true
			})
		}
		settings := p.Types.Scope().Lookup("Settings").Type().Underlying().(*types.Struct)
		for i := range settings.NumFields() {
			if field := settings.Field(i); !used[field] {
				t.Errorf("nothing in internal/session asks for Settings.%s", field.Name())
			}
		}
		return
	}
	t.Fatal("there is no package internal/session")
}
