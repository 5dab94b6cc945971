package unwind

import (
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/internal/wire"
)

// Return addresses that uretprobes have replaced, found again in the kernel's records.
//
// To see that a function returns the kernel replaces the return address of the call by that of code of its own
// (uretprobe, prepare_uretprobe of kernel/events/uprobes.c). It keeps a record of each such call, in a list that begins
// with the innermost one: the return address, and where on the stack it was.
//
//	task_struct.utask → uprobe_task.return_instances → return_instance {stack, orig_ret_vaddr, next → …}
//
// A walk goes outwards as the list does. So the record of the next call is the one that was found last or lies a few
// behind it: calls that were left by longjmp have one, too, until the kernel takes them away.
//
// A return address at which no code is mapped is looked for there. So the page of the kernel's code need not be known,
// which a process gets with its first probe.

// recordsTried is how many records are looked at for one return address.
const recordsTried = 4

// replaced writes the block lost. It takes the return address of the frame from the kernel's records, and leaves the
// rest as it is: the kernel's own code is no frame. If there is no record of it, the walk ends.
func (s *step) replaced() {
	s.Begin(s.lost)
	if !s.Offsets.Records() {
		s.end(wire.UnwindNoMapping)
		return
	}
	found := s.NewBlock()
	record := s.Param(found)
	place := s.Add(s.get(stateSP), -s.Convention.returnSize)
	at := s.firstRecord()
	for i := range recordsTried {
		if i > 0 {
			at = s.kernelWord(at, s.Offsets.InstanceNext)
		}
		s.endIf(ir.EQ, at, 0, wire.UnwindNoMapping)
		same, other := s.NewBlock(), s.NewBlock()
		s.Branch(ir.EQ, s.kernelWord(at, s.Offsets.InstanceStack), place, same, other)
		s.Begin(same)
		s.Jump(found, at)
		s.Begin(other)
	}
	s.end(wire.UnwindNoMapping)
	s.Begin(found)
	s.set(stateInstance, record)
	s.set(statePC, s.kernelWord(record, s.Offsets.InstanceReturn))
	s.Jump(s.on)
}

// firstRecord is the one that was found last, or the first one of the task.
func (s *step) firstRecord() *ir.Value {
	known, ask := s.NewBlock(), s.NewBlock()
	record := s.Param(known)
	last := s.get(stateInstance)
	have := s.NewBlock()
	s.BranchImm(ir.EQ, last, 0, ask, have)
	s.Begin(have)
	s.Jump(known, last)
	s.Begin(ask)
	utask := s.kernelWord(s.Call(int64(asm.FnGetCurrentTask)), s.Offsets.Utask)
	s.endIf(ir.EQ, utask, 0, wire.UnwindNoMapping)
	s.Jump(known, s.kernelWord(utask, s.Offsets.Instances))
	s.Begin(known)
	return record
}

// kernelWord reads a word of the kernel's memory.
func (s *step) kernelWord(at *ir.Value, off int64) *ir.Value {
	failed := s.Call(int64(asm.FnProbeReadKernel), s.Add(s.Memory(), s.State+stateWords), s.Const(8), s.Add(at, off))
	s.endIf(ir.NE, failed, 0, wire.UnwindNoMapping)
	return s.word(0)
}
