package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/bpfgen/unwind"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
)

// Stacks of programs by the tables of package unwind, or by frame pointers.
//
// User stacks are walked by package unwind where user space has the tables of the process ready, and by the kernel,
// which goes by frame pointers, until then. The entry of the stack says which it was, and why the stack ends
// (wire.StackMark).

// walk is the walk whose memory is m.
func (b stacks) walk(m *region) *unwind.Walk {
	return &unwind.Walk{
		Builder: b.Builder, Convention: b.Arch.Unwind, Memory: func() *ir.Value { return b.addr(m, 0) },
		State: int64(m.size - unwind.StateSize), Addrs: wire.StackAddrs, Offsets: &b.Tree.Walk,
	}
}

// walked writes at most n addresses of the user stack to m and gives their number. If there is no stack, none ends the
// way.
func (b stacks) walked(m *region, n int64, none func()) *ir.Value {
	out, other := b.newJoin(types.U64), b.newJoin(types.Type{})
	without := func() { b.jump(other) }
	key := b.alloc(8)
	w := b.walk(m)
	w.Most, w.AtEntry = n, b.atEntry()
	number, table := b.tableOfProcess(key, without)
	w.Table = table
	b.start(w, without)
	if b.HasLoop {
		b.walkByKernel(w, n)
	} else {
		b.walkInRounds(w, m, number, n)
	}
	// Where the program itself lies in no mapping the table is of another one, which the process was until just now, or
	// the kernel could not look.
	first := func(why int64, then func()) {
		b.unless(ir.EQ, b.Op(ir.OpOr, b.Imm(ir.OpShl, w.Count(), 8), w.Why()), 1<<8|why, then)
	}
	for _, why := range []int64{wire.UnwindNoTable, wire.UnwindNoMapping} {
		first(why, func() {
			b.unless(ir.EQ, w.Pending(), 0, func() {
				b.unlessInExec(none)
				without()
			})
			without()
		})
	}
	b.jumpWith(out, intVal(types.U64, w.Count()))
	b.enter(other)
	w.Fail()
	byFrames := b.byFramePointers(m, n, userStack, none)
	b.markFirst(m)
	b.jumpWith(out, intVal(types.U64, byFrames))
	count := b.enter(out).x
	b.release(key)
	return count
}

// tableOfProcess is the table of the process: its number and its address. Where it has none, or one of what ran in it
// before, that of its parent serves if the same image runs there: a child has at first what its parent has mapped.
// Where there is none of either, and the kernel tells what is mapped, an empty table serves, else without ends the way.
func (b stacks) tableOfProcess(key *region, without func()) (number, address *ir.Value) {
	for _, name := range []string{tree.MapUnwindProcesses, tree.MapUnwindTables, tree.MapUnwindRows,
		tree.MapUnwindFiles, tree.MapUnwindGuesses} {
		b.Uses[name] = true
	}
	var image *ir.Value
	if b.knowsImages() {
		image = b.image()
	}
	table, parents := b.newJoin(types.U64), b.newJoin(types.Type{})
	other := func() { b.jump(parents) }
	nowhere := without
	if b.findsAreas() {
		without = func() { b.jumpWith(table, intVal(types.U64, b.Const(wire.UnwindNoMappings))) }
	}
	own, known := b.tableOf(key, b.tgid(), other)
	if image != nil {
		b.unless(ir.EQ, known, 0, func() { b.jumpWith(table, intVal(types.U64, own)) })
		b.unlessSame(known, image, other)
	}
	b.jumpWith(table, intVal(types.U64, own))
	b.enter(parents)
	if of := &b.Tree.Walk; image != nil && of.Parent != 0 && of.TGID != 0 {
		parent := b.kernelWord(b.Call(helperGetCurrentTask), of.Parent)
		number, known := b.tableOf(key, b.kernelWord(parent, of.TGID), without)
		b.unlessSame(known, image, without)
		b.jumpWith(table, intVal(types.U64, number))
	} else {
		without()
	}
	number = b.enter(table).x
	return number, b.find(key, tree.MapUnwindTables, number, nowhere)
}

// findsAreas reports whether the kernel tells what is mapped at an address (bpf_find_vma, as old as bpf_loop).
func (b stacks) findsAreas() bool { return b.HasLoop && b.Tree.Walk.Area != nil }

// tableOf gives the number of the table of a process, and the image that it is for. none ends the way if there is none.
func (b stacks) tableOf(key *region, process *ir.Value, none func()) (number, image *ir.Value) {
	entry := b.find(key, tree.MapUnwindProcesses, process, none)
	return b.Load(4, entry, wire.UnwindProcessTable), b.Load(8, entry, wire.UnwindProcessImage)
}

