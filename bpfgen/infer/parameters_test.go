package infer

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"

	documented "github.com/startrace/startrace/builtins"
)

// elsewhereChecked are builtins without a row in builtinParameters: those that declare, whose calls at the top run
// before anything is compiled, those that take any names, and those of which the kernel half alone checks arguments.
var elsewhereChecked = []string{"probe", "event", "first", "span", "limits", "types", "struct", "usage", "expression",
	"spelling", "is_duration", "flag", "table", "cell", "count", "total", "mean", "lowest", "highest", "stats", "hist",
	"lhist", "quantiles", "group", "fstype", "diskname", "record", "columns", "cast", "sizeof", "container_of", "uaddr",
	plan.UpdateBuiltin}

// wrongNames and wrongCounts are what the interpreter and our builtins say of the arguments of a call.
var (
	wrongNames  = regexp.MustCompile(`keyword argument`)
	wrongCounts = regexp.MustCompile(`missing argument|got \d+ arguments?, want|got \d+ positional|` +
		`want at most|got no format`)
)

// TestBuiltinParameters compares what the compiler takes for the parameters of builtins with what these take.
func TestBuiltinParameters(t *testing.T) {
	ours := documented.New(documented.Idle{}).Predeclared()
	for name := range builtins {
		params, known := builtinParameters[name]
		if known == slices.Contains(elsewhereChecked, string(name)) {
			t.Errorf("%s has parameters: %t", name, known)
		}
		fn := starlark.Universe[string(name)]
		if own, is := ours[string(name)]; is {
			fn = own
		}
		if known && !builtins[name].is(readsKernel) && name != "send_signal" {
			takes(t, parametersIn(string(name), params), fn)
		}
	}
}

// TestMethodParameters compares what the compiler takes for the parameters of methods with what these take, and finds
// parameters for each method.
func TestMethodParameters(t *testing.T) {
	table, cell := &plan.Container{Kind: plan.Table}, &plan.Container{Kind: plan.Cell}
	for _, v := range []starlark.HasAttrs{value.WithMethods(starlark.String("")).(starlark.HasAttrs),
		starlark.Bytes(""), &starlark.List{}, &starlark.Dict{}, value.Stack{}, value.NewTable(table),
		value.NewCell(cell, starlark.None)} {
		names, _ := attrs.Of(v.Type())
		for _, name := range names {
			params, known := methodParameters[v.Type()][name]
			if !known {
				t.Errorf("%s.%s has no parameters", v.Type(), name)
			}
			method, err := v.Attr(name)
			if err != nil {
				t.Fatal(err)
			}
			takes(t, parametersIn(name, params), method)
		}
	}
	for kind := plan.Count; kind.IsAggregation(); kind++ {
		v := value.NewAgg(&plan.Container{Kind: kind})
		for _, name := range v.AttrNames() {
			params := aggregationParameters[name]
			if kind == plan.Count && name == "add" {
				params = "n="
			}
			if method, _ := v.Attr(name); method != nil && method.Type() == "builtin_function_or_method" {
				takes(t, parametersIn(name, params), method)
			}
		}
	}
}

// examples are values for parameters, by what their names say; for others it is an int.
var examples = []struct {
	names []string
	v     starlark.Value
}{
	{[]string{"values", "iterable", "argv", "list", "lists", "pairs"},
		starlark.NewList([]starlark.Value{starlark.String("a")})},
	{[]string{"fn", "key"}, starlark.Universe["len"]},
	{[]string{"text", "format", "name", "pattern", "family", "sep", "old", "new", "prefix", "suffix", "characters"},
		starlark.String("a")},
	{[]string{"interval", "delay"}, starlark.String("1s")},
}

func exampleOf(parameter string) starlark.Value {
	for _, one := range examples {
		if slices.Contains(one.names, strings.TrimPrefix(parameter, "*")) {
			return one.v
		}
	}
	return starlark.MakeInt(1)
}

// takes calls a function with each number of arguments that matters, and by names.
func takes(t *testing.T, p *parameters, fn starlark.Value) {
	t.Helper()
	most := len(p.list) - p.onlyNamed
	for n := p.least; n <= most; n++ {
		if msg := said(p, fn, n, ""); wrongCounts.MatchString(msg) {
			t.Errorf("%s with %d: %s", p.form(), n, msg)
		}
	}
	if msg := said(p, fn, p.least-1, ""); p.least > 0 && !wrongCounts.MatchString(msg) {
		t.Errorf("%s with %d: %q", p.form(), p.least-1, msg)
	}
	if msg := said(p, fn, most+1, ""); p.rest == "" && !wrongCounts.MatchString(msg) {
		t.Errorf("%s with %d: %q", p.form(), most+1, msg)
	}
	for i, name := range append(slices.Clone(p.list), "nope") {
		args := max(min(i, p.least), len(p.rest)-len(strings.TrimPrefix(p.rest, "*")))
		refused := !p.anyName && (p.unnamed || name == "nope")
		if msg := said(p, fn, args, name); refused != wrongNames.MatchString(msg) {
			t.Errorf("%s with the name %s: %q", p.form(), name, msg)
		}
	}
}

// said is the error of a call with arguments by position, and one by its name.
func said(p *parameters, fn starlark.Value, args int, name string) string {
	list := make(starlark.Tuple, max(0, args))
	for i := range list {
		list[i] = exampleOf(p.rest)
		if i < len(p.list)-p.onlyNamed {
			list[i] = exampleOf(p.list[i])
		}
	}
	var kwargs []starlark.Tuple
	if name != "" {
		kwargs = []starlark.Tuple{{starlark.String(name), exampleOf(name)}}
	}
	if _, err := starlark.Call(new(starlark.Thread), fn, list, kwargs); err != nil {
		return err.Error()
	}
	return ""
}
