package infer

import (
	"slices"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/fold"
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

// ofEachType are values of the types that wants speaks of, with the constants that they are for the compiler, if any.
var ofEachType = []struct {
	v starlark.Value
	c plan.Value
}{
	{starlark.MakeInt(1), plan.MakeInt(1)}, {starlark.MakeInt(-5), plan.MakeInt(-5)},
	{starlark.Float(1), plan.Float(1)},
	{starlark.String("a"), plan.String("a")}, {starlark.True, plan.Bool(true)}, {starlark.NewList(nil), nil},
	{starlark.NewDict(0), nil}, {starlark.Tuple{}, plan.Tuple{}},
}

// TestBuiltinTypes compares what rows say of functions with what these do in user space: Starlark's own, and ours.
func TestBuiltinTypes(t *testing.T) {
	ours := documented.New(documented.Idle{}).Predeclared()
	for name, f := range builtins {
		fn := starlark.Universe[string(name)]
		if own, is := ours[string(name)]; is {
			fn = own
		}
		if _, ok := fn.(starlark.Callable); !ok || f.deed != None {
			continue
		}
		for _, arg := range ofEachType {
			args, constants := starlark.Tuple{arg.v}, []plan.Value{arg.c}
			if len(f.wants) > 1 || name == "enumerate" || name == "zip" {
				args = append(args, starlark.MakeInt(1))
				constants = append(constants, plan.MakeInt(1))
			}
			out, err := starlark.Call(&starlark.Thread{}, fn, args, nil)
			if folded, ok := f.folds.Call(constants); ok && arg.c != nil {
				if err != nil || fold.TypeName(folded) != out.Type() {
					t.Errorf("%s%s is folded to %v, and gives %v, %v", name, args, folded, out, err)
				}
			}
			if err == nil {
				compareRow(t, f, arg.v, out)
			}
		}
	}
}

// compareRow compares a row with a call of its function that gave out.
func compareRow(t *testing.T, f *builtin, arg, out starlark.Value) {
	t.Helper()
	if len(f.wants) > 0 && !slices.Contains(f.wants[0], arg.Type()) {
		t.Errorf("%s takes %s, which its row does not want", f.name, arg.Type())
	}
	if f.is(goesThrough) && arg.Type() == "int" {
		t.Errorf("%s goes through %s", f.name, arg.Type())
	}
	if f.gives != "" && out.Type() != f.gives {
		t.Errorf("%s(%s) gives %s, its row says %s", f.name, arg, out.Type(), f.gives)
	}
}

// TestBuiltinDeeds finds a deed in the row of each builtin that reaches outside of tracing: without one a call could be
// left out whose value nobody needs.
func TestBuiltinDeeds(t *testing.T) {
	for _, e := range documented.Entries() {
		if e.Reaches != "" && builtins[plan.Builtin(e.Name)].deed == None {
			t.Errorf("%s %s, and its row has no deed", e.Name, e.Reaches)
		}
	}
}
