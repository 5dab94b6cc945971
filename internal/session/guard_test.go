package session

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/wire"
)

func TestGuard(t *testing.T) {
	var stderr bytes.Buffer
	o := Options{Stderr: &stderr}
	o.Verbose = true
	run := func() (exit int, err error) {
		defer Guard(&o, &exit, &err)
		panic("broken")
	}
	exit, err := run()
	if exit != Failed || err == nil || !strings.Contains(err.Error(), "internal error: broken") {
		t.Errorf("a panic gave exit %d, error %v", exit, err)
	}
	if !strings.Contains(stderr.String(), "TestGuard") {
		t.Errorf("-v does not show where: %s", stderr.String())
	}
}

// A panic in what was typed is a message; the prompt goes on.
func TestLiveGuard(t *testing.T) {
	l := NewLive(Options{Stderr: io.Discard}, func() bool { return false })
	inside := starlark.NewBuiltin("handler", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple,
		[]starlark.Tuple) (starlark.Value, error) {
		err := l.Guarded(func() error { panic("broken") })
		var bug *mistake.Bug
		if !errors.As(err, &bug) || l.InCallback() {
			t.Errorf("got %v, in a callback: %v", err, l.InCallback())
		}
		return starlark.None, nil
	})
	l.s.delivery.Add(&wire.Record{FixedSize: wire.HeaderSize}, "test", inside, l.s.calls.Count("handler of test"))
	l.s.delivery.Take(&parts.Part{}, make([]byte, wire.HeaderSize))
	if l.s.delivery.Flush(0); l.s.delivery.Sent(0) != 1 {
		t.Error("the handler was not called")
	}
}

// A panic in a callback costs neither the callbacks behind it nor the tables.
func TestCallbackGuard(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{"n = count()", "n.add()", "at_exit(lambda: print('behind'))"}
	s := newSession(o)
	t.Cleanup(s.close)
	args, err := s.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.runScript(args); err != nil {
		t.Fatal(err)
	}
	broken := starlark.NewBuiltin("broken", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple,
		[]starlark.Tuple) (starlark.Value, error) {
		panic("broken")
	})
	s.calls.AtExit = slices.Insert(s.calls.AtExit, 0, starlark.Callable(broken))
	exit, err := s.finish(s.trace(s.whole()))
	if exit != Failed || err != nil || out.String() != "behind\nn: 1\n" {
		t.Errorf("exit %d, %v, output %q", exit, err, &out)
	}
	if want := "startrace: at_exit: internal error: broken"; !strings.HasPrefix(messages.String(), want) {
		t.Errorf("got %s\nwant %s", &messages, want)
	}
}
