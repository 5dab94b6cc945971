package bpfgen

import (
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Programs that need much stack run on the stack of their task by a tail call, since kernels from 6.13 give them one
// that is shared on a CPU.
//
// Since 6.13 the kernel gives programs of the types of probes a stack of their own for each CPU, where a function of
// the program takes privateStack bytes or more, rounded up to 16 (bpf_enable_priv_stack and
// check_max_stack_depth_subprog, kernel/bpf/verifier.c). That is safe where a program that has begun on a CPU keeps
// others of the same kind from beginning there. Nothing does so for uprobes: where the kernel preempts a program, the
// next task on that CPU runs it on the same stack, and values of one task become those of another.
//
// Programs that contain a tail call get no such stack, but that of the task. So the programs of uprobes whose functions
// take so much begin with one that is never reached. The verifier takes it out again, and what is left is an
// instruction that sets R0.

// privateStack is the least that the kernel gives a stack of its own, and stackUnit what it rounds up to.
const (
	privateStack = 64
	stackUnit    = 16
)

// ownTask puts in front of the program what makes it run on the stack of its task, if its kind and its stack need it.
func (a *assembly) ownTask(kind tree.AttachKind) {
	if !kind.InUser() || !slices.ContainsFunc(a.frames, assembled.private) {
		return
	}
	name := a.insns[0].Symbol()
	a.insns[0] = a.insns[0].WithSymbol("")
	a.insns = append(taskStack(name), a.insns...)
	n := len(taskStack(name))
	a.raw += n
	for i := range a.lines {
		if a.lines[i].Insn > 0 {
			a.lines[i].Insn += n
		}
	}
}

// private reports whether the kernel gives the function a stack of its own if it may.
func (f assembled) private() bool { return f.regs.Stack > privateStack-stackUnit }

// taskStack jumps over a tail call always.
func taskStack(name string) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R0, 0).WithSymbol(name),
		{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JEq).SetSource(asm.ImmSource), Dst: asm.R0, Offset: 1},
		asm.FnTailCall.Call(),
	}
}
