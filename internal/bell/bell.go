// Package bell wakes the one goroutine of a run, which sleeps until programs have
// sent something, another goroutine has news, or time is over.
package bell

import (
	"sync"
	"time"

	"github.com/startrace/startrace/internal/stream"
)

// Bell wakes the goroutine of a run: by a ring, by news, after a time.

// A Bell is there for a whole run. Ring is for any goroutine, the rest for that of
// the run.
type Bell struct {
	mu     sync.Mutex
	reader *stream.Reader // what waits sleep on once there is a ring
	rung   chan struct{}  // before, and where there is none
}

// New makes a bell.
func New() *Bell { return &Bell{rung: make(chan struct{}, 1)} }

// Ring ends the current wait, or the next one.
func (b *Bell) Ring() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reader != nil {
		// If it fails the drain interval ends the wait.
		_ = b.reader.Wake()
	}
}

// Rung gives a value for the rings before there is a ring of programs.
func (b *Bell) Rung() <-chan struct{} { return b.rung }

// Reader is the ring that waits sleep on, nil for none.
func (b *Bell) Reader() *stream.Reader { return b.reader } // written by this goroutine only

// SetReader lets waits sleep on a ring; nil before the reader is closed.
func (b *Bell) SetReader(r *stream.Reader) {
	b.mu.Lock()
	b.reader = r
	b.mu.Unlock()
}

// Wait sleeps until Ring, a wake-up that a program forced, or the time.
func (b *Bell) Wait(d time.Duration) error {
	if b.reader != nil {
		return b.reader.Wait(min(d, stream.DrainInterval))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.rung:
	case <-t.C:
	}
	return nil
}
