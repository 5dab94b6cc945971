package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
)

// Operators, builtins and methods on constants, folded by package fold in both halves.

// folded is x op y of constants.
func folded(op syntax.Token, x, y plan.Value) (val, bool) {
	if x == nil || y == nil {
		return val{}, false
	}
	return foldedVal(fold.Binary(op, x, y))
}

// foldedVal is what package fold gives, as a value of the walks.
func foldedVal(c plan.Value, ok bool) (val, bool) {
	if !ok {
		return val{}, false
	}
	return constant(c), true
}

// constTuple is a tuple of user code as a constant, if all of its elements are.
func constTuple(x uval) uval {
	out := plan.Tuple{}
	for _, e := range x.elems {
		if !e.known || e.part || !fold.Unchanging(e.v.c) {
			return x
		}
		out = append(out, e.v.c)
	}
	x.v, x.known = constant(out), true
	return x
}

// foldedArgs folds the call of a builtin in a kernel half.
func foldedArgs(f *builtin, args []arg) (val, bool) {
	list := make([]plan.Value, len(args))
	for i, a := range args {
		if a.v.c == nil || a.name != "" {
			return val{}, false
		}
		list[i] = a.v.c
	}
	return foldedVal(f.folds.Call(list))
}

// foldedCall folds the call of a builtin in user code.
func foldedCall(f *builtin, x *syntax.CallExpr, vals []uval) (val, bool) {
	args := make([]plan.Value, len(vals))
	for i, v := range vals {
		if !v.known || v.part || v.v.c == nil || argValue(x.Args[i]) != x.Args[i] {
			return val{}, false
		}
		args[i] = v.v.c
	}
	return foldedVal(f.folds.Call(args))
}

// foldedMethod folds the call of a method of a constant string in user code.
func foldedMethod(recv uval, name string, x *syntax.CallExpr, vals []uval) (val, bool) {
	if !recv.known || recv.part {
		return val{}, false
	}
	args := make([]plan.Value, len(vals))
	for i, v := range vals {
		if !v.known || v.part || argValue(x.Args[i]) != x.Args[i] {
			return val{}, false
		}
		args[i] = v.v.c
	}
	return foldedVal(fold.Method(recv.v.c, name, args))
}
