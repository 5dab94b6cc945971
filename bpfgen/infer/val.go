package infer

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// A value during the walk (val), arguments of calls and methods, and how messages describe a value.

// A val is a value during the walk. Exactly one of these holds:
//
//   - c != nil: a constant of the script, a function, a container;
//   - obj != nil: something that only exists while compiling: the event, its
//     args, a row of an aggregation, a method;
//   - elems != nil (or comp): a tuple or record whose parts are known apart;
//   - expr != nil: a typed expression.
//
// A val with start set belongs to the program at the start of a span: its
// expression is evaluated there, and here() brings the result over.
type val struct {
	// c is a constant of the script, a function or a container.
	c plan.Value
	// obj only exists while compiling.
	obj object
	// comp is set for a tuple, and for a record, which has names. Then elems are its parts.
	comp  bool
	elems []val
	// names are the names of a record's parts. They are nil for a tuple, and not for a record without fields.
	names []string
	// expr is a typed expression of the tree.
	expr *tree.Expr
	// start is the walker of the program at the start of a span to which the value belongs. It is nil where it belongs
	// to the program that is made.
	start *body
	// field is the path by which a part of the event was asked for (fieldOf). A value of the span's start is shown by
	// it.
	field string
	// asked is the table or cell whose value v is, where nothing has told yet what that holds. Then obj is poison.
	asked *plan.Container
	// lacks says of a None which point has no such part of the event, "" of others.
	lacks string
	// at is where a literal was written.
	at plan.Pos
}

// place is where to say that v cannot be used at pos: there, unless that is in the library, as where a verb uses the
// expression of the command line, which is what the author can change.
func (v val) place(pos plan.Pos) plan.Pos {
	at := v.at
	switch {
	case v.expr != nil:
		at = v.expr.Pos
	case len(v.elems) > 0:
		return v.elems[0].place(pos)
	}
	if at.IsValid() && inLibrary(pos) && !inLibrary(at) {
		return at
	}
	return pos
}

// from is v as what the expression x of the command line gives, so that place finds it there.
func (v val) from(x syntax.Expr) val {
	if list := elementsOf(x); v.comp && len(list) == len(v.elems) {
		v.elems = slices.Clone(v.elems)
		for i, e := range v.elems {
			v.elems[i] = e.from(list[i])
		}
	}
	if !v.at.IsValid() {
		v.at = start(unparen(x))
	}
	return v
}

func inLibrary(pos plan.Pos) bool { return strings.HasPrefix(pos.Filename(), "std/") }

// object is a compile-time object; see objects.go.
type object interface{ what() string }

func intVal(i int64) val       { return constant(plan.MakeInt(i)) }
func boolVal(b bool) val       { return constant(plan.Bool(b)) }
func objVal(o object) val      { return val{obj: o} }
func exprVal(e *tree.Expr) val { return val{expr: e} }
func strVal(s string) val      { return constant(plan.String(s)) }
func noneVal() val             { return constant(plan.None{}) }

// missingAt is what a point lacks and others of its probe have, by its name.
func missingAt(point any, name string) val {
	v := noneVal()
	v.lacks = fmt.Sprintf(": %v has no %s; test `%[2]s != None` first, or give that point a probe of its own",
		point, name)
	return v
}
func (v val) isNone() bool   { _, ok := v.c.(plan.None); return ok }
func (v val) isRecord() bool { return v.comp && v.names != nil }
func (v val) constInt() (int64, bool) {
	i, ok := v.c.(plan.Int)
	if !ok || !i.Big.IsInt64() {
		return 0, false
	}
	return i.Big.Int64(), true
}

func (v val) constStr() (string, bool) {
	s, ok := v.c.(plan.String)
	return string(s), ok
}

// constant is a value of the script.
func constant(c plan.Value) val {
	if o, ok := c.(plan.Opaque); ok && o.Type == plan.UnknownType {
		return objVal(poison{})
	}
	return val{c: c}
}

// typ gives the type that v has as a value of a kernel half.
func (v val) typ() types.Type {
	switch {
	case v.expr != nil:
		return v.expr.Type
	case v.comp:
		t := types.Type{Kind: types.Tuple, Names: v.names}
		if v.names != nil {
			t.Kind = types.Record
		}
		for _, e := range v.elems {
			t.Elems = append(t.Elems, e.typ())
		}
		return t
	case v.c != nil:
		return constType(v.c)
	}
	return types.Type{}
}

