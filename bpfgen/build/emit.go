package build

import (
	"math"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The short forms in which build writes instructions into the current block.

func (b *builder) op(op ir.Op, args ...*ir.Value) *ir.Value { return b.cur.Add(op, b.pos, args...) }

func (b *builder) konst(c int64) *ir.Value { return b.cur.Const(b.pos, c) }

// imm is an arithmetic op with a constant.
func (b *builder) imm(op ir.Op, x *ir.Value, c int64) *ir.Value {
	if c < math.MinInt32 || c > math.MaxInt32 {
		return b.op(op, x, b.konst(c))
	}
	return b.cur.AddImm(op, b.pos, c, x)
}

// add is x+c for an address or number.
func (b *builder) add(x *ir.Value, c int64) *ir.Value {
	if c == 0 {
		return x
	}
	return b.imm(ir.OpAdd, x, c)
}

func (b *builder) load(size int, addr *ir.Value, off int64) *ir.Value {
	return b.cur.AddImm(sized(ir.OpLoad8, size), b.pos, off, addr)
}

func (b *builder) store(size int, addr *ir.Value, off int64, v *ir.Value) {
	b.cur.AddImm(sized(ir.OpStore8, size), b.pos, off, addr, v)
}

// sized picks the op for 1, 2, 4 or 8 bytes; first is the one for 1.
func sized(first ir.Op, size int) ir.Op {
	switch size {
	case 1:
		return first
	case 2:
		return first + 1
	case 4:
		return first + 2
	}
	return first + 3
}

func (b *builder) call(helper int64, args ...*ir.Value) *ir.Value {
	return b.cur.AddImm(ir.OpCall, b.pos, helper, args...)
}

func (b *builder) slotAddr(s *ir.Slot, off int64) *ir.Value {
	v := b.cur.AddImm(ir.OpSlot, b.pos, off)
	v.Slot = s
	return v
}

func (b *builder) mapPtr(name string) *ir.Value {
	v := b.op(ir.OpMapPtr)
	v.Sym = name
	return v
}

func (b *builder) mapValue(name string, off int64) *ir.Value {
	v := b.cur.AddImm(ir.OpMapValue, b.pos, off)
	v.Sym = name
	return v
}

// constAddr is the address of constant data.
func (b *builder) constAddr(data string) *ir.Value {
	at := b.Constant(data)
	return b.mapValue("const", at)
}

// zeros is the address of size zero bytes.
func (b *builder) zeros(size int) *ir.Value {
	return b.constAddr(string(make([]byte, size)))
}

// extend makes the low bits of x a whole value.
func (b *builder) extend(x *ir.Value, bits int, signed bool) *ir.Value {
	switch {
	case bits >= 64:
		return x
	case signed:
		return b.cur.AddImm(ir.OpSExt, b.pos, int64(bits), x)
	}
	return b.cur.AddImm(ir.OpZExt, b.pos, int64(bits), x)
}

func (b *builder) cmp(c ir.Cond, x, y *ir.Value) *ir.Value {
	return b.cur.AddImm(ir.OpCmp, b.pos, int64(c), x, y)
}

// branch ends the current block; nothing is current afterwards until begin.
func (b *builder) branch(c ir.Cond, x, y *ir.Value, then, els *ir.Block) {
	b.cur.Branch(b.pos, c, x, y, ir.Edge{Block: then}, ir.Edge{Block: els})
	b.reach(then, els)
}

func (b *builder) branchImm(c ir.Cond, x *ir.Value, imm int64, then, els *ir.Block) {
	if imm < math.MinInt32 || imm > math.MaxInt32 {
		b.branch(c, x, b.konst(imm), then, els)
		return
	}
	b.cur.BranchImm(b.pos, c, x, imm, ir.Edge{Block: then}, ir.Edge{Block: els})
	b.reach(then, els)
}

// reach notes that blocks can be reached if the current one can.
func (b *builder) reach(blocks ...*ir.Block) {
	if b.reached[b.cur] {
		for _, blk := range blocks {
			b.reached[blk] = true
		}
	}
}

// likely marks the way that the branch just made expects: 1 then, 2 else.
func (b *builder) likely(way uint8, from *ir.Block) { from.Term.Likely = way }

// unless runs cold where c holds for x and imm, which is not expected; cold
// ends the program or jumps elsewhere.
func (b *builder) unless(c ir.Cond, x *ir.Value, imm int64, cold func()) {
	from, out, on := b.cur, b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(c, x, imm, out, on)
	b.likely(2, from)
	saved := b.save()
	b.begin(out)
	cold()
	b.begin(on)
	b.restore(saved)
}

// begin makes blk current.
func (b *builder) begin(blk *ir.Block) { b.cur = blk }

// ret ends the program. A subprogram, or the body of a loop, tells its caller
// to do so.
func (b *builder) ret() {
	var x *ir.Value
	switch {
	case b.round != nil:
		b.leaveRounds(leaveProgram)
		return
	case b.sub != nil:
		b.sub.stops = b.sub.stops || b.reached[b.cur]
		x = b.konst(1)
	case b.prog.Attach.Session != nil && !b.opened:
		x = b.konst(1) // no entry was made, so the session need not see the return
	}
	b.cur.Ret(b.pos, x)
	b.end()
}

// end makes a block current that nothing leads to: what follows in the tree
// is not reached. prune drops it.
func (b *builder) end() {
	b.cur = b.f.NewBlock()
}
