package ssagen

import "github.com/startrace/startrace/bpfgen/ir"

// Constants that lie in a map, and branches that are not expected, beside what ir.Builder writes.
//
// What package ir's Builder writes, with what only programs of startrace have: constants in a map, and values that
// were read of the event, of which a way keeps its own.

// constAddr is the address of constant data.
func (b *code) constAddr(data string) *ir.Value {
	at := b.Constant(data)
	return b.MapValue("const", at)
}

// zeros is the address of size zero bytes.
func (b *code) zeros(size int) *ir.Value {
	return b.constAddr(string(make([]byte, size)))
}

// unless runs cold where c holds for x and imm, which is not expected; cold
// ends the program or jumps elsewhere. What it reads of the event is not
// remembered behind it.
func (b *code) unless(c ir.Cond, x *ir.Value, imm int64, cold func()) {
	var saved state
	b.Unless(c, x, imm, func() {
		saved = b.save()
		cold()
	})
	b.restore(saved)
}

// branchConst is branch with a constant operand as the immediate.
func (b *code) branchConst(c ir.Cond, x, y *ir.Value, then, els *ir.Block) {
	if y.Op == ir.OpConst {
		b.BranchImm(c, x, y.Imm, then, els)
		return
	}
	b.Branch(c, x, y, then, els)
}

// unlessSame runs cold where x and y differ; cold leaves. What follows is where they are the same.
func (b *code) unlessSame(x, y *ir.Value, cold func()) {
	b.unless(ir.NE, b.Op(ir.OpSub, x, y), 0, cold)
}

// unlessEqual runs cold where x and y are equal; cold leaves.
func (b *code) unlessEqual(x, y *ir.Value, cold func()) {
	out, on := b.NewBlock(), b.NewBlock()
	b.Branch(ir.EQ, x, y, out, on)
	saved := b.save()
	b.Begin(out)
	cold()
	b.Begin(on)
	b.restore(saved)
}
