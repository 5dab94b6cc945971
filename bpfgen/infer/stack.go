package infer

import (
	"runtime"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// e.stack() and e.ustack() in kernel halves: how many frames, which frames of tracing itself are left out.

// stack is e.stack(n) or e.ustack(n).
func (b memory) stack(name string, args []arg, pos plan.Pos) val {
	n := int64(wire.MaxStack)
	if a := named(args, 0, 1, "e."+name+"(frames)", pos); len(a) == 1 {
		var ok bool
		if n, ok = a[0].constInt(); !ok {
			wrong(pos, "e.%s takes a constant number of frames", name)
		}
		if n < 1 || n > wire.MaxStack {
			wrong(pos, "e.%s takes from 1 to %d frames, got %d", name, wire.MaxStack, n)
		}
	}
	t := b.u.res.Tree
	t.StackFrames = max(t.StackFrames, int(n))
	space := tree.Kernel
	if name == "ustack" {
		space = tree.User
		b.u.walksStacks()
	} else {
		t.KernelStacks = true
		b.u.cutStacks = b.u.cutStacks || n < wire.MaxStack
	}
	return exprVal(&tree.Expr{Op: tree.OpStack, Type: types.Type{Kind: types.Stack}, Str: space, Int: n, Pos: pos})
}

// walksStacks notes that stacks of programs are taken, and where the kernel has what walks along them need. Kernels
// without types say nothing of that: walks then begin in the program's own code only, and end at a call whose return
// address was replaced.
func (u *unit) walksStacks() {
	t := u.res.Tree
	if t.UserStacks {
		return
	}
	t.UserStacks = true
	btf, err := u.facts.BTF()
	if err != nil {
		return
	}
	at := func(tag string, fields ...string) int64 {
		off, err := btf.OffsetOf(tag, fields...)
		if err != nil {
			return 0
		}
		return int64(off)
	}
	t.Walk = tree.WalkOffsets{
		KernelStack:    at("task_struct", "stack"),
		MM:             at("task_struct", "mm"),
		StartCode:      at("mm_struct", "start_code"),
		EndCode:        at("mm_struct", "end_code"),
		StartStack:     at("mm_struct", "start_stack"),
		Parent:         at("task_struct", "real_parent"),
		TGID:           at("task_struct", "tgid"),
		Utask:          at("task_struct", "utask"),
		Instances:      at("uprobe_task", "return_instances"),
		Copy:           at("uprobe_task", "xol_vaddr"),
		Copied:         at("uprobe_task", "vaddr"),
		InstanceStack:  at("return_instance", "stack"),
		InstanceReturn: at("return_instance", "orig_ret_vaddr"),
		InstanceNext:   at("return_instance", "next"),
		Thread:         at("task_struct", threadFields[runtime.GOARCH]...),
	}
	t.Walk.Area, _ = areaOffsets(btf) // where they are not known, walks go by tables alone
	if size, ok := btf.SizeOf("struct pt_regs"); ok {
		t.Walk.Registers = int64(kernelStackSize - size)
	}
}

// kernelStackSize is that of a task in bytes (THREAD_SIZE): on x86-64 and, with pages of 4 KiB, on arm64.
const kernelStackSize = 16 << 10

// behindTracing makes cut kernel stacks at tracepoints begin with the caller of
// the tracepoint. Whether the kernel calls a program directly or through one or
// two functions depends on its version, on how it was built, and on who else
// listens: only their addresses tell. Where addresses are hidden frames have no
// names either.
func (u *unit) behindTracing() {
	if !u.cutStacks {
		return
	}
	symbols, err := u.facts.Symbols()
	if err != nil {
		return
	}
	add := func(a *tree.Attach, start uint64) {
		if size, ok := symbols.Size(start); ok && start != 0 {
			a.Tracing = append(a.Tracing, tree.Code{Start: start, Size: size})
		}
	}
	var raw []*tree.Attach
	var names []string
	for _, prog := range u.res.Tree.Programs {
		a := &prog.Attach
		for _, name := range tracingOf(a) {
			if start, ok := symbols.Addr(name); ok {
				add(a, start)
			}
		}
		if rt, is := a.Way.(tree.RawTracepoint); is {
			raw, names = append(raw, a), append(names, rt.Name)
		}
	}
	if len(raw) == 0 {
		return
	}
	for i, start := range u.facts.ClassFunctions(names) {
		add(raw[i], start)
	}
}

// callTracing names those of a tracepoint of system calls, for a raw or an exact program.
func callTracing(name string, exact bool) []string {
	if exact {
		return []string{"__traceiter_" + name}
	}
	return []string{"__bpf_trace_" + name, "__traceiter_" + name}
}

// tracingOf names these functions (include/trace/perf.h, include/trace/bpf_probe.h,
// kernel/trace/trace_syscalls.c).
func tracingOf(a *tree.Attach) []string {
	switch at := a.Way.(type) {
	case tree.Tracepoint:
		switch {
		case at.Group == "syscalls" && strings.HasPrefix(at.Name, "sys_enter_"):
			return []string{"perf_syscall_enter", "__traceiter_sys_enter"}
		case at.Group == "syscalls":
			return []string{"perf_syscall_exit", "__traceiter_sys_exit"}
		}
		return []string{"__traceiter_" + at.Name}
	case tree.RawTracepoint:
		return []string{"__traceiter_" + at.Name} // and that of its class
	case tree.SyscallEnter:
		return callTracing("sys_enter", at.Exact)
	case tree.SyscallExit:
		return callTracing("sys_exit", at.Exact)
	}
	return nil // no tracepoint
}
