package build

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

func (b *builder) isSyscall() bool {
	k := b.prog.Attach.Kind
	return k == tree.AttachSyscallEnter || k == tree.AttachSyscallExit
}

// prologue ends the program for events that do not concern it, the cheapest
// test first, then reads what the handler needs in several places.
func (b *builder) prologue() {
	if b.prog.Tail {
		if b.isSyscall() {
			b.syscall = b.ownNumber(b.rawNumber(), nil) // before the entry is taken
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

// maxCompared is up to how many numbers are compared one by one; more are
// looked up in a bitmap.
const maxCompared = 3

// maxSyscall bounds the bitmap.
const maxSyscall = kernel.MaxSyscall

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
		out = append(out, span.NoReturn...)
	}
	slices.Sort(out)
	return slices.Compact(out)
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
