package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// The length of a string in memory: bytes before the first NUL.

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

// scanShort counts them in a loop, of at most s.room rounds. The count leaves the loop through memory, of whose
// contents the verifier knows nothing: as a value it would be another number on each way out, and what follows, such as
// the walk of a path, would be verified once for each.
func (b *code) scanShort(s *str) *ir.Value {
	m := b.allocScratch(8)
	out := b.newJoin(types.Type{})
	leave := func(k *ir.Value) {
		b.Store(8, b.addr(m, 0), 0, k)
		b.jump(out)
	}
	head, body, next := b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.Jump(head, b.Const(0))
	b.Reach(head, body, next)
	k := head.Param(b.Pos)
	b.Begin(head)
	full, nul := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.ULT, k, int64(s.room), body, full)
	b.Begin(full)
	leave(b.Const(int64(s.room)))
	b.Begin(body)
	b.BranchImm(ir.EQ, b.Load(1, b.Op(ir.OpAdd, b.strAddr(s, 0), k), 0), 0, nul, next)
	b.Begin(nul)
	leave(k)
	b.Begin(next)
	b.Jump(head, b.Imm(ir.OpAdd, k, 1))
	goesRound(b, int64(s.room), body, next)
	b.enter(out)
	n := b.Load(8, b.addr(m, 0), 0)
	b.unless(ir.UGT, n, int64(s.room), b.ret) // never; the verifier wants it
	return n
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
