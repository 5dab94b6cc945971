package script

import (
	"context"
	"sync"

	"go.starlark.net/starlark"
)

// A going is whether the script may go on: its functions ask at each step, and builtins that wait wait no longer than
// it may.
type going struct {
	thread *starlark.Thread

	mu  sync.Mutex
	ctx context.Context // done from stop to resume
	end context.CancelFunc
}

func newGoing(thread *starlark.Thread) *going {
	g := &going{thread: thread}
	g.ctx, g.end = context.WithCancel(context.Background())
	return g
}

// context is done once the script is stopped.
func (g *going) context() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ctx
}

// stop ends the script at its next step, and what it waits for now.
func (g *going) stop(reason string) {
	g.thread.Cancel(reason)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end()
}

// resume lets the script run again.
func (g *going) resume() {
	g.thread.Uncancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		g.ctx, g.end = context.WithCancel(context.Background())
	}
}
