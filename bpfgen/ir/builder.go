package ir

import "math"

// Builder, by which packages write SSA: Begin, Branch, Jump, Unless, Op, Load, Store, Call.

// A Builder writes instructions into one function, block by block.
//
// It knows which blocks can be reached: those that a jump or branch from a block that can be reached leads to. After
// the end of a way (Ret, End) it goes on in a block that nothing leads to, so that who writes code need not ask; Prune
// drops what was written there.
//
//	b := ir.NewBuilder(ir.NewFunc("count"))
//	then, els := b.NewBlock(), b.NewBlock()
//	b.BranchImm(ir.ULT, b.Load(4, b.Op(ir.OpCtx), 8), 5, then, els)
//	b.Begin(then)
//	b.Ret(b.Const(1))
//	b.Begin(els)
//	b.Ret(nil)
type Builder struct {
	// Func is the function under construction.
	Func *Func
	// Cur is the block that instructions are appended to.
	Cur *Block
	// Pos is the place in the script that instructions come from; it changes as the tree is walked.
	Pos Pos
	// reached has the blocks that can be reached from the entry.
	reached map[*Block]bool
}

// NewBuilder begins in the entry block of f.
func NewBuilder(f *Func) *Builder {
	return &Builder{Func: f, Cur: f.Blocks[0], reached: map[*Block]bool{f.Blocks[0]: true}}
}

// NewBlock adds an empty block to the function. It is current after Begin.
func (b *Builder) NewBlock() *Block { return b.Func.NewBlock() }

// Begin makes blk current.
func (b *Builder) Begin(blk *Block) { b.Cur = blk }

// End makes a block current that nothing leads to.
func (b *Builder) End() { b.Cur = b.NewBlock() }

// Reached reports whether the current block can be reached.
func (b *Builder) Reached() bool { return b.reached[b.Cur] }

// CanReach reports whether blk can be reached, by what has been written so far.
func (b *Builder) CanReach(blk *Block) bool { return b.reached[blk] }

// Reach notes that blocks can be reached if the current one can.
func (b *Builder) Reach(blocks ...*Block) {
	if b.Reached() {
		for _, blk := range blocks {
			b.reached[blk] = true
		}
	}
}

// Op appends an instruction and gives its value.
func (b *Builder) Op(op Op, args ...*Value) *Value { return b.Cur.Add(op, b.Pos, args...) }

// OpImm appends an instruction with an immediate.
func (b *Builder) OpImm(op Op, imm int64, args ...*Value) *Value {
	return b.Cur.AddImm(op, b.Pos, imm, args...)
}

// Const is a constant of 64 bits.
func (b *Builder) Const(c int64) *Value { return b.Cur.Const(b.Pos, c) }

// Param adds a parameter to blk.
func (b *Builder) Param(blk *Block) *Value { return blk.Param(b.Pos) }

// Imm is the arithmetic op of x and a constant, which need not fit into an instruction.
func (b *Builder) Imm(op Op, x *Value, c int64) *Value {
	if !fitsImm(c) {
		return b.Op(op, x, b.Const(c))
	}
	return b.OpImm(op, c, x)
}

// fitsImm reports whether c fits into an instruction: 32 bits with sign.
func fitsImm(c int64) bool { return c >= math.MinInt32 && c <= math.MaxInt32 }

// Add is x+c for an address or number.
func (b *Builder) Add(x *Value, c int64) *Value {
	if c == 0 {
		return x
	}
	return b.Imm(OpAdd, x, c)
}

// Load reads size bytes (1, 2, 4 or 8) at addr+off, zero-extended.
func (b *Builder) Load(size int, addr *Value, off int64) *Value {
	return b.OpImm(sized(OpLoad8, size), off, addr)
}

// Store writes the low size bytes (1, 2, 4 or 8) of v to addr+off.
func (b *Builder) Store(size int, addr *Value, off int64, v *Value) {
	b.OpImm(sized(OpStore8, size), off, addr, v)
}

