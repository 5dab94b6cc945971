package stdlib

import (
	"io/fs"
	"strings"
	"testing"

	"go.starlark.net/syntax"
)

// A module begins with its text, of which the first line says what it shows;
// each function that it gives says what it does.
func TestModules(t *testing.T) {
	modules := Modules()
	if len(modules) < 2 {
		t.Fatalf("%d modules", len(modules))
	}
	for _, m := range modules {
		text, err := fs.ReadFile(Files(), m.File())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), `"""`+m.Summary()) || len(m.Summary()) < 20 ||
			!strings.HasSuffix(m.Summary(), ".") {
			t.Errorf("%s: must begin with a text whose first line is a sentence, got %q", m.Name, m.Summary())
		}
		tree, err := (&syntax.FileOptions{}).Parse(m.Name, text, 0)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		checkFunctions(t, m, tree)
	}
}

func checkFunctions(t *testing.T, m Module, tree *syntax.File) {
	tool := false
	for _, stmt := range tree.Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok || strings.HasPrefix(def.Name.Name, "_") {
			continue
		}
		if def.Name.Name == "main" {
			tool = true
			continue
		}
		if doc, ok := def.Body[0].(*syntax.ExprStmt); !ok {
			t.Errorf("%s: %s has no text", m.Name, def.Name.Name)
		} else if l, ok := doc.X.(*syntax.Literal); !ok || l.Token != syntax.STRING {
			t.Errorf("%s: %s has no text", m.Name, def.Name.Name)
		}
	}
	if tool != m.Tool {
		t.Errorf("%s: it has a main(): %v; listed as a tool: %v", m.Name, tool, m.Tool)
	}
}

func TestFind(t *testing.T) {
	if m, ok := Find("slowprocs"); !ok || !m.Tool || m.Name != "slowprocs" {
		t.Errorf("slowprocs: %v, %v", m, ok)
	}
	if m, ok := Find("no_such"); ok {
		t.Errorf("found %v", m)
	}
}
