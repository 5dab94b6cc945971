package startrace_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every package says in its comment what its one job is.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	for _, f := range productFiles(t) {
		comments[f.folder] += 0
		if f.ast.Doc == nil {
			continue
		}
		comments[f.folder]++
		word := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			word = "Command " + filepath.Base(f.folder) + " "
		}
		if !strings.HasPrefix(f.ast.Doc.Text(), word) {
			t.Errorf("%s: the package comment must begin with %q", f.name, word)
		}
	}
	for folder, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want 1", folder, n)
		}
	}
}

const maxFileLines = 600

func TestFileLengths(t *testing.T) {
	for _, f := range goFiles(t) {
		if n := strings.Count(f.text, "\n"); n > maxFileLines && !ast.IsGenerated(f.ast) {
			t.Errorf("%s has %d lines, want at most %d: split it by concept", f.name, n, maxFileLines)
		}
	}
}

// Half of the functions are within ten lines, nine in ten within forty-five.
func TestFunctionLengths(t *testing.T) {
	type function struct {
		name  string
		lines int
	}
	var functions []function
	for _, f := range productFiles(t) {
		for _, declaration := range f.ast.Decls {
			if fn, ok := declaration.(*ast.FuncDecl); ok {
				lines := f.set.Position(fn.End()).Line - f.position(fn.Type).Line + 1
				functions = append(functions, function{fmt.Sprintf("%s: %s", f.position(fn.Name), fn.Name.Name), lines})
			}
		}
	}
	slices.SortFunc(functions, func(a, b function) int { return a.lines - b.lines })
	for _, limit := range []struct{ percent, lines int }{{50, 10}, {90, 45}} {
		at := functions[(len(functions)-1)*limit.percent/100]
		if at.lines > limit.lines {
			t.Errorf("%d %% of %d functions are within %d lines, want %d", limit.percent, len(functions), at.lines,
				limit.lines)
			for _, f := range functions[max(0, len(functions)-10):] {
				t.Logf("%d lines: %s", f.lines, f.name)
			}
		}
	}
}

const (
	maxColumns = 120
	tab        = "    "
)

// TestLineLengths bounds the lines of Go, of the scripts that are given away, and of the Makefile. Those of a raw
// string of several lines in a test may be longer: they are a script or an output that is compared as it is.
func TestLineLengths(t *testing.T) {
	for _, f := range goFiles(t) {
		var free map[int]bool
		if strings.HasSuffix(f.name, "_test.go") {
			free = rawLines(f)
		}
		checkColumns(t, f.name, f.text, free)
	}
	names := []string{"Makefile"}
	for _, folder := range []string{"stdlib", "examples"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(name string, d fs.DirEntry, err error) error {
			if strings.HasSuffix(name, ".star") {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkColumns(t, name, string(text), nil)
	}
}

func checkColumns(t *testing.T, name, text string, free map[int]bool) {
	t.Helper()
	at := 0
	for line := range strings.Lines(text) {
		at++
		n := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", tab))
		if n > maxColumns && !free[at] {
			t.Errorf("%s:%d: %d columns, want at most %d (a tab is four): go on in the next line", name, at, n,
				maxColumns)
		}
	}
}

// rawLines are the lines of a file that a raw string of several lines takes.
func rawLines(f sourceFile) map[int]bool {
	out := map[int]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
			first, last := f.position(l).Line, f.set.Position(l.End()).Line
			for at := first; at <= last && last > first; at++ {
				out[at] = true
			}
		}
		return true
	})
	return out
}
