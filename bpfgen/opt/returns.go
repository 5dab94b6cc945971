package opt

import "github.com/startrace/startrace/bpfgen/ir"

// The pass returns: all ends with the same constant become one block.

// returns makes one block of all ends with the same constant result: to jump
// is one instruction, to set R0 and exit are two.
func returns(f *ir.Func) bool {
	ends := map[int64][]*ir.Block{}
	var results []int64 // in the order of blocks, so that the output is the same each time
	for _, b := range f.Blocks {
		c, ok := constantReturn(b)
		if !ok {
			continue
		}
		if ends[c] == nil {
			results = append(results, c)
		}
		ends[c] = append(ends[c], b)
	}
	changed := false
	for _, c := range results {
		blocks := ends[c]
		if len(blocks) < 2 {
			continue
		}
		end := f.NewBlock()
		end.Ret(blocks[0].Term.Pos, nil)
		if c != 0 {
			end.Term.X = end.Const(blocks[0].Term.Pos, c)
		}
		for _, b := range blocks {
			b.Jump(b.Term.Pos, end)
			dropUnusedConst(b)
		}
		changed = true
	}
	return changed
}

// constantReturn gives the constant that b ends the program with.
func constantReturn(b *ir.Block) (int64, bool) {
	switch {
	case b.Term.Kind != ir.Ret:
		return 0, false
	case b.Term.X == nil:
		return 0, true
	}
	return constant(b.Term.X)
}

// dropUnusedConst drops the constant of a return that b had at its end, so
// that a block that did nothing else is empty. Others might use it only if
// b dominated them, but b ended the program.
func dropUnusedConst(b *ir.Block) {
	n := len(b.Values)
	if n == 0 || b.Values[n-1].Op != ir.OpConst {
		return
	}
	last := b.Values[n-1]
	for _, v := range b.Values[:n-1] {
		for _, a := range v.Args {
			if a == last {
				return
			}
		}
	}
	b.Values = b.Values[:n-1]
}
