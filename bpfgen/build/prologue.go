package build

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

func (b *builder) isSyscall() bool {
	k := b.prog.Attach.Kind
	return k == tree.AttachSyscallEnter || k == tree.AttachSyscallExit
}

// prologue ends the program for events that do not concern it, the cheapest
// test first, then reads what the handler needs in several places.
func (b *builder) prologue() {
	if b.prog.Tail {
		if b.mistakesExec() {
			b.syscall = b.syscallNr() // before the entry is taken
		}
		b.hoist()
		return
	}
	target := b.Tree.Target
	if b.prog.Attach.Kind == tree.AttachInterval {
		target.PID, target.Self = 0, 0 // a clock is nobody's event
	}
	if target.PID > 0 {
		b.unless(ir.NE, b.tgid(), int64(target.PID), b.ret)
	}
	if b.isSyscall() {
		b.syscallFilter()
	}
	if target.Self > 0 && target.PID == 0 {
		b.unless(ir.EQ, b.tgid(), int64(target.Self), b.ret)
	}
	b.hoist()
}

// mistakesExec reports whether the program sees ends of execveat under another
// number.
func (b *builder) mistakesExec() bool {
	if b.prog.Attach.Kind != tree.AttachSyscallExit || b.Arch.Execveat == 0 {
		return false
	}
	span, _ := b.span()
	return span.Syscalls == nil || slices.Contains(span.Syscalls, b.Arch.Execveat)
}

// execNr is nr, or that of execveat if nr is that of execve and the thread's
// entry is open for an execveat.
func (b *builder) execNr(nr *ir.Value) *ir.Value {
	_, name := b.span()
	j := b.newJoin(types.U64)
	b.unless(ir.EQ, nr, int64(b.Arch.Execve), func() {
		key := b.tidKey()
		p := b.call(helperMapLookup, b.mapPtr(name), b.addr(key, 0))
		b.release(key)
		b.unless(ir.EQ, p, 0, func() { b.jumpWith(j, intVal(types.U64, nr)) })
		b.unless(ir.EQ, b.load(8, p, layout.SpanBusy), int64(b.Arch.Execveat)+1, func() {
			b.jumpWith(j, intVal(types.U64, b.konst(int64(b.Arch.Execveat))))
		})
		b.jumpWith(j, intVal(types.U64, nr))
	})
	b.jumpWith(j, intVal(types.U64, nr))
	return b.enter(j).x
}

// maxCompared is up to how many numbers are compared one by one; more are
// looked up in a bitmap.
const maxCompared = 3

// maxSyscall bounds the bitmap. Numbers beyond it are not native calls.
const maxSyscall = 512

// covered are the numbers that concern the program, nil for all. A call that
// never returns has a start only.
func (b *builder) covered() []int {
	if b.prog.Tail {
		return b.prog.Numbers()
	}
	span, _ := b.span()
	if span.Syscalls == nil {
		return nil
	}
	out := slices.Clone(span.Syscalls)
	if b.prog.Attach.Kind == tree.AttachSyscallEnter {
		out = append(append(out, span.NoReturn...), span.Compat...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// syscallFilter ends the program for system calls that it does not cover.
func (b *builder) syscallFilter() {
	nr := b.syscallNr()
	b.syscall = nr
	set := b.covered()
	switch {
	case set == nil: // at the end of rt_sigreturn the number is -1
		b.unless(ir.UGE, nr, maxSyscall, b.ret)
	case len(set) <= maxCompared:
		on := b.f.NewBlock()
		for _, n := range set {
			next := b.f.NewBlock()
			b.branchImm(ir.EQ, nr, int64(n), on, next)
			b.begin(next)
		}
		b.ret()
		b.begin(on)
	default:
		b.unless(ir.UGE, nr, maxSyscall, b.ret)
		words := b.op(ir.OpAdd, b.constAddr(bitmap(set)), b.imm(ir.OpShl, b.imm(ir.OpLShr, nr, 6), 3))
		bit := b.imm(ir.OpAnd, b.op(ir.OpLShr, b.load(8, words, 0), nr), 1)
		b.unless(ir.EQ, bit, 0, b.ret)
	}
}

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
