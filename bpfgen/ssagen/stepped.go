package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// Where a program is that steps through a copy of an instruction.
//
// On an instruction with a uprobe stands a breakpoint. Where the kernel cannot do by itself what the instruction does,
// it has the thread run a copy of it, in a page of its own ([uprobes] in the list of mappings; xol_area of
// kernel/events/uprobes.c). A sample, a watchpoint or a switch of threads in just that moment finds the thread in the
// copy:
//
//	task_struct.utask → uprobe_task {xol_vaddr: where the copy is, vaddr: the instruction itself}

// slotSize is the most bytes that a copy of an instruction has.
const slotSize = 16

// stepped is the address of the program that pc means: pc itself, or the place of the instruction of which the thread
// runs a copy, or behind it.
func (b stacks) stepped(pc *ir.Value) *ir.Value {
	of := &b.Tree.Walk
	if b.prog.Attach.Kind().InUser() || !of.Steps() {
		return pc
	}
	out := b.newJoin(types.U64)
	asItIs := func() { b.jumpWith(out, intVal(types.U64, pc)) }
	utask := b.kernelWord(b.Call(helperGetCurrentTask), of.Utask)
	b.unless(ir.EQ, utask, 0, asItIs) // no uprobe has met the thread
	slot := b.kernelWord(utask, of.Copy)
	b.unless(ir.EQ, slot, 0, asItIs)
	distance := b.Op(ir.OpSub, pc, slot)
	b.unless(ir.UGE, distance, slotSize, asItIs)
	b.jumpWith(out, intVal(types.U64, b.Op(ir.OpAdd, b.kernelWord(utask, of.Copied), distance)))
	return b.enter(out).x
}
