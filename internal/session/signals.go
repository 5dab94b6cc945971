package session

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/line"
)

// signals are what signals ask of a run, from its beginning to its end: another
// goroutine takes note of them.
type signals struct {
	bell        *bell.Bell
	ending      *ending
	interrupted atomic.Bool // one asked for the end
	hurried     atomic.Bool // a second one asked again
	reading     atomic.Bool // the script is read, for which a pipe can be waited for
	declared    atomic.Bool // the script has run; its callbacks end by themselves
	// came is closed when the first one has come.
	came chan struct{}
	// before is called before the process is ended at once, and say tells why.
	before func()
	say    func(text string)
	// failure is the exit code of a run that failed.
	failure func() int
}

// watch passes signals on: the first ends the run in order, or by cancel a
// script that is still declaring; the second also a callback at once that does not
// end, so that what was counted is printed; the next one ends all at once.
func (s *signals) watch(signals <-chan os.Signal, cancel func()) {
	go func() {
		for n := 0; ; n++ {
			if _, open := <-signals; !open {
				return
			}
			s.interrupted.Store(true)
			if n == 0 {
				close(s.came)
			}
			switch declared := s.declared.Load(); {
			case n > 1 || n > 0 && !declared || s.reading.Load():
				s.abort()
			case n > 0:
				s.hurried.Store(true)
				cancel()
			case !declared:
				cancel()
			default:
				s.ending.ask(true)
			}
			s.bell.Ring()
		}
	}()
}

// groupWait is how long a signal to the process group may take to be noticed here, after it has ended the command.
const groupWait = 100 * time.Millisecond

// endedWithGroup reports whether what ended a command, which has this exit status, has come here, too: ^C at a
// terminal goes to both at once, and the end of the command may be noticed first. The run is then one that was
// interrupted, whichever it was.
func (s *signals) endedWithGroup(status int) bool {
	switch unix.Signal(status - 128) {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT:
	default:
		return false
	}
	select {
	case <-s.came:
		return true
	case <-time.After(groupWait):
		return false
	}
}

// giveUp ends the process while something runs that nothing ends, as a builtin function that makes text of a value
// which is nested without bound. What the script has counted is lost with it.
func (s *signals) giveUp(what string) {
	s.say(what)
	s.abort()
}

// abort ends the process at once.
func (s *signals) abort() {
	s.before()
	os.Exit(s.failure())
}

// sayAtTerminal tells who waits at a terminal why. Any goroutine may call it.
func (s *session) sayAtTerminal(text string) {
	if s.dialogue == nil && line.IsTerminal(s.Stderr) {
		s.messages.Sayf("%s", text)
	}
}
