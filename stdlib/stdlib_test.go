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

// Each module is found by its name as the list has it, and nothing by the name of a file.
func TestFind(t *testing.T) {
	for _, want := range Modules() {
		if m, ok := Find(want.Name); !ok || m != want {
			t.Errorf("%s: %v, %v", want.Name, m, ok)
		}
	}
	for _, none := range []string{"no_such", "", ".", "verbs", "verbs/count", "../stdlib/count", "count.star"} {
		if m, ok := Find(none); ok {
			t.Errorf("%q: found %v", none, m)
		}
	}
}
