package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// scanLen counts the bytes before the first NUL of padded memory. A comm is short, so a loop counts them; it also
// counts those of memory that is not at a constant place of this function. Longer memory is read onto itself by a
// helper, which gives the length. In a loop the verifier would follow each length apart, to the end of the program.
func (b *code) scanLen(s *str) *ir.Value {
	if s.mem == nil || s.room <= types.Comm.Cap {
		return b.scanShort(s)
	}
	at := b.strAddr(s, 0)
	rc := b.Call(helperProbeReadKernelStr, at, b.Const(int64(s.room)), at)
	j := b.newJoin(types.U64)
	b.unless(ir.SLT, rc, 1, func() { b.jumpWith(j, intVal(types.U64, b.Const(0))) })
	b.jumpWith(j, intVal(types.U64, b.Add(rc, -1)))
	return b.enter(j).x
}

// scanShort counts them in a loop, of at most s.room rounds.
func (b *code) scanShort(s *str) *ir.Value {
	head, body, next := b.NewBlock(), b.NewBlock(), b.NewBlock()
	j := b.newJoin(types.U64)
	b.Jump(head, b.Const(0))
	b.Reach(head, body, next)
	k := head.Param(b.Pos)
	b.Begin(head)
	full := b.NewBlock()
	b.BranchImm(ir.ULT, k, int64(s.room), body, full)
	b.Begin(full)
	b.jumpWith(j, intVal(types.U64, b.Const(int64(s.room))))
	b.Begin(body)
	c := b.Load(1, b.Op(ir.OpAdd, b.strAddr(s, 0), k), 0)
	nul := b.NewBlock()
	b.BranchImm(ir.EQ, c, 0, nul, next)
	b.Begin(nul)
	b.jumpWith(j, intVal(types.U64, k))
	b.Begin(next)
	b.Jump(head, b.Imm(ir.OpAdd, k, 1))
	return b.enter(j).x
}

// loopBound is the length n for the test of a loop. What the test teaches the
// verifier must not be about n itself: it would follow each way out of the
// loop apart, to the end of the program. Loops have masks of their own, so
// that they do not share one value either.
func (b *code) loopBound(n *ir.Value) *ir.Value {
	const least, most = 14, 31 // bits; a length has 13
	mask := int64(1)<<(least+b.bounds%(most-least)) - 1
	b.bounds++
	return b.Imm(ir.OpAnd, n, mask)
}
