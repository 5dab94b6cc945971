package bell

import (
	"testing"
	"time"
)

// A ring ends the wait that is going on, or the next one; without one a wait ends by itself.
func TestRing(t *testing.T) {
	b := New()
	b.Ring()
	b.Ring() // of two before a wait one is heard
	if err := b.Wait(time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := b.Wait(0); err != nil {
		t.Fatal(err)
	}
	go b.Ring()
	if err := b.Wait(time.Hour); err != nil {
		t.Fatal(err)
	}
	go b.Ring()
	<-b.Rung()
}
