package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// manyKept is how many cheap values may wait in registers and on the stack for their uses: the stack of a program has
// room for 64, which other values need, too.
const manyKept = 32

// recompute computes cheap values anew in each block that uses them, but for loops, where so many would have to be kept that they fill
// the stack. cse makes one value of equal ones, as of the sums in
//
//	for i in range(20):
//	    for j in range(20):
//	        n[e.args.count + i * j].add()
//
// whose first and second use are many rounds apart.
func recompute(f *ir.Func) bool {
	order := f.Order()
	users, depth := allUsers(f, order), f.LoopDepth(order)
	var kept []*ir.Value
	for _, b := range order {
		for _, v := range b.Values {
			if sinks(v) && !isSteady(v) && mayBeCopied(v, users[v.ID]) {
				kept = append(kept, v)
			}
		}
	}
	if len(kept) <= manyKept {
		return false
	}
	for _, v := range slices.Backward(kept) { // operands behind what is made of them
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

// mayBeCopied reports whether v is used in other blocks, and tested in none: of a copy the verifier would not know what
// the test has shown of v.
func mayBeCopied(v *ir.Value, users []user) bool {
	elsewhere := false
	for _, u := range users {
		if u.v == nil && u.b.Term.Kind == ir.Branch && (u.b.Term.X == v || u.b.Term.Y == v) {
			return false
		}
		elsewhere = elsewhere || u.b != v.Block
	}
	return elsewhere
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
