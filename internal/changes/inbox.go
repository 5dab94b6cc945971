package changes

import (
	"sync"

	"github.com/startrace/startrace/internal/bell"
)

// What is heard on other goroutines waits until the run takes it.

// An inbox keeps what is heard until the goroutine of the run takes it.
type inbox[T any] struct {
	bell *bell.Bell // wakes that goroutine

	mu   sync.Mutex
	kept []T
}

// fill runs in a goroutine of its own, until there is nothing to be heard any more.
func (b *inbox[T]) fill(next func() (T, error)) {
	for {
		heard, err := next()
		if err != nil {
			return
		}
		b.mu.Lock()
		b.kept = append(b.kept, heard)
		b.mu.Unlock()
		b.bell.Ring()
	}
}

// take gives what was heard since the last call.
func (b *inbox[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.kept
	b.kept = nil
	return out
}
