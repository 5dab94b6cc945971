package session

import (
	"bytes"
	"testing"
)

// A signal that comes while probes are made ends the run, and the run says why there is no output.
func TestInterruptedWhileLoading(t *testing.T) {
	var out bytes.Buffer
	s := declaredSession(t, &out, "n = count()", "probe('rawtracepoint:sys_enter', kernel = lambda e: n[e.pid].add())")
	s.interrupted.Store(true)
	exit, err := s.finish(s.trace())
	if want := "interrupted before all probes were attached"; exit != Failed || err == nil || err.Error() != want {
		t.Errorf("exit %d, %v; want %q", exit, err, want)
	}
	if out.Len() > 0 || s.loaded != nil {
		t.Errorf("it went on: %s", &out)
	}
}