// find looks a number of 32 bits up in a map. none ends the way where it is not there.
func (b stacks) find(key *region, name string, number *ir.Value, none func()) *ir.Value {
	b.Store(4, b.addr(key, 0), 0, number)
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, none)
	return p
}

// knowsImages reports whether the kernel's types tell where a task has what its image is made of.
func (b stacks) knowsImages() bool {
	of := &b.Tree.Walk
	return of.MM != 0 && of.StartCode != 0 && of.EndCode != 0 && of.StartStack != 0
}

// image is wire.UnwindImage of the task.
func (b stacks) image() *ir.Value {
	return b.once("image", func() *ir.Value {
		of := &b.Tree.Walk
		mm := b.kernelWord(b.Call(helperGetCurrentTask), of.MM)
		end := b.Imm(ir.OpShl, b.kernelWord(mm, of.EndCode), wire.UnwindEndShift)
		stack := b.Imm(ir.OpShl, b.kernelWord(mm, of.StartStack), wire.UnwindStackShift)
		return b.Op(ir.OpXor, b.kernelWord(mm, of.StartCode), b.Op(ir.OpXor, end, stack))
	})
}

// atEntry reports whether the program is at the first instruction of a function.
func (b stacks) atEntry() bool {
	a := &b.prog.Attach
	return a.Kind() == tree.AttachUprobe && a.Functions().Bare
}

// start begins the walk with the registers that the program had where it is now, or where it went into the kernel.
// Where these are out of reach, without ends the way.
func (b stacks) start(w *unwind.Walk, without func()) {
	kind := b.prog.Attach.Kind()
	if kind.InUser() {
		w.Start(b.registersAt(b.ctx(), b.ctx(), b.load))
		return
	}
	if !kind.Sample() {
		b.startByTask(w, without)
		return
	}
	started := b.newJoin(types.Type{})
	b.unless(ir.EQ, registers{b.code}.userMode(), 0, func() {
		b.startByTask(w, without)
		b.jump(started)
	})
	// The kernel's own context of a sample begins with the address of the registers (struct bpf_perf_event_data_kern).
	w.Start(b.registersAt(b.ctx(), b.kernelWord(b.ctx(), 0), b.load))
	b.jump(started)
	b.enter(started)
}

// registersAt are those of a struct pt_regs at saved, of which at reads a word by regs.
func (b stacks) registersAt(regs, saved *ir.Value, at func(*ir.Value, int64) *ir.Value) unwind.Registers {
	r := unwind.Registers{Saved: saved,
		PC: b.stepped(at(regs, b.Arch.IP)), SP: at(regs, int64(b.Arch.SP)), FP: at(regs, b.Arch.FP)}
	if b.Arch.Link != 0 {
		r.Link = at(regs, b.Arch.Link)
	}
	return r
}

// load reads a word of memory that the verifier knows.
func (b stacks) load(at *ir.Value, off int64) *ir.Value { return b.Load(8, at, off) }

// startByTask begins with the registers that the kernel has saved of the task. A thread of the kernel has others there,
// and says so by its mode.
func (b stacks) startByTask(w *unwind.Walk, without func()) {
	saved, at := b.taskRegisters()
	if saved == nil {
		without()
		b.End()
		return
	}
	b.unlessOfUser(saved, at, without)
	r := b.registersAt(saved, saved, at)
	r.Behind = b.behindSyscall(saved, at(saved, b.Arch.IP)) // a copy of the instruction has it without a breakpoint
	w.Start(r)
}

// taskRegisters is where the kernel has saved the registers of the task, and what reads a word of them; nil where it is
// not known.
func (b stacks) taskRegisters() (saved *ir.Value, at func(*ir.Value, int64) *ir.Value) {
	switch of := b.Tree.Walk; {
	case b.HasTaskRegs:
		return b.Call(helperTaskPtRegs, b.Call(helperGetCurrentTaskBTF)), b.load
	case of.KernelStack != 0 && of.Registers != 0:
		stack := b.kernelWord(b.Call(helperGetCurrentTask), of.KernelStack)
		return b.Add(stack, of.Registers), b.kernelWord
	}
	return nil, nil
}

// unlessOfUser runs other where registers are not those of a program.
func (b stacks) unlessOfUser(saved *ir.Value, at func(*ir.Value, int64) *ir.Value, other func()) {
	user := b.Arch.ModeMask
	if b.Arch.UserIsZero {
		user = 0
	}
	b.unless(ir.NE, b.Imm(ir.OpAnd, at(saved, b.Arch.Mode), b.Arch.ModeMask), user, other)
}

