package startrace_test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestSkips: a test that is skipped says what the machine lacks, in words that begin with "needs". One that is skipped
// without a word, or with an error, may hide what failed.
func TestSkips(t *testing.T) {
	const begin = "needs "
	files := goFiles(t)
	words := stringConstants(files)
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			statement, ok := n.(*ast.ExprStmt)
			if !ok {
				return true
			}
			if said, ok := skip(statement.X, f.folder, words); ok && !strings.HasPrefix(said, begin) {
				t.Errorf("%s skips a test and says %q: say what the machine lacks, from %q on", f.position(statement),
					said, begin)
			}
			return true
		})
	}
}

// skip gives the first words of a call that skips a test.
func skip(x ast.Expr, folder string, words map[string]string) (said string, ok bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	switch selector.Sel.Name {
	case "SkipNow":
		return "", true
	case "Skip", "Skipf":
		if len(call.Args) == 0 {
			return "", true
		}
		return firstWords(call.Args[0], folder, words), true
	}
	return "", false
}

// firstWords are those of a text that begins with a literal or a constant of the package.
func firstWords(x ast.Expr, folder string, words map[string]string) string {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return firstWords(x.X, folder, words)
	case *ast.Ident:
		return words[folder+"."+x.Name]
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value) // what is no text has no words
		return text
	}
	return ""
}

// stringConstants are the texts of constants, by folder and name.
func stringConstants(files []sourceFile) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				s := spec.(*ast.ValueSpec)
				for i, name := range s.Names {
					if i < len(s.Values) {
						out[f.folder+"."+name.Name] = firstWords(s.Values[i], f.folder, out)
					}
				}
			}
		}
	}
	return out
}
