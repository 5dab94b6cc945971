package explain

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// Instructions as text, for `explain --asm`.

// aluSigns are the signs of operations that change a register.
var aluSigns = map[asm.ALUOp]string{
	asm.Add: "+=", asm.Sub: "-=", asm.Mul: "*=", asm.Div: "/=", asm.Or: "|=", asm.And: "&=", asm.LSh: "<<=",
	asm.RSh: ">>=", asm.Mod: "%=", asm.Xor: "^=", asm.Mov: "=", asm.ArSh: "s>>=", asm.SDiv: "s/=", asm.SMod: "s%=",
}

// jumpSigns are the signs of conditions.
var jumpSigns = map[asm.JumpOp]string{
	asm.JEq: "==", asm.JGT: ">", asm.JGE: ">=", asm.JSet: "&", asm.JNE: "!=", asm.JSGT: "s>", asm.JSGE: "s>=",
	asm.JLT: "<", asm.JLE: "<=", asm.JSLT: "s<", asm.JSLE: "s<=",
}

// atomicSigns are atomic operations whose old value is dropped.
var atomicSigns = map[asm.AtomicOp]string{
	asm.AddAtomic: "+=", asm.AndAtomic: "&=", asm.OrAtomic: "|=", asm.XorAtomic: "^=",
}

// insnText is an instruction as the kernel's own listings have it. at is its
// raw number: jumps count from it.
func insnText(ins *asm.Instruction, at int) string {
	op := ins.OpCode
	switch class := op.Class(); {
	case op.IsDWordLoad():
		return wideLoad(ins)
	case class.IsALU():
		return aluText(ins)
	case class.IsJump():
		return jumpText(ins, at)
	case class == asm.LdXClass:
		return fmt.Sprintf("%s = %s", wide(ins.Dst), place(op, ins.Src, ins.Offset))
	case class == asm.StClass:
		return fmt.Sprintf("%s = %d", place(op, ins.Dst, ins.Offset), ins.Constant)
	case op.Mode() == asm.AtomicMode:
		return atomicText(ins)
	case class == asm.StXClass:
		return fmt.Sprintf("%s = %s", place(op, ins.Dst, ins.Offset), wide(ins.Src))
	}
	return strings.TrimSpace(fmt.Sprint(*ins))
}

// wideLoad is a load of 64 bits that the instruction carries.
func wideLoad(ins *asm.Instruction) string {
	switch {
	case ins.Reference() == "":
		return fmt.Sprintf("%s = %d", wide(ins.Dst), ins.Constant)
	case ins.Src == asm.PseudoFunc:
		return fmt.Sprintf("%s = subprogram %s", wide(ins.Dst), ins.Reference())
	case ins.Src == asm.PseudoMapValue:
		return fmt.Sprintf("%s = memory of %s + %d", wide(ins.Dst), ins.Reference(), uint64(ins.Constant)>>32)
	}
	return fmt.Sprintf("%s = map %s", wide(ins.Dst), ins.Reference())
}

func aluText(ins *asm.Instruction) string {
	dst, src := register(ins.Dst, ins), register(ins.Src, ins)
	op := ins.OpCode.ALUOp()
	switch {
	case op == asm.Neg:
		return fmt.Sprintf("%s = -%s", dst, dst)
	case op == asm.Swap:
		return fmt.Sprintf("%s = %s%d(%s)", wide(ins.Dst), strings.ToLower(ins.OpCode.Endianness().String()),
			ins.Constant, wide(ins.Dst))
	case ins.OpCode.Source() == asm.ImmSource:
		src = fmt.Sprint(ins.Constant)
	}
	sign := aluSigns[op]
	if sign == "" {
		return strings.TrimSpace(fmt.Sprint(*ins))
	}
	return fmt.Sprintf("%s %s %s", dst, sign, src)
}

// register is r1, or w1 for its low half.
func register(r asm.Register, ins *asm.Instruction) string {
	if c := ins.OpCode.Class(); c == asm.ALUClass || c == asm.Jump32Class {
		return "w" + itoa(int(r))
	}
	return wide(r)
}

// wide is a whole register; r10 is the frame.
func wide(r asm.Register) string { return "r" + itoa(int(r)) }

func jumpText(ins *asm.Instruction, at int) string {
	op := ins.OpCode.JumpOp()
	target := at + 1 + int(ins.Offset)
	switch op {
	case asm.Call:
		if ins.IsBuiltinCall() {
			return "call " + helperName(asm.BuiltinFunc(ins.Constant))
		}
		return strings.TrimSpace("call " + ins.Reference())
	case asm.Exit:
		return "exit"
	case asm.Ja:
		return fmt.Sprintf("goto %d", target)
	}
	right := register(ins.Src, ins)
	if ins.OpCode.Source() == asm.ImmSource {
		right = fmt.Sprint(ins.Constant)
	}
	return fmt.Sprintf("if %s %s %s goto %d", register(ins.Dst, ins), jumpSigns[op], right, target)
}

func atomicText(ins *asm.Instruction) string {
	at, src := place(ins.OpCode, ins.Dst, ins.Offset), wide(ins.Src)
	switch op := ins.OpCode.AtomicOp(); op {
	case asm.Xchg:
		return fmt.Sprintf("%s = exchange(%s, %s)", src, at, src)
	case asm.CmpXchg:
		return fmt.Sprintf("r0 = compare_exchange(%s, r0, %s)", at, src)
	default:
		if sign := atomicSigns[op]; sign != "" {
			return fmt.Sprintf("lock %s %s %s", at, sign, src)
		}
		return fmt.Sprintf("lock %s %s %s", at, op, src)
	}
}

// place is memory of a size at an address.
func place(op asm.OpCode, base asm.Register, off int16) string {
	sign := '+'
	if off < 0 {
		sign, off = '-', -off
	}
	return fmt.Sprintf("*(u%d *)(%s %c %d)", 8*op.Size().Sizeof(), wide(base), sign, off)
}
