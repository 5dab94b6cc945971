package until

import (
	"errors"
	"testing"
)

func TestPollLeavesTheWalk(t *testing.T) {
	over := errors.New("nobody wants it")
	steps := 0
	var walk func(Stop, int)
	walk = func(s Stop, depth int) {
		s.Poll()
		if steps++; depth > 0 {
			walk(s, depth-1)
		}
	}
	run := func(s Stop) (err error) {
		defer End(&err)
		steps = 0
		walk(s, 9)
		return nil
	}
	if err := run(nil); err != nil || steps != 10 {
		t.Errorf("a walk that nobody ends: %v after %d steps, want 10", err, steps)
	}
	if err := run(func() error {
		if steps == 4 {
			return over
		}
		return nil
	}); !errors.Is(err, over) || steps != 4 {
		t.Errorf("a walk that ends after 4 steps: %v after %d", err, steps)
	}
}

func TestEndPassesOtherPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "a defect" {
			t.Errorf("%v came out, want the panic itself", p)
		}
	}()
	var err error
	defer End(&err)
	panic("a defect")
}