// describe says in words what v is, for messages.
func (v val) describe() string {
	switch {
	case v.obj != nil:
		return v.obj.what()
	case v.c != nil:
		return describeConst(v.c)
	case v.isRecord():
		return "a record"
	case v.comp:
		return "a tuple"
	case isLost(v.expr):
		return "what the compiler has optimized out"
	}
	return inWords(v.expr.Type)
}

// An arg is an argument of a call.
type arg struct {
	name string // "" for a positional one
	v    val
	pos  plan.Pos
}

// want gives the positional arguments of a method.
func want(args []arg, least, most int, form string, pos plan.Pos) []val {
	if len(args) < least || len(args) > most {
		wrong(pos, "%s got %s", form, format.Count(len(args), "argument"))
	}
	out := make([]val, len(args))
	for i, a := range args {
		if a.name != "" {
			wrong(a.pos, "%s takes no named arguments", form)
		}
		a.v.mustKnow()
		out[i] = a.v
	}
	return out
}

// named gives the arguments of a call by the parameters of form, "f(a, b)", be they named or not.
func named(args []arg, least, most int, form string, pos plan.Pos) []val {
	return want(placed(args, form, pos), least, most, form, pos)
}

// placed gives arguments in the order of the parameters of form, without their names. What form has in quotes has no
// name.
func placed(args []arg, form string, pos plan.Pos) []arg {
	if !slices.ContainsFunc(args, func(a arg) bool { return a.name != "" }) {
		return args
	}
	_, list, _ := strings.Cut(strings.TrimSuffix(form, ")"), "(")
	params := strings.Split(list, ", ")
	out, given := make([]arg, len(params)), make([]bool, len(params))
	most := 0
	for i, a := range args {
		at := i
		if a.name != "" {
			at = slices.Index(params, a.name)
		}
		switch {
		case at < 0:
			wrong(a.pos, "%s has no parameter %s%s", form, a.name, refusal.Near(a.name, params))
		case at >= len(params):
			wrong(pos, "%s got %s", form, format.Count(len(args), "argument"))
		case given[at]:
			wrong(a.pos, "%s got %s twice", form, params[at])
		}
		out[at], given[at] = arg{"", a.v, a.pos}, true
		most = max(most, at+1)
	}
	if at := slices.Index(given[:most], false); at >= 0 {
		wrong(pos, "%s wants %s", form, params[at])
	}
	return out[:most]
}

// unjoined is a variable with different kinds of values on two ways; using
// it is the error.
type unjoined struct{ name, x, y, hint string }

func (u *unjoined) what() string {
	return u.name + ", which is " + u.x + " on one way and " + u.y + " on another,"
}

// eachPart is a tuple or record of what f gives for its parts, which belong to no other program any more.
func (v val) eachPart(f func(val) val) val {
	parts := make([]val, len(v.elems))
	for i, e := range v.elems {
		if e.start == nil {
			e.start = v.start
		}
		parts[i] = f(e)
	}
	v.start, v.elems = nil, parts
	return v
}

// same reports whether two values are certainly the same.
func same(x, y val) bool {
	switch {
	case x.start != y.start:
		return false
	case x.obj != nil || y.obj != nil:
		return x.obj == y.obj
	case x.comp || y.comp:
		if x.comp != y.comp || len(x.elems) != len(y.elems) || x.isRecord() != y.isRecord() ||
			!slices.Equal(x.names, y.names) {
			return false
		}
		for i := range x.elems {
			if !same(x.elems[i], y.elems[i]) {
				return false
			}
		}
		return true
	case x.expr != nil || y.expr != nil:
		return sameExpr(x.expr, y.expr)
	}
	return fold.Same(x.c, y.c)
}

func constants(list []plan.Value) []val {
	out := make([]val, len(list))
	for i, c := range list {
		out[i] = constant(c)
	}
	return out
}

// returnedInWords names what a function returns; of a tuple or record also its parts.
func returnedInWords(v val) string {
	if v.comp {
		return inWords(v.typ())
	}
	return v.describe()
}
