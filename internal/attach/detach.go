package attach

import (
	"errors"
	"slices"
	"time"
)

// Programs are detached: of a probe, of a file, all at the end (Disable, Close).

// longestDetach is how long DetachProbe waits for the kernel. A function of a program takes it some 20 ms, and a
// tracepoint up to 80 ms, of which some are taken off at a time.
const longestDetach = time.Second

// drainEvery is how often the ring is drained while DetachProbe waits. The largest rates fill it in some 100 ms.
const drainEvery = 5 * time.Millisecond

// DetachProbe detaches the programs of one probe. They stay loaded, and AttachProbe attaches them again. None of them
// runs any more then, unless the kernel takes longer than longestDetach for them, as for hundreds of tracepoints. The
// error is that of Options.Drain: what programs send meanwhile is taken from the ring.
func (l *Loaded) DetachProbe(probe int) error {
	released := l.detach(l.selected(func(p *program) bool { return p.Probe == probe }))
	drain := time.NewTicker(drainEvery)
	defer drain.Stop()
	for end := time.After(longestDetach); ; {
		select {
		case <-released:
			return nil
		case <-end:
			return nil
		case <-drain.C:
			if err := l.opts.drain(); err != nil {
				return err
			}
		}
	}
}

// Files are the files of programs in which a probe has points, or any probe by -1.
func Files(l *Loaded, probe int) (files []string) {
	for _, p := range l.programs {
		if f := fileOf(p); f != "" && (probe < 0 || p.Probe == probe) && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files
}

// fileOf is the file of programs that a program is attached to, "" for none.
func fileOf(p *program) string {
	if wayOf(p.Attach.Kind()).probes != userProbes {
		return ""
	}
	return p.Attach.Functions().Binary
}

// DetachFile detaches all programs that stand in a file, as Files names it.
func DetachFile(l *Loaded, file string) {
	l.detach(l.selected(func(p *program) bool { return fileOf(p) == file }))
}

// Attached reports whether a program of a probe is attached now.
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

// detach detaches programs in the order opposite to attaching, as attach.go says. Those that take long are closed in
// the background, in any order; released is closed when they are.
func (l *Loaded) detach(programs []*program) (released <-chan struct{}) {
	l.pairsUntil(programs)
	spanCalls{l}.until(programs)
	var slow []func() error
	for _, p := range slices.Backward(programs) {
		l.keepUnseen(p, p.points)
		for _, pt := range p.points {
			pt.stop()
			if pt.kind == rawPoint {
				l.closing.keep(l.release(pt))
			} else {
				slow = append(slow, func() error { return l.release(pt) })
			}
		}
		p.detached = p.detached || p.points != nil
		p.points, p.waits = nil, false
	}
	return l.closing.later(slow...)
}

// release gives back what keeps a program attached.
func (l *Loaded) release(pt spot) error {
	err := pt.link.Close()
	if pt.event != "" {
		err = errors.Join(err, l.returns.remove(pt.event))
	}
	return err
}

// Close detaches all programs, waits until their spots are closed, and releases everything. From 6.13 on the kernel
// frees the program of a link a grace period later (bpf_link_dealloc). Losses keeps its last numbers. The error joins
// those of all that could not be released; everything else is released nevertheless.
func (l *Loaded) Close() error {
	l.Disable()
	errs := []error{l.closing.wait()}
	for _, p := range l.programs {
		p.updateMissed()
		errs = append(errs, p.close())
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
