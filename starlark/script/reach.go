package script

import (
	"cmp"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// At which places of a file a script uses a builtin, for `startrace audit`.

// Places gives the places at which the files that were loaded use the builtin
// of a name, by file and line. A variable of the script that has the same name
// is none.
func (s Sources) Places(builtin string) (out []plan.Pos) {
	for _, f := range s {
		syntax.Walk(f.tree, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok && id.Name == builtin && isBuiltin(id) {
				out = append(out, id.NamePos)
			}
			return true
		})
	}
	slices.SortFunc(out, func(a, b plan.Pos) int {
		return cmp.Or(cmp.Compare(a.Filename(), b.Filename()), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return out
}

// isBuiltin reports whether a word that was resolved means something that
// startrace has given. Words that are no variables, as the names of fields and
// of arguments, are not resolved.
func isBuiltin(id *syntax.Ident) bool {
	b, ok := id.Binding.(*resolve.Binding)
	return ok && (b.Scope == resolve.Predeclared || b.Scope == resolve.Universal)
}
