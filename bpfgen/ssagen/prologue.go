package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// What ends a program first, for events that do not concern it.

// prologue ends the program for events that do not concern it, the cheapest
// test first, then reads what the handler needs in several places.
func (b calls) prologue() {
	if b.prog.Tail {
		if b.isSyscall() {
			b.syscall = b.ownNumber(b.rawNumber(), nil) // before the entry is taken
		}
		builtins(b).hoist()
		return
	}
	target := b.Tree.Target
	if b.prog.Attach.Kind() == tree.AttachInterval {
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
	builtins(b).hoist()
}
