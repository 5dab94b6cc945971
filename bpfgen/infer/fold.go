package infer

import (
	"math"
	"math/big"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What is known when the script is compiled is computed then, by the same functions for both halves: a condition on it
// decides which branch is looked at. Only what cannot change is known: a list or a dict that user space has captured
// may be another one when the event comes.

// unchanging reports whether a constant is the same for ever.
func unchanging(c plan.Value) bool {
	switch c := c.(type) {
	case plan.None, plan.Bool, plan.Int, plan.Float, plan.String, plan.Bytes:
		return true
	case plan.Tuple:
		for _, e := range c {
			if !unchanging(e) {
				return false
			}
		}
		return true
	case plan.Record:
		for _, f := range c {
			if !unchanging(f.Value) {
				return false
			}
		}
		return true
	}
	return false
}

// fold computes x op y of constants as Starlark does; what would be an error is not computed.
func fold(op syntax.Token, x, y plan.Value, pos plan.Pos) (val, bool) {
	if !unchanging(x) || !unchanging(y) {
		return val{}, false
	}
	switch op {
	case syntax.EQL, syntax.NEQ:
		eq, ok := foldEqual(x, y)
		return boolVal(eq == (op == syntax.EQL)), ok
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		is, ok := foldOrdered(op, x, y)
		return boolVal(is), ok
	case syntax.IN, syntax.NOT_IN:
		in, ok := foldIn(x, y)
		return boolVal(in == (op == syntax.IN)), ok
	}
	return foldBinary(op, x, y, pos)
}

// foldEqual is x == y.
func foldEqual(x, y plan.Value) (eq, ok bool) {
	if d, ok := foldNumbers(x, y); ok {
		return d == 0, true
	}
	xs, tuple := x.(plan.Tuple)
	ys, tuples := y.(plan.Tuple)
	if tuple && tuples {
		if len(xs) != len(ys) {
			return false, true
		}
		for i := range xs {
			if eq, ok := foldEqual(xs[i], ys[i]); !eq || !ok {
				return false, ok
			}
		}
		return true, true
	}
	return constEqual(x, y)
}

// foldNumbers compares two numbers, of which one may be a float.
func foldNumbers(x, y plan.Value) (d int, ok bool) {
	xr, ok1 := rational(x)
	yr, ok2 := rational(y)
	if !ok1 || !ok2 {
		return 0, false
	}
	return xr.Cmp(yr), true
}

func rational(c plan.Value) (*big.Rat, bool) {
	switch c := c.(type) {
	case plan.Int:
		return new(big.Rat).SetInt(c.Big), true
	case plan.Float:
		if f := float64(c); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return new(big.Rat).SetFloat64(f), true
		}
	}
	return nil, false
}

// foldOrdered is x < y and its like.
func foldOrdered(op syntax.Token, x, y plan.Value) (result, ok bool) {
	if d, ok := foldNumbers(x, y); ok {
		return foldOrder(op, plan.MakeInt(int64(d)), plan.MakeInt(0))
	}
	xb, ok1 := x.(plan.Bool)
	yb, ok2 := y.(plan.Bool)
	if ok1 && ok2 {
		return foldOrder(op, asInt(xb), asInt(yb))
	}
	return foldOrder(op, x, y)
}

func asInt(b plan.Bool) plan.Value {
	if b {
		return plan.MakeInt(1)
	}
	return plan.MakeInt(0)
}

// foldIn is x in y, of a part of a string or an element of a tuple.
func foldIn(x, y plan.Value) (in, ok bool) {
	switch y := y.(type) {
	case plan.String:
		part, ok := x.(plan.String)
		return ok && strings.Contains(string(y), string(part)), ok
	case plan.Tuple:
		for _, e := range y {
			if eq, ok := foldEqual(x, e); eq || !ok {
				return eq, ok
			}
		}
		return false, true
	}
	return false, false
}

// foldCall is a call of a builtin with constants.
func foldCall(name plan.Builtin, args []plan.Value) (val, bool) {
	for _, a := range args {
		if !unchanging(a) {
			return val{}, false
		}
	}
	switch {
	case (name == "min" || name == "max") && len(args) > 1:
		return foldExtreme(name, args)
	case len(args) != 1:
		return val{}, false
	case name == "bool":
		return boolVal(constTruth(args[0])), true
	case name == "abs":
		i, ok := args[0].(plan.Int)
		if !ok {
			return val{}, false
		}
		return constant(plan.Int{Big: new(big.Int).Abs(i.Big)}), true
	case name == "len":
		return foldLen(args[0])
	}
	return val{}, false
}

func foldLen(c plan.Value) (val, bool) {
	switch c := c.(type) {
	case plan.String:
		return intVal(int64(len(c))), true
	case plan.Bytes:
		return intVal(int64(len(c))), true
	case plan.Tuple:
		return intVal(int64(len(c))), true
	}
	return val{}, false
}

// foldExtreme is the first of the lowest or the highest.
func foldExtreme(name plan.Builtin, args []plan.Value) (val, bool) {
	op := map[plan.Builtin]syntax.Token{"min": syntax.LT, "max": syntax.GT}[name]
	out := args[0]
	for _, a := range args[1:] {
		better, ok := foldOrdered(op, a, out)
		if !ok {
			return val{}, false
		}
		if better {
			out = a
		}
	}
	return constant(out), true
}

// constTuple is a tuple of user code as a constant, if all of its elements are.
func constTuple(x uval) uval {
	out := plan.Tuple{}
	for _, e := range x.elems {
		if !e.known || e.part || !unchanging(e.v.c) {
			return x
		}
		out = append(out, e.v.c)
	}
	x.v, x.known = constant(out), true
	return x
}

// foldedArgs folds the call of a builtin in a kernel half.
func foldedArgs(name plan.Builtin, args []arg) (val, bool) {
	list := make([]plan.Value, len(args))
	for i, a := range args {
		if a.v.c == nil || a.name != "" {
			return val{}, false
		}
		list[i] = a.v.c
	}
	return foldCall(name, list)
}

// foldedCall folds the call of a builtin in user code.
func foldedCall(name plan.Builtin, x *syntax.CallExpr, vals []uval) (val, bool) {
	args := make([]plan.Value, len(vals))
	for i, v := range vals {
		if !v.known || v.part || v.v.c == nil || argValue(x.Args[i]) != x.Args[i] {
			return val{}, false
		}
		args[i] = v.v.c
	}
	return foldCall(name, args)
}

// foldMethod folds the call of a method of a constant string in user code.
func (u *user) foldMethod(recv uval, name string, x *syntax.CallExpr, vals []uval) (out val, ok bool) {
	if _, text := recv.v.c.(plan.String); !text || !recv.known || recv.part {
		return val{}, false
	}
	args := make([]arg, len(vals))
	for i, v := range vals {
		if !v.known || v.part || !unchanging(v.v.c) || argValue(x.Args[i]) != x.Args[i] {
			return val{}, false
		}
		args[i] = arg{v: v.v, pos: start(x.Args[i])}
	}
	r := attempt(func() { out = u.b.stringMethod(&method{recv: recv.v, name: name}, args, x.Lparen) })
	return out, r == nil && out.c != nil
}
