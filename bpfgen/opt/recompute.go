package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass recompute: cheap values are computed anew where too many would be kept.

// manyKept is how many cheap values may wait in registers and on the stack for their uses: the stack of a program has
// room for 64, which other values need, too.
const manyKept = 32

// recompute computes cheap values anew in each block that uses them, but for loops, where so many would have to be kept
// that they fill the stack. cse makes one value of equal ones, as of the sums in
//
//	for i in range(20):
//	    for j in range(20):
//	        n[e.args.count + i * j].add()
//
// whose first and second use are many rounds apart.
func recompute(f *ir.Func) bool {
	order := f.Order()
	users, depth := allUsers(f, order), f.LoopDepth(order)
	var cheap []*ir.Value
	kept := 0
	for _, b := range order {
		for _, v := range b.Values {
			if !isCheap(v) || isTested(v, users[v.ID]) {
				continue
			}
			cheap = append(cheap, v)
			if slices.ContainsFunc(users[v.ID], func(u user) bool { return u.b != b }) {
				kept++
			}
		}
	}
	if kept <= manyKept {
		return false
	}
	for _, v := range slices.Backward(cheap) { // operands behind what is made of them
		for _, u := range users[v.ID] {
			if u.b == v.Block || depth[u.b.ID] > depth[v.Block.ID] {
				continue
			}
			if c := copyInto(u.b, v); c != nil {
				for _, a := range c.Args {
					users[a.ID] = append(users[a.ID], user{u.b, c})
				}
			}
		}
	}
	return true
}

// isCheap reports whether v is computed of one value, or of two that are cheap themselves.
func isCheap(v *ir.Value) bool {
	if isSteady(v) || isMade(v) {
		return false
	}
	if sinks(v) {
		return true
	}
	pure := v.Op.HasResult() && !v.Op.HasEffect() && !v.Op.ReadsMemory() && v.Op != ir.OpCtx && v.Op != ir.OpArg
	for _, a := range v.Args {
		pure = pure && !isSteady(a) && (isMade(a) || sinks(a))
	}
	return pure
}

// isTested reports whether a branch tests v: of a copy the verifier would not know what the test has shown of v. Of a
// constant it knows all.
func isTested(v *ir.Value, users []user) bool {
	return v.Op != ir.OpConst && slices.ContainsFunc(users, func(u user) bool {
		return u.v == nil && u.b.Term.Kind == ir.Branch && (u.b.Term.X == v || u.b.Term.Y == v)
	})
}

// copyInto computes v before its first use in b, for all uses there; nil where another use there has brought it.
func copyInto(b *ir.Block, v *ir.Value) *ir.Value {
	at := slices.IndexFunc(b.Values, func(w *ir.Value) bool { return slices.Contains(w.Args, v) })
	uses := false
	for use := range b.Operands() {
		uses = uses || *use == v
	}
	if !uses {
		return nil
	}
	if at < 0 {
		at = len(b.Values)
	}
	c := b.Func.NewValue(v.Op, v.Pos, slices.Clone(v.Args)...)
	c.Imm, c.Sym, c.Slot, c.Block = v.Imm, v.Sym, v.Slot, b
	b.Values = slices.Insert(b.Values, at, c)
	for _, w := range b.Values[at+1:] {
		for i, a := range w.Args {
			if a == v {
				w.Args[i] = c
			}
		}
	}
	for use := range b.Term.Operands() {
		if *use == v {
			*use = c
		}
	}
	return c
}
