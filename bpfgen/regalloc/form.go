package regalloc

import (
	"math"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Which operands are part of the machine's instruction, which values are made again instead of kept, sets of registers.

// Folded reports whether operand i of v is part of the machine instruction:
// an address on the stack, a constant that fits.
func Folded(v *ir.Value, i int) bool {
	a := v.Args[i]
	switch {
	case v.Op.IsMemory() && i == 0:
		return a.Op == ir.OpSlot
	case a.Op != ir.OpConst || i != 1:
		return false
	case v.Op.IsStore() && v.Args[0].Op == ir.OpCtx:
		return false // "BPF_ST stores into R1 ctx is not allowed" before 6.4 (kernel/bpf/verifier.c)
	case v.Op == ir.OpStore64:
		return ir.Fits32(a.Imm)
	case v.Op.IsStore():
		return true // only the low bits are stored
	case v.Op == ir.OpUDiv, v.Op == ir.OpUMod:
		return ir.Fits32(a.Imm) && a.Imm != 0
	case v.Op == ir.OpAnd:
		return ir.Fits32(a.Imm) || FitsU32(a.Imm)
	case v.Op.IsALU2():
		return ir.Fits32(a.Imm)
	}
	return false
}

// FoldedY reports whether the second operand of a branch is part of the
// instruction.
func FoldedY(t *ir.Term) bool {
	return t.Y == nil || t.Y.Op == ir.OpConst && ir.Fits32(t.Y.Imm)
}

// FitsU32 reports whether c is what a 32-bit instruction, which clears the
// upper half, makes of an immediate.
func FitsU32(c int64) bool { return c >= 0 && c <= math.MaxUint32 }

// IsZExt32 reports whether v clears the upper half: one 32-bit move from any
// register to any other.
func IsZExt32(v *ir.Value) bool {
	return v.Op == ir.OpAnd && len(v.Args) == 2 && v.Args[1].Op == ir.OpConst && v.Args[1].Imm == math.MaxUint32
}

// tied gives the operand that the instruction overwrites with its result; -1
// if there is none.
func tied(v *ir.Value) int {
	switch {
	case IsZExt32(v):
		return -1
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBswap64:
		return 0
	case v.Op == ir.OpXchg64:
		return 1
	}
	return -1
}

// isMade reports whether v is made again where it is needed, not kept.
func isMade(v *ir.Value) bool {
	switch v.Op {
	case ir.OpConst, ir.OpSlot, ir.OpMapPtr, ir.OpMapValue, ir.OpFunc:
		return true
	}
	return false
}

// makeCost is the number of raw instructions to make v.
func makeCost(v *ir.Value) int {
	if v.Op == ir.OpConst && (ir.Fits32(v.Imm) || FitsU32(v.Imm)) {
		return 1
	}
	return 2
}

// Sets of registers.
type regs uint16

const (
	callerSaved regs = 1<<6 - 1                  // R0–R5
	calleeSaved regs = 1<<6 | 1<<7 | 1<<8 | 1<<9 // R6–R9
	allRegs          = callerSaved | calleeSaved
)

func (m regs) has(r Reg) bool { return r >= 0 && m>>r&1 != 0 }

func bit(r Reg) regs {
	if r < 0 {
		return 0
	}
	return 1 << r
}

// first is the lowest register of m.
func (m regs) first() Reg {
	for r := Reg(0); r < numRegs; r++ {
		if m.has(r) {
			return r
		}
	}
	return NoReg
}