// sized picks the op for 1, 2, 4 or 8 bytes; first is the one for 1.
func sized(first Op, size int) Op {
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

// Copy copies size bytes, a multiple of 8, from src to dst.
func (b *Builder) Copy(dst, src *Value, size int) { b.OpImm(OpCopy, int64(size), dst, src) }

// Call calls a helper of the kernel by its number.
func (b *Builder) Call(helper int64, args ...*Value) *Value { return b.OpImm(OpCall, helper, args...) }

// SlotAddr is the address of byte off of a piece of the stack.
func (b *Builder) SlotAddr(s *Slot, off int64) *Value {
	v := b.OpImm(OpSlot, off)
	v.Slot = s
	return v
}

// MapPtr is the map of that name, for helpers.
func (b *Builder) MapPtr(name string) *Value {
	v := b.Op(OpMapPtr)
	v.Sym = name
	return v
}

// MapValue is the address of byte off in the only value of an array map.
func (b *Builder) MapValue(name string, off int64) *Value {
	v := b.OpImm(OpMapValue, off)
	v.Sym = name
	return v
}

// Extend makes the low bits of x a whole value.
func (b *Builder) Extend(x *Value, bits int, signed bool) *Value {
	switch {
	case bits >= 64:
		return x
	case signed:
		return b.OpImm(OpSExt, int64(bits), x)
	}
	return b.OpImm(OpZExt, int64(bits), x)
}

// Cmp is 1 where c holds for x and y, else 0.
func (b *Builder) Cmp(c Cond, x, y *Value) *Value { return b.OpImm(OpCmp, int64(c), x, y) }

// Branch ends the current block; nothing is current afterwards until Begin.
func (b *Builder) Branch(c Cond, x, y *Value, then, els *Block) {
	b.Cur.Branch(b.Pos, c, x, y, Edge{Block: then}, Edge{Block: els})
	b.Reach(then, els)
}

// BranchImm is Branch with a constant, which need not fit into an instruction.
func (b *Builder) BranchImm(c Cond, x *Value, imm int64, then, els *Block) {
	if !fitsImm(imm) {
		b.Branch(c, x, b.Const(imm), then, els)
		return
	}
	b.Cur.BranchImm(b.Pos, c, x, imm, Edge{Block: then}, Edge{Block: els})
	b.Reach(then, els)
}

// Likely marks the way that the branch at the end of from expects: 1 then, 2 else.
func (b *Builder) Likely(way uint8, from *Block) { from.Term.Likely = way }

// Unless runs cold where c holds for x and imm, which is not expected; cold ends its way: it returns, or jumps
// elsewhere. What follows is where c does not hold.
func (b *Builder) Unless(c Cond, x *Value, imm int64, cold func()) {
	from, out, on := b.Cur, b.NewBlock(), b.NewBlock()
	b.BranchImm(c, x, imm, out, on)
	b.Likely(2, from)
	b.Begin(out)
	cold()
	b.Begin(on)
}

// Jump ends the current block with a jump to blk, whose parameters get args. Nothing is current afterwards until Begin.
func (b *Builder) Jump(blk *Block, args ...*Value) {
	b.Cur.Jump(b.Pos, blk, args...)
	b.Reach(blk)
}

// Ret ends the current way and the function, with x or 0 (nil).
func (b *Builder) Ret(x *Value) {
	b.Cur.Ret(b.Pos, x)
	b.End()
}

// A Join is a block where ways meet, each with one value for each of the block's parameters. The jumps are written when
// all ways have come (Enter), so that who joins may first see what they bring.
type Join struct {
	// Block is where the ways meet. Nothing is in it until Enter.
	Block *Block
	// Ways are the ways that have come so far. Who joins sets their Args before Enter.
	Ways []Arrival
}

// An Arrival is the end of one way into a join: the block that it ends in, and the place in the script.
type Arrival struct {
	// From is the block in which the way ends. It has no terminator until Enter.
	From *Block
	// Pos is the place in the script at which the way ends.
	Pos Pos
	// Args are what the way brings, one value for each of the block's parameters.
	Args []*Value
}

// NewJoin makes a join without ways.
func (b *Builder) NewJoin() *Join { return &Join{Block: b.NewBlock()} }

// Come ends the current way in j, if it can be reached, and reports whether.
func (b *Builder) Come(j *Join) bool {
	came := b.Reached()
	if came {
		j.Ways = append(j.Ways, Arrival{From: b.Cur, Pos: b.Pos})
		b.reached[j.Block] = true
	}
	b.End()
	return came
}

// Enter writes the jumps of all ways and makes the join's block current.
func (b *Builder) Enter(j *Join) {
	for _, w := range j.Ways {
		w.From.Jump(w.Pos, j.Block, w.Args...)
	}
	b.Begin(j.Block)
}
