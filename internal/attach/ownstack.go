package attach

import (
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Programs of user probes run on the stack of the task.

// onOwnStack makes a program of user probes run on the stack of the task that
// it interrupts.
//
// Since 6.13 a program of this type with 64 bytes of stack or more has a stack
// for each CPU instead (bpf_enable_priv_stack in kernel/bpf/verifier.c), since
// such programs are taken to be guarded against running twice on a CPU. User
// probes are not: a task can be preempted in the program, another one runs it on
// the same CPU, and both write to one stack. Where the kernel preempts lazily
// (7.2 as Debian builds it) that mixed the arguments of threads. A program that
// calls another by bpf_tail_call is exempt; a call that is never reached is
// enough, and the verifier removes it.
func onOwnStack(insns asm.Instructions, a *tree.Attach) asm.Instructions {
	if wayOf(a.Kind()).probes != userProbes || len(insns) == 0 || insns[0].IsLoadFromMap() {
		return insns
	}
	over := asm.Instruction{OpCode: asm.JEq.Op(asm.ImmSource), Dst: asm.R0, Offset: 1}
	lead := asm.Instructions{asm.Mov.Imm(asm.R0, 0), over, asm.FnTailCall.Call()}
	lead[0].Metadata, insns[0].Metadata = insns[0].Metadata, asm.Metadata{} // the function's name and its first line
	return append(lead, insns...)
}
