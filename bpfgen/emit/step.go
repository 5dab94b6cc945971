package emit

import (
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/regalloc"
)

// The bytes of each single instruction: constants, arithmetic, loads, stores, atomic operations, calls.

// step emits one step of the allocation.
func (e *emitter) step(s *regalloc.Step) {
	dst, src := asm.Register(s.Dst), asm.Register(s.Src)
	switch s.Kind {
	case regalloc.Move:
		e.add(asm.Mov.Reg(dst, src))
	case regalloc.Make:
		e.make(dst, s.Value)
	case regalloc.Load:
		e.add(asm.LoadMem(dst, asm.RFP, int16(s.Off), asm.DWord))
	case regalloc.Store:
		e.add(asm.StoreMem(asm.RFP, int16(s.Off), src, asm.DWord))
	case regalloc.Exec:
		e.exec(s)
	}
}

// make puts a constant or an address into dst.
func (e *emitter) make(dst asm.Register, v *ir.Value) {
	switch v.Op {
	case ir.OpConst:
		e.constant(dst, v.Imm)
	case ir.OpSlot:
		e.add(asm.Mov.Reg(dst, asm.RFP))
		e.add(asm.Add.Imm(dst, int32(e.slotOffset(v))))
	case ir.OpMapPtr:
		e.add(asm.LoadMapPtr(dst, 0).WithReference(v.Sym))
	case ir.OpFunc:
		e.add(asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: dst, Src: asm.PseudoFunc,
			Constant: -1}.WithReference(v.Sym))
	case ir.OpMapValue:
		e.add(asm.LoadMapValue(dst, 0, uint32(v.Imm)).WithReference(v.Sym))
	}
}

// constant puts c into dst: one raw instruction if a 32-bit move can sign- or
// zero-extend it, else two.
func (e *emitter) constant(dst asm.Register, c int64) {
	switch {
	case ir.Fits32(c):
		e.add(asm.Mov.Imm(dst, int32(c)))
	case regalloc.FitsU32(c):
		e.add(asm.Mov.Imm32(dst, int32(uint32(c))))
	default:
		e.add(asm.LoadImm(dst, c, asm.DWord))
	}
}

// slotOffset is the distance of an OpSlot from R10.
func (e *emitter) slotOffset(v *ir.Value) int64 {
	return int64(e.a.SlotOffset[v.Slot.ID]) + v.Imm
}

// exec emits an instruction of the function.
func (e *emitter) exec(s *regalloc.Step) {
	v, dst := s.Value, asm.Register(s.Dst)
	switch {
	case v.Op == ir.OpCall && v.Sym != "":
		e.add(asm.Call.Label(v.Sym))
	case v.Op == ir.OpCall:
		e.add(asm.BuiltinFunc(v.Imm).Call())
	case v.Op == ir.OpNeg:
		e.add(asm.Neg.Imm(dst, 0))
	case v.Op >= ir.OpBswap16 && v.Op <= ir.OpBswap64:
		// "To big endian" swaps on the little-endian hosts that startrace
		// runs on; the unconditional swap needs Linux 6.6.
		size := map[ir.Op]asm.Size{ir.OpBswap16: asm.Half, ir.OpBswap32: asm.Word, ir.OpBswap64: asm.DWord}[v.Op]
		e.add(asm.HostTo(asm.BE, dst, size))
	case v.Op.IsALU2():
		e.alu(s)
	case v.Op.IsMemory():
		e.memory(s)
	default:
		e.fail("%s has no instruction", v.LongString())
	}
}

var aluOps = map[ir.Op]asm.ALUOp{
	ir.OpAdd: asm.Add, ir.OpSub: asm.Sub, ir.OpMul: asm.Mul, ir.OpUDiv: asm.Div, ir.OpUMod: asm.Mod,
	ir.OpAnd: asm.And, ir.OpOr: asm.Or, ir.OpXor: asm.Xor, ir.OpShl: asm.LSh, ir.OpLShr: asm.RSh, ir.OpAShr: asm.ArSh,
}

