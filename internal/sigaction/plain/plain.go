// Package plain makes signals at which the runtime of Go prints all goroutines end the process without a word, as they
// end other programs, until they are caught.
//
// That is so from the initialization of this package on. It imports little and so comes before nearly all others, which
// take some milliseconds.
package plain

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/startrace/startrace/internal/sigaction"
)

// Signals at which Go prints all goroutines end the process plainly.

// runtimes is what the runtime does at the signals.
var runtimes = map[syscall.Signal]sigaction.Action{}

func init() {
	for _, s := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
		if now, ok := sigaction.Of(s); ok && now.Caught() {
			runtimes[s] = now
			sigaction.Set(s, sigaction.Action{})
		}
	}
}

// Notify makes signals be sent to a channel (signal.Notify).
func Notify(to chan<- os.Signal, signals ...os.Signal) {
	signal.Notify(to, signals...)
	for _, s := range signals { // the runtime takes it that what it set is there
		if number, is := s.(syscall.Signal); is {
			if action, ok := runtimes[number]; ok {
				sigaction.Set(number, action)
			}
		}
	}
}
