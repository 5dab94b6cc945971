package ssagen

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
)

// The number of a system call with its interface (32 bits, x32), and the filter by it.
//
// The kernel shows the number of a system call without the interface that it was made by: on amd64, 5 is fstat(), and
// open() where a 32-bit program has made the call. So programs know calls by startrace's own numbers
// (kernel.MaxSyscall): those of the native table as they are, and those of the 32-bit table from kernel.CompatBase on.
// For
//
//	probe("syscall:openat", …)     the tree has     span 0 … syscalls [257 1319]
//
// where 257 is openat() of the native table and 1319 that of the 32-bit table, 295 there. A program makes the own
// number of the kernel's (ownNumber) and ends for the calls that it is not about (syscallFilter). The test of the
// kernel's number comes first, since it rules out most calls, and only for the others the program reads from the task
// by which interface the call was made (inCompat).
//
// The end of an execve() is a case of its own: it can bear another number than the start, see execNr.

// calls finds the number of a system call, and ends the program for those that do not concern it.
type calls struct{ *code }

// syscallNr is that number, found once.
func (b calls) syscallNr() *ir.Value {
	if b.syscall != nil {
		return b.syscall
	}
	return b.once("syscall", func() *ir.Value { return b.ownNumber(b.rawNumber(), nil) })
}

// rawNumber is the kernel's number: an argument at the start, read from the registers at the end; the records of exact
// programs have it at both.
func (b calls) rawNumber() *ir.Value {
	if b.prog.Attach.Exact() || b.prog.Attach.Kind() == tree.AttachSyscallEnter {
		return b.Load(8, b.ctx(), 8)
	}
	number := b.Add(registers(b).callRegisters(), b.Arch.Syscall)
	b.Call(helperProbeReadKernel, b.temp(), b.Const(int64(b.Arch.SyscallSize)), number)
	return b.Extend(b.Load(b.Arch.SyscallSize, b.temp(), 0), 8*b.Arch.SyscallSize, true)
}

// syscallFilter ends the program for system calls that it does not cover. First the kernel's number is tested, so that
// most calls are not asked for their interface.
func (b calls) syscallFilter() {
	set := b.covered()
	b.syscall = b.ownNumber(b.rawNumber(), func(raw *ir.Value) {
		if set != nil {
			b.oneOf(raw, b.lowNumbers(set))
		}
	})
	if set != nil {
		b.oneOf(b.syscall, set)
		return
	}
	span, _ := b.span()
	for _, n := range span.Except {
		b.unless(ir.EQ, b.syscall, int64(n), b.ret)
	}
}