// alu emits arithmetic of two operands; dst holds the first.
func (e *emitter) alu(s *regalloc.Step) {
	v, dst, op := s.Value, asm.Register(s.Dst), aluOps[s.Value.Op]
	imm := v.Imm
	if len(v.Args) == 2 {
		if !regalloc.Folded(v, 1) {
			e.add(op.Reg(dst, asm.Register(s.Args[1])))
			return
		}
		imm = v.Args[1].Imm
	}
	switch {
	case regalloc.IsZExt32(v):
		e.add(asm.Mov.Reg32(dst, asm.Register(s.Args[0])))
	case v.Op == ir.OpShl, v.Op == ir.OpLShr, v.Op == ir.OpAShr:
		e.add(op.Imm(dst, int32(imm&63))) // the kernel refuses 64 and more
	case ir.Fits32(imm):
		e.add(op.Imm(dst, int32(imm)))
	default: // of OpAnd: the upper 32 bits are 0
		e.add(op.Imm32(dst, int32(uint32(imm))))
	}
}

// apart emits a sum of a value and a constant whose sign a branch asks, so that the verifier learns nothing of the
// value by that branch. It reports whether the two steps are such a sum; the move is emitted already.
//
//	r5 = r6; r5 += 64; if r5 s>= 0 goto …    behind it the verifier of Linux 6.11 and later knows whether r6 is less
//	                                         than -64, and follows the rest of the program for both cases
//	r5 = 64; r5 += r6; if r5 s>= 0 goto …    it follows the rest once
func (e *emitter) apart(move, sum *regalloc.Step) bool {
	if move.Kind != regalloc.Move || sum.Kind != regalloc.Exec || move.Dst != sum.Dst || !signAsked(sum.Value) {
		return false
	}
	e.out[len(e.out)-1] = asm.Mov.Imm(asm.Register(sum.Dst), int32(sum.Value.Imm))
	e.add(asm.Add.Reg(asm.Register(sum.Dst), asm.Register(move.Src)))
	return true
}

// signAsked reports whether v is the sum of a value and a constant of 32 bits, and its block ends by asking its sign.
func signAsked(v *ir.Value) bool {
	t := &v.Block.Term
	return v.Op == ir.OpAdd && len(v.Args) == 1 && ir.Fits32(v.Imm) &&
		t.Kind == ir.Branch && t.X == v && t.Y == nil && t.Imm == 0 && (t.Cond == ir.SLT || t.Cond == ir.SGE)
}

var sizes = map[int]asm.Size{1: asm.Byte, 2: asm.Half, 4: asm.Word, 8: asm.DWord}

// memory emits an instruction whose first operand is an address.
func (e *emitter) memory(s *regalloc.Step) {
	v, dst := s.Value, asm.Register(s.Dst)
	base, off := asm.Register(s.Args[0]), v.Imm
	if regalloc.Folded(v, 0) {
		base, off = asm.RFP, off+e.slotOffset(v.Args[0])
	}
	if off != int64(int16(off)) {
		e.fail("%s: offset %d does not fit 16 bits", v.LongString(), off)
		return
	}
	size, off16 := sizes[v.Op.Width()], int16(off)
	switch {
	case v.Op.IsLoad():
		e.add(asm.LoadMem(dst, base, off16, size))
	case v.Op.IsStore() && regalloc.Folded(v, 1):
		e.add(storeImm(base, off16, v.Args[1].Imm, size))
	case v.Op.IsStore():
		e.add(asm.StoreMem(base, off16, asm.Register(s.Args[1]), size))
	case v.Op == ir.OpAtomicAdd64:
		e.add(atomic(asm.AddAtomic, base, asm.Register(s.Args[1]), off16))
	case v.Op == ir.OpXchg64:
		e.add(atomic(asm.Xchg, base, dst, off16))
	case v.Op == ir.OpCmpXchg64:
		e.add(atomic(asm.CmpXchg, base, asm.Register(s.Args[2]), off16))
	}
}

// storeImm stores the low bits of c, sign-extended as the assembler prints
// them. asm.StoreImm refuses 64 bits, though
// the machine sign-extends the immediate.
func storeImm(base asm.Register, off int16, c int64, size asm.Size) asm.Instruction {
	unused := 64 - 8*min(size.Sizeof(), 4)
	return asm.Instruction{OpCode: asm.StoreImmOp(size), Dst: base, Offset: off, Constant: c << unused >> unused}
}

// atomic makes an atomic instruction on 64 bits. cilium/ebpf v0.22.0 encodes
// the immediate that it finds before it sets it from the opcode, which makes
// every operation an addition: set it here.
func atomic(op asm.AtomicOp, base, src asm.Register, off int16) asm.Instruction {
	ins := op.Mem(base, src, asm.DWord, off)
	ins.Constant = int64(op >> 8)
	return ins
}
