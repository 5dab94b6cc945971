package session

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/timers"
)

// A signal that comes while probes are made ends the run, and the run says why there is no output.
func TestInterruptedWhileLoading(t *testing.T) {
	var out bytes.Buffer
	s, p := declaredSession(t, &out, "n = count()",
		"probe('rawtracepoint:sys_enter', kernel = lambda e: n[e.pid].add())")
	s.interrupted.Store(true)
	exit, err := s.finish(s.trace(p))
	if want := "interrupted before all probes were attached"; exit != Failed || err == nil || err.Error() != want {
		t.Errorf("exit %d, %v; want %q", exit, err, want)
	}
	if out.Len() > 0 || p.Loaded != nil {
		t.Errorf("it went on: %s", &out)
	}
}

// A callback that does not end keeps a run from its end; a second signal ends the
// callback, with its place, and what comes after it is done.
func TestInterruptedCallback(t *testing.T) {
	var out, messages bytes.Buffer
	s, running := interruptedTwice(t, &out, &messages)
	endless := s.calls.AtExit[0]
	s.calls.AtExit = s.calls.AtExit[1:]
	s.timers.Add(&timers.Timer{Call: func(uint64) { close(running); s.calls.Call(endless, s.calls.OfTimers) }})
	exit, err := s.finish(s.trace(s.whole()))
	if exit != Failed || err != nil || out.String() != "counted\n" {
		t.Errorf("exit %d, %v, output %q", exit, err, &out)
	}
	if want := "startrace: timer: -e:1:"; !strings.HasPrefix(messages.String(), want) ||
		!strings.Contains(messages.String(), ": interrupted\n") {
		t.Errorf("messages %q, want the place of the loop", &messages)
	}
}

// The same of at_exit: those behind the one that does not end run.
func TestInterruptedAtExit(t *testing.T) {
	var out, messages bytes.Buffer
	s, running := interruptedTwice(t, &out, &messages)
	endless := s.calls.AtExit[0]
	s.calls.AtExit[0] = starlark.NewBuiltin("endless", func(th *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		close(running)
		return starlark.Call(th, endless, nil, nil)
	})
	runtime{s}.Exit(0)
	exit, err := s.finish(s.trace(s.whole()))
	if exit != Failed || err != nil || out.String() != "counted\n" ||
		!strings.Contains(messages.String(), ": interrupted") {
		t.Errorf("exit %d, %v, output %q, messages %q", exit, err, &out, &messages)
	}
}

// interruptedTwice is a session whose first function of at_exit does not end, and whose second prints "counted". Two
// signals come when running is closed.
func interruptedTwice(t *testing.T, out, messages *bytes.Buffer) (s *session, running chan bool) {
	t.Helper()
	signals, running := make(chan os.Signal), make(chan bool)
	o := Options{Stdout: out, Stderr: messages, Signals: signals}
	o.Code = []string{forever, "at_exit(lambda: print('counted'))"}
	s = declared(t, o)
	go func() {
		<-running
		signals <- unix.SIGINT
		signals <- unix.SIGINT
	}()
	return s, running
}

// What takes long is explained while it goes on, what does not is not.
func TestPatiently(t *testing.T) {
	why := make(chan bool)
	patiently(0, func() { <-why }, func() { why <- true })
	patiently(time.Hour, func() {}, func() { t.Error("explained") })
}

// A signal that comes while a script is compiled ends the run at once, however long that would take.
func TestInterruptedWhileCompiling(t *testing.T) {
	var out bytes.Buffer
	s, _ := declaredSession(t, &out, "n = count()",
		"probe('rawtracepoint:sys_enter', kernel = lambda e: n[e.pid].add())")
	signals, compiling, never := make(chan os.Signal), make(chan bool), make(chan bool)
	defer close(never)
	s.watch(signals, func() {})
	go func() {
		<-compiling
		signals <- unix.SIGTERM
	}()
	err := s.aside(func() error {
		close(compiling)
		<-never
		return nil
	})
	if want := "interrupted before all probes were attached"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// A panic of the compiler is reported as a bug, with its own stack.
func TestPanicAside(t *testing.T) {
	var out bytes.Buffer
	s, _ := declaredSession(t, &out, "n = count()")
	run := func() (exit int, err error) {
		defer Guard(&s.Options, &exit, &err)
		return 0, s.aside(func() error { panic("broken") })
	}
	_, err := run()
	bug, ok := err.(*mistake.Bug)
	if !ok || bug.What != "broken" || !strings.Contains(string(bug.Stack), "TestPanicAside") {
		t.Errorf("%v", err)
	}
}

// A signal to the whole group may be noticed after the end of the command that it caused.
func TestEndedWithGroup(t *testing.T) {
	const interrupted = 128 + int(unix.SIGINT)
	signals := make(chan os.Signal, 1)
	s := newSession(Options{Stdout: io.Discard, Stderr: io.Discard})
	defer s.close()
	s.watch(signals, func() {})
	if s.endedWithGroup(interrupted) {
		t.Error("a signal that did not come here counts")
	}
	signals <- unix.SIGINT
	for status, want := range map[int]bool{0: false, 3: false, 128 + int(unix.SIGKILL): false, interrupted: true} {
		if got := s.endedWithGroup(status); got != want {
			t.Errorf("status %d: %v, want %v", status, got, want)
		}
	}
}
