package attach

import (
	"errors"
	"slices"
	"sync"

	"github.com/startrace/startrace/internal/bpf"
)

// pointKind says how a point is stopped and how long that takes.
type pointKind uint8

const (
	rawPoint      pointKind = iota // closing detaches, at once
	clockPoint                     // can be stopped apart from closing
	probePoint                     // closing detaches and waits for programs that run
	countingPoint                  // the same, and it counts what it missed (bpf.Missed)
	tracePoint                     // closing detaches but waits for RCU
	returnPoint                    // the same, and then its event is to be removed
)

// A spot is where a program is attached.
type spot struct {
	link  bpf.Link // keeps it attached; a *bpf.PerfEvent, if of clockPoint
	kind  pointKind
	event string // of returnPoint, in tracefs
	// module has the function, "" for the kernel proper and programs.
	module string
}

// stop ends the delivery of events as far as that is possible without closing.
// Disabling the perf event of a tracepoint would not keep its program from
// running. An error means that the event is dead already.
func (p spot) stop() {
	if event, ok := p.link.(*bpf.PerfEvent); ok && p.kind == clockPoint {
		_ = event.Stop()
	}
}

// closings bounds how many threads wait in close(2) at a time: a pattern can
// have put up thousands of probes.
const closings = 64

// A closer releases points, in the background or at once.
type closer struct {
	wg   sync.WaitGroup
	free chan struct{} // has room for each closing that goes on
	mu   sync.Mutex
	errs []error
}

func (c *closer) later(release func() error) {
	if c.free == nil {
		c.free = make(chan struct{}, closings)
	}
	free := c.free
	c.wg.Go(func() {
		free <- struct{}{}
		c.keep(release())
		<-free
	})
}

func (c *closer) keep(err error) {
	if err != nil {
		c.mu.Lock()
		c.errs = append(c.errs, err)
		c.mu.Unlock()
	}
}

// settle waits for all closing to end. What went wrong is for wait.
func (c *closer) settle() { c.wg.Wait() }

// wait waits for all closing to end and gives the errors since the last wait.
func (c *closer) wait() error {
	c.wg.Wait()
	err := errors.Join(c.errs...)
	c.errs = nil
	return err
}

// DetachProbe detaches the programs of one probe. They stay loaded, and
// AttachProbe attaches them again.
func (l *Loaded) DetachProbe(probe int) {
	l.detach(l.selected(func(p *program) bool { return p.Probe == probe }))
}

// Attached reports whether a probe has programs that run.
func (l *Loaded) Attached(probe int) bool {
	for _, p := range l.programs {
		if p.Probe == probe && len(p.points) > 0 {
			return true
		}
	}
	return false
}

// Disable begins to end the run and does not wait for what takes long, so that
// results can be read and printed before Close, which does. Raw
// tracepoints and clocks are silent then. Programs of perf tracepoints can go
// on until the kernel has come to them in the background: it takes them off
// under a lock, one grace period after the other on 6.12 and others
// (perf_event_detach_bpf_prog, kernel/trace/bpf_trace.c). What is read at once
// is the state at the time of Disable, but for these stragglers.
func (l *Loaded) Disable() { l.detach(l.selected(func(*program) bool { return true })) }

// detach detaches programs in the order opposite to attaching, and those
// that take long in the background.
func (l *Loaded) detach(programs []*program) {
	l.pairsUntil(programs)
	for _, p := range slices.Backward(programs) {
		l.keepUnseen(p, p.points)
		for _, pt := range p.points {
			pt.stop()
			if pt.kind == rawPoint {
				l.closing.keep(l.release(pt))
			} else {
				l.closing.later(func() error { return l.release(pt) })
			}
		}
		p.detached = p.detached || p.points != nil
		p.points = nil
	}
}

// release gives back what keeps a program attached.
func (l *Loaded) release(pt spot) error {
	err := pt.link.Close()
	if pt.event != "" {
		err = errors.Join(err, l.returns.remove(pt.event))
	}
	return err
}

// Close detaches all programs, waits until none of them runs any more, and
// releases everything; from 6.13 on the kernel frees the program of a link a
// grace period later (bpf_link_dealloc). Losses keeps its last numbers.
func (l *Loaded) Close() error {
	l.Disable()
	errs := []error{l.closing.wait()}
	for _, p := range l.programs {
		p.updateMissed()
		errs = append(errs, p.code.Close())
		p.code = nil
	}
	if l.returns != nil {
		errs = append(errs, l.returns.Close())
		l.returns = nil
	}
	if l.counts != nil {
		errs = append(errs, l.counts.Close())
		l.counts = nil
	}
	errs = append(errs, l.sites.close())
	for name, m := range l.maps {
		if !l.opts.Shared.owns(name, m) {
			errs = append(errs, m.Close())
		}
		delete(l.maps, name)
	}
	return errors.Join(errs...)
}
