package session

import (
	"fmt"
	"time"
)

// boundScript ends the top level of the script if it takes longer than --duration says the run may: tracing, which has
// that time for itself, would never begin. done is called when the top level has ended.
func (s *session) boundScript() (done func()) {
	if s.Duration == 0 {
		return func() {}
	}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
		case <-time.After(s.Duration):
			s.host.Cancel(fmt.Sprintf("the top level did not end by itself within %v (--duration)", s.Duration))
			s.awaitScript(ended)
			s.host.Resume()
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}

// awaitScript waits until a top level that was told to end has ended, and gives up where it is in a builtin that
// nothing ends.
func (s *session) awaitScript(ended <-chan struct{}) {
	for since := cpuTime(); ; {
		select {
		case <-ended:
			return
		case <-time.After(looks):
		}
		if cpuTime()-since >= unheard {
			s.signals.giveUp("startrace: the top level of the script is in a builtin that cannot be ended, " +
				"for longer than --duration: the run ends")
		}
	}
}
