package ssagen

import (
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The frame of the function that was called, its return address, and pt_regs.

// registers reads pt_regs, and finds with them where the frame of the function lies.
type registers struct{ *code }

// frame is where the frame of the called function begins: the stack pointer at
// its entry. A trampoline does not tell it, but its context lies on the stack
// at a fixed distance, the same for the programs at the entry and at the return.
func (b registers) frame() *ir.Value {
	if b.prog.Attach.Kind().Trampoline() {
		// The difference of two pointers is a number to the verifier, which a
		// pointer cannot become otherwise.
		return b.once("frame", func() *ir.Value { return b.Op(ir.OpSub, b.ctx(), b.zeros(8)) })
	}
	return b.once("frame", func() *ir.Value { return b.Add(b.stackPointer(), -b.returnPop()) })
}

func (b registers) stackPointer() *ir.Value { return b.register(strconv.Itoa(b.Arch.SP)) }

// returnPop: the return address has been popped where a probe runs in the
// caller, at a trampoline of returns. At a return instruction it has not.
func (b registers) returnPop() int64 {
	if b.prog.Attach.Kind().Popped() {
		return b.Arch.ReturnPop
	}
	return 0
}

// stackEnd is the offset of stack.hi in Go's struct g (runtime/runtime2.go).
const stackEnd = 8

// goFrame is the frame of a Go function as its distance from the stack's end:
// the runtime moves stacks, and keeps that.
func (b registers) goFrame() *ir.Value {
	return b.once("frame", func() *ir.Value {
		g := b.register(strconv.Itoa(b.Arch.G))
		b.Store(8, b.temp(), 0, b.Const(0))
		b.Call(helperProbeReadUser, b.temp(), b.Const(8), b.Add(g, stackEnd))
		return b.Op(ir.OpSub, b.stackPointer(), b.Load(8, b.temp(), 0))
	})
}

// userMode is whether a sample was taken in user mode.
func (b registers) userMode() *ir.Value {
	mode := b.Imm(ir.OpAnd, b.Load(8, b.ctx(), b.Arch.Mode), b.Arch.ModeMask)
	c := ir.NE
	if b.Arch.UserIsZero {
		c = ir.EQ
	}
	return b.Cmp(c, mode, b.Const(0))
}

// returnAddress is where a function that has no frame returns to, 0 if it
// cannot be read.
func (b registers) returnAddress() *ir.Value {
	if b.Arch.Link != 0 {
		return b.Load(8, b.ctx(), b.Arch.Link)
	}
	b.Call(helperProbeReadUser, b.temp(), b.Const(8), b.Load(8, b.ctx(), int64(b.Arch.SP)))
	return b.Load(8, b.temp(), 0) // 0 if the read fails
}

// register is 8 bytes of pt_regs. Those of a system call are read together.
func (b registers) register(offset string) *ir.Value {
	off, err := strconv.ParseInt(offset, 10, 16)
	if err != nil {
		b.fail("register %q", offset)
	}
	if !b.isSyscall() {
		return b.Load(8, b.ctx(), off)
	}
	lo, m := b.registers()
	return b.Load(8, b.addr(m, off-lo), 0)
}
