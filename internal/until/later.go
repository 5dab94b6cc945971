package until

import (
	"runtime/debug"
	"sync"
)

// A value that is computed beside the run, waited for a while.

// A Wait is how long others wait for what is computed beside them: until End, and again from Renew on. The zero value
// waits, and so does nil. It is safe for concurrent use.
type Wait struct {
	mu sync.Mutex
	// over is closed by End. It is nil as long as nobody has asked for it since Renew.
	over chan struct{}
	// ended is set from End to Renew.
	ended bool
}

// End ends all that waits, and lets nobody wait any more.
func (w *Wait) End() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended && w.over != nil {
		close(w.over)
	}
	w.ended = true
}

// Renew lets others wait again.
func (w *Wait) Renew() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		w.ended, w.over = false, nil
	}
}

// ends gives what is closed once the wait is over; nil never is.
func (w *Wait) ends() <-chan struct{} {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over == nil {
		w.over = make(chan struct{})
		if w.ended {
			close(w.over)
		}
	}
	return w.over
}

// A Later is a value that is computed on a goroutine of its own, so that nobody has to wait for it.
type Later[T any] struct {
	done     chan struct{}
	value    T
	panicked any
}

// Compute begins to compute a value.
func Compute[T any](compute func() T) *Later[T] {
	l := &Later[T]{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		defer func() {
			if p := recover(); p != nil {
				l.panicked = &Panic{p, debug.Stack()}
			}
		}()
		l.value = compute()
	}()
	return l
}

// Value waits for the value; not ok, it was not there when the wait was over. What has panicked panics here.
func (l *Later[T]) Value(w *Wait) (value T, ok bool) {
	select {
	case <-l.done: // also where the wait is over
	default:
		select {
		case <-l.done:
		case <-w.ends():
			return value, false
		}
	}
	if l.panicked != nil {
		panic(l.panicked)
	}
	return l.value, true
}

// A Panic is one of another goroutine.
type Panic struct {
	// What is its value.
	What any
	// Stack is the stack of that goroutine, as runtime/debug prints it.
	Stack []byte
}
