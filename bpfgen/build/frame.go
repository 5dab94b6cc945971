package build

import (
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// frame is where the frame of the called function begins: the stack pointer at
// its entry. A trampoline does not tell it, but its context lies on the stack
// at a fixed distance, the same for the programs at the entry and at the return.
func (b *builder) frame() *ir.Value {
	if b.prog.Attach.Kind.Trampoline() {
		// The difference of two pointers is a number to the verifier, which a
		// pointer cannot become otherwise.
		return b.once("frame", func() *ir.Value { return b.op(ir.OpSub, b.ctx(), b.zeros(8)) })
	}
	return b.once("frame", func() *ir.Value { return b.add(b.stackPointer(), -b.returnPop()) })
}

func (b *builder) stackPointer() *ir.Value { return b.register(strconv.Itoa(b.Arch.SP)) }

// returnPop: the return address has been popped where a probe runs in the
// caller, at a trampoline of returns. At a return instruction it has not.
func (b *builder) returnPop() int64 {
	switch b.prog.Attach.Kind {
	case tree.AttachKretprobe, tree.AttachUretprobe:
		return b.Arch.ReturnPop
	}
	return 0
}

// stackEnd is the offset of stack.hi in Go's struct g (runtime/runtime2.go).
const stackEnd = 8

// goFrame is the frame of a Go function as its distance from the stack's end:
// the runtime moves stacks, and keeps that.
func (b *builder) goFrame() *ir.Value {
	return b.once("frame", func() *ir.Value {
		g := b.register(strconv.Itoa(b.Arch.G))
		b.store(8, b.temp(), 0, b.konst(0))
		b.call(helperProbeReadUser, b.temp(), b.konst(8), b.add(g, stackEnd))
		return b.op(ir.OpSub, b.stackPointer(), b.load(8, b.temp(), 0))
	})
}
