package procs

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// The numbers of all processes, by an iterator of tasks.

// taskIterator is the kernel's function that stands for iterators of tasks (5.8). Such a one runs for the tasks that
// are in the pid namespace of whoever opens it.
const taskIterator = "bpf_iter_task"

// taskSize is what the program writes for a process: its number in the initial namespace and that in ours, of 4 bytes
// each.
const taskSize = 8

// taskFields are the places of what the program reads of struct task_struct, struct pid and struct upid
// (include/linux/pid.h).
type taskFields struct{ pid, tgid, structPid, level, numbers, size, nr int }

// loadTaskList loads the program that writes the numbers of all processes of a namespace.
func loadTaskList(b *kernel.BTF) (*ebpf.Program, error) {
	id, ok := b.Named(kernel.KindFunc, taskIterator)
	if !ok {
		return nil, errors.New("the kernel has no iterators of tasks (needs 5.8)")
	}
	fields, err := findTaskFields(b)
	if err != nil {
		return nil, err
	}
	p, err := bpf.Load(&bpf.Program{
		Name: "numbers", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter, AttachBTF: uint32(id),
		Instructions: fields.list(),
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("program that lists processes: %w", err)
	}
	return p, nil
}

func findTaskFields(b *kernel.BTF) (f taskFields, err error) {
	for _, want := range []struct {
		at    *int
		tag   string
		field string
	}{
		{&f.pid, "task_struct", "pid"}, {&f.tgid, "task_struct", "tgid"}, {&f.structPid, "task_struct", "thread_pid"},
		{&f.level, "pid", "level"}, {&f.numbers, "pid", "numbers"}, {&f.nr, "upid", "nr"},
	} {
		if *want.at, err = b.OffsetOf(want.tag, want.field); err != nil {
			return f, err
		}
	}
	upid, ok := b.Named(kernel.KindStruct, "upid")
	if !ok {
		return f, errors.New("the kernel's types have no struct upid")
	}
	f.size, err = b.Size(upid)
	return f, err
}

// list is the program. Its context is struct bpf_iter__task: meta, whose first field is the file, and the task, NULL in
// the last call. The task that reads the file is one of the tracer. How deep its namespace lies says which of a task's
// numbers is the one in it.
func (f taskFields) list() asm.Instructions {
	const number, own, pointer, level = -16, -12, -24, -32 // on the stack
	read := func(at int16, size int32, from asm.Register, offset int) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(at)), asm.Mov.Imm(asm.R2, size),
			asm.Mov.Reg(asm.R3, from), asm.Add.Imm(asm.R3, int32(offset)), asm.FnProbeReadKernel.Call(),
			asm.JNE.Imm(asm.R0, 0, "end"), // it ends just now
		}
	}
	var code asm.Instructions
	for _, part := range []asm.Instructions{
		{
			asm.Mov.Reg(asm.R6, asm.R1), asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord), asm.JEq.Imm(asm.R7, 0, "end"),
			asm.LoadMem(asm.R8, asm.R7, int16(f.tgid), asm.Word), asm.LoadMem(asm.R1, asm.R7, int16(f.pid), asm.Word),
			asm.JNE.Reg(asm.R1, asm.R8, "end"), // a thread of another one
			asm.StoreMem(asm.RFP, number, asm.R8, asm.Word), asm.FnGetCurrentTask.Call(), asm.Mov.Reg(asm.R8, asm.R0),
		},
		read(pointer, 8, asm.R8, f.structPid), {asm.LoadMem(asm.R8, asm.RFP, pointer, asm.DWord)},
		read(level, 4, asm.R8, f.level), {asm.LoadMem(asm.R9, asm.RFP, level, asm.Word)},
		read(pointer, 8, asm.R7, f.structPid),
		{
			asm.LoadMem(asm.R8, asm.RFP, pointer, asm.DWord), asm.Mul.Imm(asm.R9, int32(f.size)),
			asm.Add.Reg(asm.R8, asm.R9),
		},
		read(own, 4, asm.R8, f.numbers+f.nr),
		{
			asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord), asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, number), asm.Mov.Imm(asm.R3, taskSize),
			asm.FnSeqWrite.Call(),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return(),
		},
	} {
		code = append(code, part...)
	}
	return code
}
