package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/timers"
)

// No result is lost where the symbols of the kernel are not read before the end: it is printed with addresses.
func TestResultsDoNotWaitForSymbols(t *testing.T) {
	for _, print := range []string{"at_exit(%)", "every('1h', %)"} {
		var out, messages bytes.Buffer
		o := Options{Stdout: &out, Stderr: &messages}
		o.Code = []string{strings.ReplaceAll(print, "%", "lambda: print(ksym(0xffffffff81000000))")}
		o.Drain = time.Hour
		s := declared(t, o)
		release := make(chan struct{})
		s.loaded.frames.Kernel.Open = func() (*kernel.Symbols, error) {
			s.naming.End()
			<-release
			return &kernel.Symbols{}, nil
		}
		s.timers.Add(&timers.Timer{Call: func(uint64) {
			s.timeUp = true
			s.ending.Ask(true)
		}})
		exit, err := s.finish(s.trace(s.whole()))
		close(release)
		if exit != Done || err != nil || out.String() != "0xffffffff81000000\n" ||
			!strings.Contains(messages.String(), "so their addresses are shown") {
			t.Errorf("%s: exit %d, %v, output %q, messages %q", print, exit, err, &out, &messages)
		}
	}
}
