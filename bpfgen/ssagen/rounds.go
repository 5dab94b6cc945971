package ssagen

import "github.com/startrace/startrace/bpfgen/ir"

// Loops over what lies in memory: strings of a list, names of a path.
//
// Loops over what the kernel or a program holds in memory: the dentries of a
// path, the strings of a list, the digits of a number.
//
// The verifier follows such a loop round by round. What grows differently on
// two ways of the body and is used as an offset later (off += n on one way)
// makes each round a new state on both ways, and the cost exponential. So
// all that goes round the loop but the counter lies in memory of a map, of
// whose contents the verifier knows nothing: both ways then meet in one state,
// and the cost is linear. Whoever loads an offset from there bounds it again.

// rounds runs body up to n times, with k from 0 on. body leaves the loop by a
// jump. What follows is where all rounds have been used up.
func (b *code) rounds(n int64, body func(k *ir.Value)) {
	head, more, over := b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.Jump(head, b.Const(0))
	k := head.Param(b.Pos)
	b.Begin(head)
	b.BranchImm(ir.ULT, k, n, more, over)
	saved := b.save()
	b.Begin(more)
	body(k)
	b.Jump(head, b.Imm(ir.OpAdd, k, 1))
	b.restore(saved)
	b.Begin(over)
}
