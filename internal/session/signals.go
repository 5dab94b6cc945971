package session

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/ending"
	"github.com/startrace/startrace/internal/line"
)

// Ctrl-C and other signals: what they ask of a run.

// signals are what signals ask of a run, from its beginning to its end: another
// goroutine takes note of them.
type signals struct {
	// bell wakes the goroutine of the run.
	bell *bell.Bell
	// ending is told that the end is wanted.
	ending *ending.Ending
	// interrupted is set once a first signal has asked for the end.
	interrupted atomic.Bool
	// hurried is set once a second one has asked again, after declared.
	hurried atomic.Bool
	// reading is set while the script is read, which may be a pipe that waits. Then the first signal ends the process.
	reading atomic.Bool
	// declared is closed once the top level of the script has run. Before, a signal ends the script.
	declared chan struct{}
	// came is closed when the first signal has come.
	came chan struct{}
	// before is called before the process is ended at once.
	before func()
	// say tells the user why it is.
	say func(text string)
	// failure is the exit code of a run that failed.
	failure func() int
}

// watch passes signals on. The first ends the run in order. The second also ends the callback that runs, by cancel, so
// that what was counted is printed. The third ends the process. While the script is still declaring, the first ends the
// script by cancel, and the second the process.
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
			switch declared := s.isDeclared(); {
			case n > 1 || n > 0 && !declared || s.reading.Load():
				s.abort()
			case n > 0:
				s.hurried.Store(true)
				cancel()
			case !declared:
				cancel()
				go s.awaitScript(s.declared, "after the signal")
			default:
				s.ending.Ask(true)
			}
			s.bell.Ring()
		}
	}()
}

func (s *signals) isDeclared() bool {
	select {
	case <-s.declared:
		return true
	default:
		return false
	}
}

// groupWait is how long a signal to the process group may take to be noticed here, after it has ended the command.
const groupWait = 100 * time.Millisecond

// endedWithGroup reports whether what ended a command, which has this exit status, has come here, too: ^C at a
// terminal goes to both at once, and the end of the command may be noticed first. The run is then one that was
// interrupted, whichever it was.
func (s *signals) endedWithGroup(status int) bool {
	switch unix.Signal(status - 128) {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGABRT:
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
