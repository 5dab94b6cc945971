package opt

import "github.com/startrace/startrace/bpfgen/ir"

// The pass callZero: a program that ends with 0 keeps the 0 that a call gave.

// callZero ends a program with the result of a call that a branch has just
// found to be 0, where it ended with the constant 0: the result lies in R0
// already.
func callZero(f *ir.Func) bool {
	changed := false
	for _, b := range f.Blocks {
		e := zeroEdge(b)
		if e == nil || !plainEnd(e.Block) {
			continue
		}
		end := f.NewBlock()
		end.Ret(e.Block.Term.Pos, b.Term.X)
		e.Block = end
		changed = true
	}
	return changed
}

// zeroEdge is the edge on which the call that b ends with has given 0.
func zeroEdge(b *ir.Block) *ir.Edge {
	t := &b.Term
	if t.Kind != ir.Branch || t.Y != nil || t.Imm != 0 || t.X.Op != ir.OpCall || len(b.Values) == 0 ||
		b.Values[len(b.Values)-1] != t.X {
		return nil
	}
	switch t.Cond {
	case ir.EQ:
		return &t.To[0]
	case ir.NE:
		return &t.To[1]
	}
	return nil
}

// plainEnd: the block does nothing but end the program with 0.
func plainEnd(b *ir.Block) bool {
	return len(b.Values) == 0 && len(b.Params) == 0 && b.Term.Kind == ir.Ret && b.Term.X == nil
}