// lowNumbers are the kernel's numbers that can be those of set: of ends also what an execve that succeeded ends as.
func (b calls) lowNumbers(set []int) []int {
	if b.mistakesExec() {
		set = slices.Concat(set, b.Arch.ExecEnds)
	}
	var out []int
	for _, n := range set {
		switch {
		case n >= kernel.CompatBase && b.Tree.Compat != nil:
			out = append(out, n-kernel.CompatBase)
		case n < kernel.TableSize:
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// oneOf ends the program unless nr is one of the numbers.
func (b calls) oneOf(nr *ir.Value, set []int) {
	if len(set) <= maxCompared {
		on := b.NewBlock()
		for _, n := range set {
			next := b.NewBlock()
			b.BranchImm(ir.EQ, nr, int64(n), on, next)
			b.Begin(next)
		}
		b.ret()
		b.Begin(on)
		return
	}
	b.unless(ir.UGE, nr, maxSyscall, b.ret)
	words := b.Op(ir.OpAdd, b.constAddr(bitmap(set)), b.Imm(ir.OpShl, b.Imm(ir.OpLShr, nr, 6), 3))
	bit := b.Imm(ir.OpAnd, b.Op(ir.OpLShr, b.Load(8, words, 0), nr), 1)
	b.unless(ir.EQ, bit, 0, b.ret)
}

// ownNumber is startrace's number of a call that has a number in a table of the kernel; the program ends for other
// numbers, and for those that filter ends it for. At the end of rt_sigreturn the number is -1.
func (b calls) ownNumber(raw *ir.Value, filter func(*ir.Value)) *ir.Value {
	j := b.newJoin(types.U64)
	b.unless(ir.UGE, raw, kernel.TableSize, func() { b.farNumber(raw, j) })
	if filter != nil {
		filter(raw)
	}
	if b.Tree.Compat != nil {
		b.unless(ir.NE, b.inCompat(), 0, func() { b.jumpWith(j, intVal(types.U64, b.Add(raw, kernel.CompatBase))) })
	}
	b.jumpWith(j, intVal(types.U64, raw))
	nr := b.enter(j).x
	if b.mistakesExec() {
		return b.execNr(nr)
	}
	return nr
}

// farNumber is ownNumber for what is in no table as it is: a call of x32, or one that arm has for itself.
func (b calls) farNumber(raw *ir.Value, j *join) {
	base, count, own := int64(kernel.X32Bit), int64(kernel.X32Size), int64(0)
	if !b.Arch.X32 {
		base, count, own = kernel.CompatExtras, kernel.Extras, kernel.CompatBase+kernel.TableSize-kernel.Extras
	}
	if b.Tree.Compat == nil && !b.Arch.X32 {
		b.ret()
		return
	}
	nr := b.Op(ir.OpSub, raw, b.Const(base))
	b.unless(ir.UGE, nr, count, b.ret)
	if b.Tree.Compat != nil {
		wrong := ir.EQ // arm's own calls are those of 32-bit programs
		if b.Arch.X32 {
			wrong = ir.NE
		}
		b.unless(wrong, b.inCompat(), 0, b.ret)
	}
	if nr = b.Add(nr, own); b.Arch.X32 && !b.Tree.X32 {
		nr = b.nameInTable(nr) // where there is no x32 it fails as the native call of its name
	}
	b.jumpWith(j, intVal(types.U64, nr))
}

// inCompat is not 0 in a call of the 32-bit interface.
func (b calls) inCompat() *ir.Value {
	task := b.helperOnce("task_raw", helperGetCurrentTask)
	b.Call(helperProbeReadKernel, b.temp(), b.Const(4), b.Add(task, b.Tree.Compat.Offset))
	return b.Imm(ir.OpAnd, b.Load(4, b.temp(), 0), b.Tree.Compat.Mask)
}

// mistakesExec reports whether the program sees ends of calls of execve, which may bear another number than their
// starts.
func (b calls) mistakesExec() bool {
	if b.prog.Attach.Kind() != tree.AttachSyscallExit {
		return false
	}
	span, _ := b.span()
	return span.Syscalls == nil || slices.ContainsFunc(b.Arch.Execs,
		func(n int) bool { return slices.Contains(span.Syscalls, n) })
}

// execNr is the number of the call that ends here. The end of an execve can bear another number than its start. If nr
// is such a number, the entry of the thread says which call is open.
func (b calls) execNr(nr *ir.Value) *ir.Value {
	_, name := b.span()
	j, look := b.newJoin(types.U64), b.newJoin(types.Type{})
	for _, n := range b.Arch.ExecEnds {
		b.unless(ir.EQ, nr, int64(n), func() { b.jump(look) })
	}
	b.jumpWith(j, intVal(types.U64, nr))
	b.enter(look)
	key := b.tidKey()
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	b.release(key)
	b.unless(ir.EQ, p, 0, func() { b.jumpWith(j, intVal(types.U64, nr)) })
	busy := b.Load(8, p, layout.SpanBusy)
	for _, n := range b.Arch.Execs {
		b.unless(ir.EQ, busy, int64(n)+1, func() { b.jumpWith(j, intVal(types.U64, b.Const(int64(n)))) })
	}
	b.jumpWith(j, intVal(types.U64, nr))
	return b.enter(j).x
}

// nameNumber is OpSyscallName: the number that stands for the name of a call, whatever interface it was made by.
func (b calls) nameNumber(nr *ir.Value) *ir.Value {
	j := b.newJoin(types.U64)
	b.unless(ir.UGE, nr, kernel.TableSize, func() {
		if b.Arch.X32 {
			b.unless(ir.ULT, b.Imm(ir.OpSub, nr, kernel.X32Bit), kernel.X32Size, func() {
				at := b.Imm(ir.OpShl, b.Imm(ir.OpAnd, nr, x32Table-1), 2)
				b.jumpWith(j, intVal(types.U64, b.Load(4, b.Op(ir.OpAdd, b.constAddr(x32NameTable()), at), 0)))
			})
		}
		b.unless(ir.UGE, nr, maxSyscall, func() { b.farName(nr, j) })
		b.jumpWith(j, intVal(types.U64, b.nameInTable(nr)))
	})
	b.jumpWith(j, intVal(types.U64, nr))
	return b.enter(j).x
}

// farName is that number of one that is in no table: itself as 32 bits, or that of no call (kernel.CallNumber).
func (b calls) farName(nr *ir.Value, j *join) {
	b.unlessSame(b.Extend(nr, 32, true), nr, func() {
		b.jumpWith(j, intVal(types.U64, b.Const(int64(kernel.CallNumber(kernel.NoCall)))))
	})
	b.jumpWith(j, intVal(types.U64, b.Extend(nr, 32, false)))
}

// nameTable is the number of its name for each number of a call.
var nameTable = sync.OnceValue(func() string {
	var data [2 * maxSyscall]byte
	for n := range maxSyscall {
		binary.LittleEndian.PutUint16(data[2*n:], uint16(kernel.NameNumber(n)))
	}
	return string(data[:])
})

// x32Table is how many numbers x32NameTable has, a power of two.
const x32Table = 1024

// x32NameTable is the number of its name for each number of a call of x32, without the bit that says so. One without a
// name stays what it is, with that bit.
var x32NameTable = sync.OnceValue(func() string {
	var data [4 * x32Table]byte
	for n := range x32Table {
		binary.LittleEndian.PutUint32(data[4*n:], uint32(kernel.NameNumber(n|kernel.X32Bit)))
	}
	return string(data[:])
})

// nameInTable looks up a number below maxSyscall.
func (b calls) nameInTable(nr *ir.Value) *ir.Value {
	at := b.Imm(ir.OpShl, b.Imm(ir.OpAnd, nr, maxSyscall-1), 1)
	return b.Load(2, b.Op(ir.OpAdd, b.constAddr(nameTable()), at), 0)
}

// maxCompared is up to how many numbers are compared one by one; more are
// looked up in a bitmap.
const maxCompared = 3

// bitmap has a bit for each number.
func bitmap(set []int) string {
	var data [maxSyscall / 8]byte
	for _, n := range set {
		if n < maxSyscall {
			data[n/8] |= 1 << (n % 8)
		}
	}
	return string(data[:])
}

// covered are the numbers that concern the program, nil for all. A call that
// never returns has a start only.
func (b calls) covered() []int {
	if b.prog.Tail {
		return b.prog.Numbers()
	}
	span, _ := b.span()
	if span.Syscalls == nil {
		return nil
	}
	out := slices.Clone(span.Syscalls)
	if b.prog.Attach.Kind() == tree.AttachSyscallEnter {
		out = append(out, span.NoReturn...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
