package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// min() and max() in kernel halves, with the message about key= and the number of values.

// extreme is min or max.
func extreme(op tree.Op) func(*body, []arg, plan.Pos) val {
	return func(b *body, args []arg, pos plan.Pos) val {
		args = candidates(b, args)
		if v, ok := extremeOf(op, args); ok {
			return v
		}
		if len(args) < 2 {
			refuse(pos, "min and max take at least two values in a kernel half, or a constant list or a tuple of them")
		}
		out := &tree.Expr{Op: op, Pos: pos}
		texts := 0
		for _, a := range args {
			if a.name != "" {
				refuse(a.pos, "min and max take no key= in a kernel half")
			}
			if a.v.typ().Kind == types.Str {
				texts++
			}
		}
		if texts == len(args) {
			return extremeText(b, op, args, pos)
		}
		for _, a := range args {
			e := b.num(a.v, a.pos)
			out.Args = append(out.Args, e)
			out.Type, _ = types.Join(out.Type, chosen(e))
		}
		return exprVal(out)
	}
}

// extremeText is min or max of strings: one after the other is compared with the best so far, and of equal ones the
// first stays, as in the interpreter.
func extremeText(b *body, op tree.Op, args []arg, pos plan.Pos) val {
	better := syntax.LT
	if op == tree.OpMax {
		better = syntax.GT
	}
	best := b.bind("", args[0].v, args[0].pos)
	for _, a := range args[1:] {
		next := b.bind("", a.v, a.pos)
		c := b.ops().truth(b.ops().order(better, next, best, a.pos), a.pos)
		best = b.bind("", b.choose(c, func() val { return next }, func() val { return best }, pos), pos)
	}
	return best
}

// candidates are the values of which min and max give one: the arguments, or the
// elements of the only one.
func candidates(b *body, args []arg) []arg {
	if len(args) != 1 || args[0].name != "" {
		return args
	}
	elems, ok := b.elements(args[0].v, args[0].pos)
	if !ok || len(elems) == 0 {
		return args
	}
	list := make([]arg, len(elems))
	for i, v := range elems {
		list[i] = arg{"", v, args[0].pos}
	}
	return list
}

// extremeOf is min or max of constants.
func extremeOf(op tree.Op, args []arg) (val, bool) {
	list := make([]plan.Value, len(args))
	for i, a := range args {
		if list[i] = a.v.c; a.v.c == nil || a.name != "" {
			return val{}, false
		}
	}
	if len(list) == 1 {
		list = append(list, list[0])
	}
	return foldedVal(map[tree.Op]fold.Function{tree.OpMin: fold.Min, tree.OpMax: fold.Max}[op].Call(list))
}