// unlessInExec runs other where the task is within exec. What it has of registers is that of the program which was
// replaced.
func (b stacks) unlessInExec(other func()) {
	saved, _ := b.taskRegisters()
	if b.prog.Attach.Kind().InUser() || saved == nil {
		return
	}
	number := b.syscallNumber(saved)
	for _, exec := range b.Arch.Execs {
		if exec < kernel.CompatBase {
			b.unless(ir.EQ, number, int64(exec), other)
		}
	}
}

// syscallNumber is that of the system call of the task, below 0 in none.
func (b stacks) syscallNumber(saved *ir.Value) *ir.Value {
	size := int64(b.Arch.SyscallSize)
	b.Call(helperProbeReadKernel, b.temp(), b.Const(size), b.Add(saved, b.Arch.Syscall))
	return b.Extend(b.Load(int(size), b.temp(), 0), int(8*size), true)
}

// behindSyscall is 1 if the task has made a system call and pc stands behind the instruction that did so, else 0. The
// number of a call alone does not say it, for execve ends at the begin of another program, and a signal at that of its
// handler.
func (b stacks) behindSyscall(saved, pc *ir.Value) *ir.Value {
	out := b.newJoin(types.U64)
	no := func() { b.jumpWith(out, intVal(types.U64, b.Const(0))) }
	b.unless(ir.SLT, b.syscallNumber(saved), 0, no)
	size := b.Arch.SyscallCodeSize
	failed := b.Call(helperProbeReadUser, b.temp(), b.Const(size), b.Add(pc, -size))
	b.unless(ir.NE, failed, 0, no)
	b.unless(ir.NE, b.Load(int(size), b.temp(), 0), b.Arch.SyscallCode, no)
	b.jumpWith(out, intVal(types.U64, b.Const(1)))
	return b.enter(out).x
}

// markFirst marks the first address of a stack that the kernel has taken where it stands behind a system call.
func (b stacks) markFirst(m *region) {
	kind := b.prog.Attach.Kind()
	if kind.InUser() {
		return
	}
	done := b.newJoin(types.Type{})
	end := func() { b.jump(done) }
	if kind.Sample() {
		b.unless(ir.NE, registers{b.code}.userMode(), 0, end)
	}
	if saved, at := b.taskRegisters(); saved != nil {
		b.unlessOfUser(saved, at, end)
		first := b.Load(8, b.addr(m, 0), wire.StackAddrs)
		mark := b.Imm(ir.OpShl, b.behindSyscall(saved, at(saved, b.Arch.IP)), 63)
		b.Store(8, b.addr(m, 0), wire.StackAddrs, b.Op(ir.OpOr, first, mark))
	}
	b.jump(done)
	b.enter(done)
}

// kernelWord reads a word of the kernel's memory, 0 if it cannot be read.
func (b stacks) kernelWord(at *ir.Value, off int64) *ir.Value {
	b.Call(helperProbeReadKernel, b.temp(), b.Const(8), b.Add(at, off))
	return b.Load(8, b.temp(), 0)
}

// walkInRounds writes the walk as a loop of calls of a function for each frame, where the kernel has no such loop. The
// verifier follows the loop round by round, but the function only once, by itself: it is global. For that it is given
// numbers instead of addresses, the slot of the scratch memory and the number of the table, by which it looks both up
// again. Written out in the loop, the step took 428,000 of the million instructions that the verifier follows at most.
func (b stacks) walkInRounds(w *unwind.Walk, m *region, table *ir.Value, n int64) {
	done := b.newJoin(types.Type{})
	step := b.globalStep(w, m)
	b.called = append(b.called, step)
	slot := b.Op(ir.OpScratchSlot)
	b.rounds(n+roundsBeside, func(*ir.Value) {
		over := b.Call(0, slot, table)
		over.Sym = step.f.Name
		b.unless(ir.NE, over, 0, func() { b.jump(done) })
	})
	b.jump(done)
	b.enter(done)
}

