package scope_test

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

var signatures = []string{"", "a", "a, b", "a, b = 0", "a = 0, b = 0", "*rest", "a, *rest", "a, *, b", "a, *rest, b",
	"a, b = 0, *, c = 0", "*, a", "a, *rest, b = 0, c = 0"}

var calls = []string{"", "1", "1, 2", "1, 2, 3", "a = 1", "b = 1", "1, b = 2", "1, a = 2", "a = 1, b = 2",
	"b = 1, a = 2", "1, 2, c = 3", "1, c = 2, b = 3", "c = 1", "1, 2, 3, b = 4"}

// TestPlaces compares which parameter gets which argument with what the interpreter does.
func TestPlaces(t *testing.T) {
	for _, sig := range signatures {
		for _, call := range calls {
			text := fmt.Sprintf("def f(%s):\n    return %s\nr = f(%s)\n", sig, returned(sig), call)
			globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, &starlark.Thread{}, "t.star", text, nil)
			got := placed(t, text)
			switch {
			case (err == nil) != (got != "wrong"):
				t.Errorf("f(%s) of def f(%s): %s, the interpreter says %v", call, sig, got, err)
			case err == nil && got != globals["r"].String():
				t.Errorf("f(%s) of def f(%s): %s, the interpreter has %s", call, sig, got, globals["r"])
			}
		}
	}
}

// returned is a list of all parameters.
func returned(sig string) string {
	var names []string
	for _, p := range strings.Split(sig, ", ") {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, "*"), " ")
		if name != "" {
			names = append(names, name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// placed is what the parameters of f get, as the interpreter writes it, by what Places says.
func placed(t *testing.T, text string) string {
	t.Helper()
	f := parsed(t, text)
	def := f.Stmts[0].(*syntax.DefStmt).Function.(*resolve.Function)
	call := f.Stmts[1].(*syntax.AssignStmt).RHS.(*syntax.CallExpr)
	names, values := make([]string, len(call.Args)), make([]string, len(call.Args))
	for i, a := range call.Args {
		if named, ok := a.(*syntax.BinaryExpr); ok {
			names[i], a = named.X.(*syntax.Ident).Name, named.Y
		}
		values[i] = a.(*syntax.Literal).Raw
	}
	return asList(def, scope.Places(def, names), values)
}

func asList(def *resolve.Function, places []int, values []string) string {
	params, _ := scope.Params(def)
	got, rest := map[string]string{}, []string{}
	for i, at := range places {
		switch {
		case at == scope.Rest:
			rest = append(rest, values[i])
		case at < 0 || got[params[at].Name] != "":
			return "wrong"
		default:
			got[params[at].Name] = values[i]
		}
	}
	var out []string
	for _, p := range def.Params {
		id := scope.ParamName(p)
		if id == nil {
			continue
		}
		_, optional := p.(*syntax.BinaryExpr)
		switch v, ok := got[id.Name]; {
		case id == scope.RestParam(def):
			out = append(out, tuple(rest))
		case ok:
			out = append(out, v)
		case optional:
			out = append(out, "0")
		default:
			return "wrong"
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func tuple(list []string) string {
	if len(list) == 1 {
		return "(" + list[0] + ",)"
	}
	return "(" + strings.Join(list, ", ") + ")"
}

const nested = `
def around(captured):
    def outer(param):
        mine = 1
        def inner(own):
            return own + mine + param + captured + glob
        return inner
    return outer
glob = 1
`

// parsed is a file of which the names are resolved.
func parsed(t *testing.T, text string) *syntax.File {
	t.Helper()
	f, err := (&syntax.FileOptions{}).Parse("t.star", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolve.File(f, func(string) bool { return false }, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLookup asks a function inside another for names of all scopes.
func TestLookup(t *testing.T) {
	around := parsed(t, nested).Stmts[0].(*syntax.DefStmt)
	outerDef := around.Body[0].(*syntax.DefStmt)
	innerDef := outerDef.Body[1].(*syntax.DefStmt)
	// The script has run: outer was taken out, with what it captured.
	outer := &scope.Frame[string]{Def: outerDef.Function.(*resolve.Function), Fn: &plan.Func{
		Names: map[string]plan.Value{"glob": plan.String("glob")}, Free: []plan.Value{plan.String("captured")}}}
	for _, bind := range outer.Def.Locals {
		outer.Vars.Set(bind, bind.First.Name)
	}
	inner := &scope.Frame[string]{Def: innerDef.Function.(*resolve.Function), Outer: outer}
	inner.Vars.Set(inner.Def.Locals[0], "own")
	found := 0
	syntax.Walk(innerDef.Body[0], func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			found++
			asked(t, id, inner, outer)
		}
		return true
	})
	if found != 5 {
		t.Errorf("%d names were asked for", found)
	}
}

// asked checks a name of inner: there, in the function around it, which may not have walked inner yet, and where inner
// knows more of it.
func asked(t *testing.T, id *syntax.Ident, inner, outer *scope.Frame[string]) {
	constant := func(c plan.Value) string { return string(c.(plan.String)) }
	frames := []*scope.Frame[string]{inner, outer}
	if id.Name == "own" {
		frames = frames[:1]
	}
	for i, frame := range frames {
		if got, ok := frame.Lookup(id, constant); !ok || got != id.Name {
			t.Errorf("%s, asked %d functions further out: %q, %t", id.Name, i, got, ok)
		}
	}
	inner.Vars.Set(id.Binding.(*resolve.Binding), "narrowed")
	if got, _ := inner.Lookup(id, constant); got != "narrowed" && id.Name != "glob" {
		t.Errorf("what is known of %s in the function itself: %q", id.Name, got)
	}
}
