package procs

import (
	"syscall"

	"github.com/startrace/startrace/internal/sigaction"
)

// Signals get their default action in a child.

// leaveSignals gives all signals that are caught their default action. Go
// catches nearly all, and ends by a signal in steps on the thread that got it;
// if another thread executes the command meanwhile, that thread goes, and the
// signal with it. By default the kernel ends the process when the signal is
// sent. What is ignored stays so: it is the command's to inherit.
func leaveSignals() {
	for n := syscall.Signal(1); n <= sigaction.Last; n++ {
		if now, ok := sigaction.Of(n); ok && now.Caught() {
			sigaction.Set(n, sigaction.Action{})
		}
	}
}
