package session

import (
	"fmt"
	"time"

	"github.com/startrace/startrace/internal/ending"
	"github.com/startrace/startrace/starlark/script"
)

// How long the top level of a script may take (--duration), and the message when it takes longer.

// leastForScript is what the top level may take in any case: the short runs are those of slow machines, too.
const leastForScript = 10 * time.Second

// boundScript ends the top level of the script if it takes longer than --duration says the run may: tracing, which has
// that time for itself, would never begin. done is called when the top level has ended.
func boundScript(host *script.Host, most time.Duration, s *signals) (done func()) {
	if most == 0 {
		return func() {}
	}
	most = max(most, leastForScript)
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
		case <-time.After(most):
			host.Cancel(fmt.Sprintf("the top level did not end by itself within %v (--duration)", most))
			s.awaitScript(ended, "for longer than --duration")
			host.Resume()
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}

// mostForLooking is what the top level may take where nothing is traced behind it, unless --duration says another time.
const mostForLooking = time.Minute

// runLooking is runScript for who looks at a script: one that does not end is ended.
func runLooking(s *session, args []string) (ended bool, err error) {
	most := s.Duration
	if most == 0 {
		most = mostForLooking
	}
	defer boundScript(s.host, most, s.signals)()
	return s.runScript(args)
}

// awaitScript waits until a top level that was told to end has ended, and gives up where it is in a builtin that
// nothing ends. when says since when.
func (s *signals) awaitScript(ended <-chan struct{}, when string) {
	if !ending.Heard(ended) {
		s.giveUp("startrace: the top level of the script is in a builtin that cannot be ended, " + when +
			": the run ends")
	}
}