// globalStep is the function that walkInRounds calls for each frame. It gives 0 to go on and 1 to end the walk, as it
// does where the table has gone meanwhile, with its process.
func (b stacks) globalStep(w *unwind.Walk, m *region) *subprogram {
	f := newGenerator(b.Shared, b.prog, b.family)
	f.Func.Name, f.Pos = subs(b).subName("unwind"), b.Pos
	f.Func.Global = true
	slot, table := f.Op(ir.OpArg), f.Op(ir.OpArg)
	slot.Imm, table.Imm = 0, 1
	key := &region{slot: f.Func.NewSlot(8), size: 8}
	over := func() { f.Ret(f.Const(1)) }
	entry := stacks{f}.find(key, tree.MapScratch, slot, over)
	inner := *w
	inner.Builder = f.Builder
	inner.Memory = func() *ir.Value { return f.Add(entry, tree.ScratchHeader+m.off) }
	inner.Key = func() *ir.Value { return f.addr(key, 0) }
	inner.Table = stacks{f}.find(key, tree.MapUnwindTables, table, func() {
		inner.Without()
		over()
	})
	on, stop := f.NewBlock(), f.NewBlock()
	inner.Step(on, stop)
	f.Begin(on)
	f.Ret(f.Const(0))
	f.Begin(stop)
	over()
	f.Func.Prune()
	return &subprogram{f: f.Func, calls: f.called}
}

// The words that a step of a walk is given on the stack.
const (
	walkMemory = iota
	walkTable
	walkWords
)

// roundsBeside are rounds that give no frame: of return addresses that were replaced, and of what is looked at before
// frames of Python.
const roundsBeside = wire.MaxStack

// walkByKernel leaves the loop to the kernel (bpf_loop), which calls a function for each frame.
func (b stacks) walkByKernel(w *unwind.Walk, n int64) {
	sub := b.stepOfWalk(w)
	slot := subs(b).callWords(walkWords)
	b.Store(8, b.SlotAddr(slot, 0), 8*walkMemory, w.Memory())
	b.Store(8, b.SlotAddr(slot, 0), 8*walkTable, w.Table)
	f := b.Op(ir.OpFunc)
	f.Sym = sub.f.Name
	b.Call(helperLoop, b.Const(n+roundsBeside), f, b.SlotAddr(slot, 0), b.Const(0))
	b.called = append(b.called, sub)
	b.reports = append(b.reports, Call{Name: loopName, Pos: b.Pos, Times: 1, Sub: f.Sym, Rounds: n + roundsBeside})
	b.extra = b.extra.plus(sub.cost)
}

// stepOfWalk is the function that the kernel calls for each frame. It gives 0 to go on and 1 to end the walk.
func (b stacks) stepOfWalk(w *unwind.Walk) *subprogram {
	f := newGenerator(b.Shared, b.prog, b.family)
	f.Func.Name, f.Pos = subs(b).subName("unwind"), b.Pos
	words := f.Op(ir.OpArg)
	words.Imm = 1
	memory := f.Load(8, words, 8*walkMemory)
	key := f.Func.NewSlot(8)
	inner := *w
	inner.Builder, inner.Memory = f.Builder, func() *ir.Value { return memory }
	inner.Table, inner.Key = f.Load(8, words, 8*walkTable), func() *ir.Value { return f.SlotAddr(key, 0) }
	if b.findsAreas() {
		inner.FindArea = func(addr *ir.Value) *ir.Value { return stacks{f}.findArea(w, words, addr) }
	}
	on, stop := f.NewBlock(), f.NewBlock()
	inner.Step(on, stop)
	f.Begin(on)
	f.Ret(nil)
	f.Begin(stop)
	f.Ret(f.Const(1))
	f.Func.Prune()
	return &subprogram{f: f.Func, calls: f.called,
		cost: loops{f}.costOf(f.Func.Blocks, f.extra).times(roundsFollowed)}
}

// findArea has the kernel note what is mapped at an address. words are those that a step is given.
func (b stacks) findArea(w *unwind.Walk, words, addr *ir.Value) *ir.Value {
	f := newGenerator(b.Shared, b.prog, b.family)
	f.Func.Name, f.Pos = subs(b).subName("mapped"), b.Pos
	area, given := f.Op(ir.OpArg), f.Op(ir.OpArg)
	area.Imm, given.Imm = 1, 2
	memory := f.Load(8, given, 8*walkMemory)
	note := *w
	note.Builder, note.Memory = f.Builder, func() *ir.Value { return memory }
	note.NoteArea(area)
	f.Ret(nil)
	f.Func.Prune()
	sub := &subprogram{f: f.Func, cost: loops{f}.costOf(f.Func.Blocks, f.extra)}
	b.called = append(b.called, sub)
	b.extra = b.extra.plus(sub.cost)
	called := b.Op(ir.OpFunc)
	called.Sym = f.Func.Name
	return b.Call(helperFindVMA, b.Call(helperGetCurrentTaskBTF), addr, called, words, b.Const(0))
}
