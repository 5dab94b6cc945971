package script

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"go.starlark.net/starlark"
)

// Whether the script may go on: how it is ended while it computes or waits.

// A going is whether the script may go on: its functions ask at each step, and builtins that wait wait no longer than
// it may.
type going struct {
	thread *starlark.Thread

	// calls counts the calls that have begun. running is the number of the one that runs, 0 for none.
	calls   uint64
	running atomic.Uint64
	// waiting: a builtin waits for something outside.
	waiting atomic.Bool

	mu     sync.Mutex
	ctx    context.Context // done from stop to resume
	cancel context.CancelFunc
	reason string // of the last stop
}

func newGoing(thread *starlark.Thread) *going {
	g := &going{thread: thread}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// wait says that a builtin waits, until done is called. ctx is done once the script is stopped.
func (g *going) wait() (ctx context.Context, done func()) {
	g.waiting.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ctx, func() { g.waiting.Store(false) }
}

// stop ends the script at its next step, and what it waits for now.
func (g *going) stop(reason string) {
	g.thread.Cancel(reason)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reason = reason
	g.cancel()
}

// stopped is an error from stop to resume, for builtins that take long.
func (g *going) stopped() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() == nil {
		return nil
	}
	return errors.New(g.reason)
}

// begin and end are called at both ends of a call, which may be within another one: before is what ran then.
func (g *going) begin() (before uint64) {
	g.calls++
	return g.running.Swap(g.calls)
}

func (g *going) end(before uint64) { g.running.Store(before) }

// resume lets the script run again.
func (g *going) resume() {
	g.thread.Uncancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		g.ctx, g.cancel = context.WithCancel(context.Background())
	}
}
