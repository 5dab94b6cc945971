package session

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/stream"
)

// outside is what other goroutines tell the one that runs the script.
type outside struct {
	interrupted atomic.Bool // a signal asked for the end
	hurried     atomic.Bool // a second one asked again
	childEnded  atomic.Bool
	targetEnded atomic.Bool  // the process of -p
	childStatus atomic.Int32 // as shells have it, once it has ended
	declared    atomic.Bool  // the script has run; its callbacks end by themselves

	running atomic.Pointer[procs.Child] // the command of -c once it runs

	mu     sync.Mutex
	reader *stream.Reader // what wait sleeps on once there is a ring
	bell   chan struct{}  // before, and where there is none
}

func newOutside() *outside { return &outside{bell: make(chan struct{}, 1)} }

// wake ends the current wait, or the next one.
func (o *outside) wake() {
	select {
	case o.bell <- struct{}{}:
	default:
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reader != nil {
		// If it fails the drain interval ends the wait.
		_ = o.reader.Wake()
	}
}

// setReader lets waits sleep on a ring; nil before the reader is closed.
func (o *outside) setReader(r *stream.Reader) {
	o.mu.Lock()
	o.reader = r
	o.mu.Unlock()
}

// abort ends the process at once. The command, which was started for the run,
// is told to end too.
func (o *outside) abort() {
	if c := o.running.Load(); c != nil && !o.childEnded.Load() {
		_ = c.Signal(unix.SIGTERM) // there is nobody left to tell
	}
	os.Exit(Failed)
}

// wait sleeps until wake, a wake-up that a program forced, or the time.
func (o *outside) wait(d time.Duration) error {
	if o.reader != nil { // written by this goroutine only
		if d > stream.DrainInterval {
			d = stream.DrainInterval
		}
		return o.reader.Wait(d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-o.bell:
	case <-t.C:
	}
	return nil
}

// watch passes signals on: the first ends the run in order, or by cancel a
// script that is still declaring; the second also a callback that does not end,
// so that what was counted is printed; the next one ends all at once.
func (o *outside) watch(signals <-chan os.Signal, cancel func()) {
	go func() {
		for n := 0; ; n++ {
			if _, open := <-signals; !open {
				return
			}
			o.interrupted.Store(true)
			switch declared := o.declared.Load(); {
			case n > 1 || n > 0 && !declared:
				o.abort()
			case n > 0:
				o.hurried.Store(true)
				cancel()
			case !declared:
				cancel()
			}
			o.wake()
		}
	}()
}

// await waits until the command has ended. Its exit status is not that of
// the run.
func (o *outside) await(c *procs.Child) {
	o.running.Store(c)
	go func() {
		if status, err := c.Wait(); err == nil {
			o.childStatus.Store(int32(status))
		}
		o.childEnded.Store(true)
		o.wake()
	}()
}
