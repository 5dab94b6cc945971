package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// The same messages about calls: builtins, formats of printf, methods of strings, add() of aggregations, wrong
// arguments.

// checkBuiltin is about the call of a builtin; vals are the values of its arguments.
func (u certainty) checkBuiltin(f *builtin, x *syntax.CallExpr, vals []uval) {
	fn := f.name
	if f.atTop != "" {
		u.clash(start(x.Fn), "%s in a handler declares nothing any more: %s", fn, f.atTop)
	}
	for i, a := range x.Args {
		if b, ok := vals[i].v.c.(plan.Builtin); ok && vals[i].known && f.is(makesText) &&
			slices.Contains(fieldNames, string(b)) {
			u.clash(start(a), "%s is a function here; the field of the event is e.%s", b, b)
		}
		if argValue(a) != a { // its place is not known
			return
		}
		typ := typeName(vals[i])
		if i < len(f.wants) && plainTypes[typ] && !slices.Contains(f.wants[i], typ) {
			u.clash(start(a), "%s: got %s, want %s", fn, typ, wanted(f.wants[i]))
		}
	}
	switch {
	case len(vals) == 1 && (f.is(goesThrough) || f.is(goesThroughOne)):
		u.checkElements(start(x.Args[0]), vals[0])
	case f.is(formats):
		u.checkFormat(fn, x, vals)
	}
}

func wanted(types []string) string {
	if len(types) > 2 {
		return "a string, a list or another value with a length"
	}
	return strings.Join(types, " or ")
}

// checkFormat is about printf and sprintf with a constant format.
func (u certainty) checkFormat(fn plan.Builtin, x *syntax.CallExpr, vals []uval) {
	if len(vals) == 0 {
		return
	}
	text, ok := vals[0].v.constStr()
	if !ok || !vals[0].known {
		return
	}
	f, err := format.Parse(text)
	if err != nil {
		u.clash(start(x.Args[0]), "%s: %v", fn, err)
		return
	}
	kinds := make([]format.ArgKind, len(vals)-1)
	for i, v := range vals[1:] {
		kinds[i] = formatKind(typeName(v))
	}
	if err := f.Check(kinds); err != nil {
		u.clash(x.Lparen, "%s: %v", fn, err)
	}
}

// formatKind is the kind of the values of a type.
func formatKind(typ string) format.ArgKind {
	switch typ {
	case "int":
		return format.Int
	case "bool":
		return format.Bool
	case "float":
		return format.Float
	case "string":
		return format.Str
	case "tuple", "list", "dict", "record", "stack":
		return format.Other
	}
	return format.Unknown
}

// stringArgs are the methods of strings whose arguments are strings.
var stringArgs = []string{"count", "find", "index", "lstrip", "partition", "removeprefix", "removesuffix", "rfind",
	"rindex", "rpartition", "rstrip", "split", "strip"}

func (u certainty) checkStringMethod(dot *syntax.DotExpr, recv uval, args []syntax.Expr, vals []uval) {
	name := dot.Name.Name
	if typeName(recv) != "string" || len(args) == 0 || argValue(args[0]) != args[0] {
		return
	}
	typ := typeName(vals[0])
	switch {
	case !plainTypes[typ] || typ == "string":
	case slices.Contains(stringArgs, name), typ != "tuple" && (name == "startswith" || name == "endswith"):
		u.clash(start(args[0]), "%s: got %s, want a string", name, typ)
	case name == "join":
		u.checkElements(start(args[0]), vals[0])
	}
}

// checkPercent is about "…" % x: the interpreter's operator knows no widths and counts its values.
func (u certainty) checkPercent(x *syntax.BinaryExpr, l, r uval) {
	text, ok := l.v.constStr()
	if !ok || !l.known {
		return
	}
	verbs, bad := percentVerbs(text)
	if bad != "" {
		u.clash(x.OpPos, `%s is no verb of the operator %%, which has no widths: use printf or sprintf("%s", …)`, bad,
			bad)
		return
	}
	values := 1
	if list, tuple := unparen(x.Y).(*syntax.TupleExpr); tuple {
		values = len(list.List)
	} else if typ := typeName(r); typ == "" || typ == "tuple" || typ == "dict" {
		return
	}
	if values != len(verbs) {
		u.clash(x.OpPos, "the format wants %s, got %d", counted(len(verbs), "value"), values)
		return
	}
	if typ := typeName(r); values == 1 && plainTypes[typ] && typ != "int" && typ != "float" &&
		strings.Contains("dioxXeEfFgG", verbs) {
		u.clash(x.OpPos, "%%%s wants a number, got %s", verbs, typ)
	}
}

// percentVerbs are the verbs of a format of the operator %; bad is the first that it does not have. Formats that name
// their values are left to the interpreter.
func percentVerbs(text string) (verbs, bad string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		if i++; i < len(text) && text[i] == '%' {
			continue
		}
		if i == len(text) || text[i] == '(' {
			return verbs, ""
		}
		if !strings.ContainsRune("srdioxXeEfFgGc", rune(text[i])) {
			end := i + strings.IndexAny(text[i:]+"d", "srdiouxXeEfFgGcvq")
			return verbs, "%" + text[i:min(end+1, len(text))]
		}
		verbs += text[i : i+1]
	}
	return verbs, ""
}

// checkAdd is about a.add(value, weight) of an aggregation.
func (u certainty) checkAdd(dot *syntax.DotExpr, vals []uval) {
	c, entry, ok := u.containerOf(dot.X, u.nameOf(dot.X))
	if !ok || !c.Kind.IsAggregation() {
		return
	}
	if !entry && len(c.By) > 0 {
		u.clash(dot.Name.NamePos, "%s", c.WithoutKey())
	}
	for _, v := range vals {
		if typ := typeName(v); plainTypes[typ] && typ != "int" {
			u.clash(dot.Name.NamePos, "%s.add(…): got %s, %s", c.Kind, typ, plan.WantsInt(typ))
		}
	}
}

// checkArguments is about the number and the names of the arguments of a function of the script.
func (u certainty) checkArguments(name string, def *resolve.Function, x *syntax.CallExpr, hasDefault func(i int) bool) {
	if def.HasVarargs || def.HasKwargs || starred(x.Args) {
		return
	}
	params, positional := scope.Params(def)
	names := namesGiven(x)
	given, got := make([]bool, len(params)), 0
	for i, at := range scope.Places(def, names) {
		switch {
		case at == scope.Unknown:
			u.clash(start(x.Args[i]), "%s has no parameter %s", name, names[i])
			return
		case at >= 0 && given[at]:
			u.clash(start(x.Args[i]), "%s got its parameter %s twice", name, params[at].Name)
			return
		case at >= 0:
			given[at] = true
		}
		if names[i] == "" {
			got++
		}
	}
	switch {
	case len(x.Args) > len(params):
		u.clash(x.Lparen, "%s takes %s, got %d", name, counted(len(params), "argument"), len(x.Args))
		return
	case got > positional:
		u.clash(x.Lparen, "%s takes %s by position, got %d", name, counted(positional, "argument"), got)
		return
	}
	for i, p := range params {
		if !given[i] && !hasDefault(i) {
			u.clash(x.Lparen, "%s wants an argument for %s", name, p.Name)
		}
	}
}
