package until

import (
	"testing"
	"time"
)

// Nobody waits for a value once the wait is over, and who asks again gets it when it is there.
func TestValueWaitsUntilTheEnd(t *testing.T) {
	release := make(chan struct{})
	later := Compute(func() int { <-release; return 7 })
	var w Wait
	time.AfterFunc(time.Millisecond, w.End)
	if v, ok := later.Value(&w); ok {
		t.Errorf("got %d of what is still computed", v)
	}
	if v, ok := later.Value(&w); ok {
		t.Errorf("after the end: got %d of what is still computed", v)
	}
	w.Renew()
	close(release)
	if v, ok := later.Value(&w); !ok || v != 7 {
		t.Errorf("got %d, %v, want 7", v, ok)
	}
	w.End()
	if v, ok := later.Value(&w); !ok || v != 7 {
		t.Errorf("what is there after the end: got %d, %v, want 7", v, ok)
	}
	if v, ok := later.Value(nil); !ok || v != 7 {
		t.Errorf("without an end: got %d, %v, want 7", v, ok)
	}
}

// A defect comes out where the value is wanted.
func TestValuePassesPanics(t *testing.T) {
	later := Compute(func() int { panic("a defect") })
	defer func() {
		if p, ok := recover().(*Panic); !ok || p.What != "a defect" || len(p.Stack) == 0 {
			t.Errorf("%v came out, want the panic itself", p)
		}
	}()
	later.Value(nil)
}
