package script

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/starlark/value"
)

// Checks where tuples that stand in others could become endless.

// Where a script can make a tuple that stands in another one twice, it is checked that the outer one does not become
// too large (value.CheckNested). These places are:
//
//	(a, b)              $tuple((a, b))        of two elements that could be tuples
//	lambda *a: a        lambda *a: $tuple(a)  also in a def
//	a + b, a * n        $plus, $times
//	tuple(l), zip(l, l), enumerate(l), record(x = a, y = a)
//	d.items()           $called(d.items)      also popitem, and $method(d.items), getattr(d, "items")
const tupleName = "$tuple"

// checkedTuple is $tuple.
func checkedTuple(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	return args[0], value.CheckNested(args[0])
}

// makesNested are the builtins that put values together to tuples and records.
var makesNested = []string{"tuple", "zip", "enumerate", "record"}

// checkingNested is a builtin of which the result is checked.
func checkingNested(f *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(f.Name(), func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		made, err := f.CallInternal(th, args, kwargs)
		if err != nil {
			return nil, err
		}
		return made, checkMade(made)
	})
}

// checkMade checks a value, or each element of a list that was made with it.
func checkMade(v starlark.Value) error {
	list, isList := v.(*starlark.List)
	if !isList {
		return value.CheckNested(v)
	}
	for i := range list.Len() {
		if err := value.CheckNested(list.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// expand changes the elements of what is no value of its own: the tuple that a `for` goes over, that is unpacked at
// once, that is formatted, and so on. All else it changes as an expression.
func (in *instrumenter) expand(p *syntax.Expr) {
	if _, isTuple := unparen(*p).(*syntax.TupleExpr); isTuple {
		in.inside(*p)
		return
	}
	in.expr(p)
}

// isPattern reports whether what is assigned to is several variables.
func isPattern(x syntax.Expr) bool {
	switch unparen(x).(type) {
	case *syntax.TupleExpr, *syntax.ListExpr:
		return true
	}
	return false
}

// couldNest reports whether two elements could be tuples.
func couldNest(list []syntax.Expr) bool {
	n := 0
	for _, x := range list {
		if !isFlat(x) {
			n++
		}
	}
	return n > 1
}

// isFlat reports whether x is no tuple and no record, whatever the names in it are, or a part of the event, which has
// few levels.
func isFlat(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return isFlat(x.X)
	case *syntax.Literal, *syntax.ListExpr, *syntax.DictExpr, *syntax.Comprehension, *syntax.LambdaExpr,
		*syntax.UnaryExpr:
		return true
	case *syntax.Ident:
		return x.Name == "None" || x.Name == "True" || x.Name == "False"
	case *syntax.BinaryExpr:
		return isNumber(x) || comparisons[x.Op]
	case *syntax.IndexExpr:
		id, isName := x.X.(*syntax.Ident)
		return isName && id.Name == evName
	case *syntax.TupleExpr:
		return len(x.List) == 0
	}
	return false
}

// comparisons are the operators whose result is a bool.
var comparisons = map[syntax.Token]bool{syntax.EQL: true, syntax.NEQ: true, syntax.LT: true, syntax.LE: true,
	syntax.GT: true, syntax.GE: true, syntax.IN: true, syntax.NOT_IN: true}

// rest counts the functions around that have a parameter *name.
type rest map[string]int

// of is the name of the parameter *name, "" without one.
func (rest) of(params []syntax.Expr) string {
	for _, p := range params {
		if star, ok := p.(*syntax.UnaryExpr); ok && star.Op == syntax.STAR {
			if id, ok := star.X.(*syntax.Ident); ok {
				return id.Name
			}
		}
	}
	return ""
}

// within changes the body of a function with these parameters.
func (r rest) within(params []syntax.Expr, body func()) {
	name := r.of(params)
	r[name]++
	body()
	r[name]--
}
