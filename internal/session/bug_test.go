package session

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	var stderr bytes.Buffer
	o := Options{Stderr: &stderr}
	o.Verbose = true
	run := func() (exit int, err error) {
		defer guard(o, &exit, &err)
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
	l := &Live{s: &session{Options: Options{Stderr: io.Discard}}}
	l.s.inEvent = true
	err := l.Guarded(func() error { panic("broken") })
	var bug *BugError
	if !errors.As(err, &bug) || l.s.inEvent {
		t.Errorf("got %v, in an event: %v", err, l.s.inEvent)
	}
}
