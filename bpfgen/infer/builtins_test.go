package infer

import (
	"slices"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"

	documented "github.com/startrace/startrace/builtins"
)

// constantsOf are entries of the reference that are no functions.
var constantsOf = []string{"FAULT", "NSEC", "USEC", "MSEC", "SEC", "json", "math"}

// TestBuiltinRows finds a row for each function of the reference and of Starlark, and one of both for each row.
func TestBuiltinRows(t *testing.T) {
	said := map[plan.Builtin]bool{plan.UpdateBuiltin: true}
	for _, e := range documented.Entries() {
		said[plan.Builtin(e.Name)] = !slices.Contains(constantsOf, e.Name)
	}
	for name, v := range starlark.Universe {
		if _, ok := v.(starlark.Callable); ok {
			said[plan.Builtin(name)] = true
		}
	}
	for name, is := range said {
		if is != (builtins[name] != nil) {
			t.Errorf("%s has a document or is Starlark's: %t; a row: %t", name, is, !is)
		}
	}
	for name := range builtins {
		if !said[name] {
			t.Errorf("%s has a row, and no document", name)
		}
	}
	if len(rows()) != len(builtins) {
		t.Error("a builtin has two rows")
	}
}

// ofEachType are values of the types that wants speaks of.
var ofEachType = []starlark.Value{starlark.MakeInt(1), starlark.Float(1), starlark.String("a"), starlark.True,
	starlark.NewList(nil), starlark.NewDict(0), starlark.Tuple{}}

// TestBuiltinTypes compares what rows say of Starlark's own functions with what these do.
func TestBuiltinTypes(t *testing.T) {
	for name, fn := range starlark.Universe {
		f, is := builtins[plan.Builtin(name)]
		if _, ok := fn.(starlark.Callable); !ok || !is || f.deed != None {
			continue
		}
		for _, arg := range ofEachType {
			args := starlark.Tuple{arg}
			if name == "enumerate" || name == "zip" || len(f.wants) > 1 {
				args = starlark.Tuple{arg, starlark.MakeInt(1)}
			}
			out, err := starlark.Call(&starlark.Thread{}, fn, args, nil)
			if err == nil && len(f.wants) > 0 && !slices.Contains(f.wants[0], arg.Type()) {
				t.Errorf("%s takes %s, which its row does not want", name, arg.Type())
			}
			if err == nil && f.is(goesThrough) && arg.Type() == "int" {
				t.Errorf("%s goes through %s", name, arg.Type())
			}
			if err == nil && f.gives != "" && out.Type() != f.gives {
				t.Errorf("%s gives %s, its row says %s", name, out.Type(), f.gives)
			}
		}
	}
}
