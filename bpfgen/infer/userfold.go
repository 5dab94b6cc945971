package infer

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
)

// Functions of the script that a user half calls with constants are computed when the script is compiled.
//
// A function of the script that user code calls with constants is computed when the script is compiled, as in kernel
// halves and by the same walk: where it decides a condition, the branch that is not taken is not looked at, and nothing
// is sent for it.

// foldFunc is the value of a call, if nothing but that comes of it.
func (u arguments) foldFunc(fn *plan.Func, x *syntax.CallExpr, vals []uval) (val, bool) {
	args := make([]arg, len(vals))
	var key strings.Builder
	fmt.Fprintf(&key, "%p", fn)
	for i, v := range vals {
		if !v.known || v.part || v.fails || !fold.Unchanging(v.v.c) {
			return val{}, false
		}
		args[i] = arg{v: v.v, pos: start(x.Args[i])}
		switch a := x.Args[i].(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				args[i].name = a.X.(*syntax.Ident).Name
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				return val{}, false
			}
		}
		fmt.Fprintf(&key, " %s=%T%v", args[i].name, v.v.c, v.v.c)
	}
	known, asked := u.pr.u.foldedFuncs[key.String()]
	if !asked {
		known.v, known.ok = u.b.inliner().computed(fn, args, x.Lparen)
		u.pr.u.foldedFuncs[key.String()] = known
	}
	return known.v, known.ok
}

// computed walks a function for its value alone, and leaves nothing else of the walk.
func (b inliner) computed(fn *plan.Func, args []arg, pos plan.Pos) (out val, ok bool) {
	if mayChange(fn) {
		return val{}, false // the list may be another one when the event comes
	}
	m := b.mark()
	b.lazy = false
	block, r := b.tries(func() { out = b.callFunc(fn, args, false, pos) })
	b.back(m)
	if r != nil || len(block.Stmts) > 0 {
		return val{}, false
	}
	c := constantOf(out)
	return constant(c), fold.Unchanging(c)
}

// constantOf is v as one constant, if all of its elements are; else nil.
func constantOf(v val) plan.Value {
	if !v.comp || v.isRecord() {
		return v.c
	}
	out := plan.Tuple{}
	for _, e := range v.elems {
		c := constantOf(e)
		if c == nil {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// resultKnown is the value of a function inside the handler that was walked for a call, if that is known.
func resultKnown(returns []uval, falls bool) (uval, bool) {
	if falls || len(returns) != 1 {
		return uval{}, false
	}
	v := returns[0]
	return knownVal(v.v), v.known && !v.part && fold.Unchanging(v.v.c)
}

// mayChange reports whether a value is a list or a dict, has one in it, or is a function that has one.
func mayChange(v plan.Value) bool { return reachesChanging(v, map[*plan.Func]bool{}) }

func reachesChanging(v plan.Value, seen map[*plan.Func]bool) (found bool) {
	reaches := func(x plan.Value) bool { return reachesChanging(x, seen) }
	fn, ok := v.(*plan.Func)
	if !ok {
		return v != nil && fold.MayChange(v) || slices.ContainsFunc(plan.Inside(v), reaches)
	}
	if seen[fn] {
		return false
	}
	seen[fn] = true
	for _, x := range fn.Names {
		found = found || reaches(x)
	}
	return found || slices.ContainsFunc(slices.Concat(fn.Free, fn.Defaults), reaches)
}
