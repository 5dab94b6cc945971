package attach

import (
	"errors"
	"reflect"
	"slices"

	"github.com/startrace/startrace/internal/bpf"
)

// The programs of a probe take the place of others at one moment, so that each event is seen by one of both.
//
// Of a probe at system calls with a span it is done in these steps:
//
//	time  what happens                                            a call that begins now is seen by
//	   1  the new ends are attached, beside the old ones                                    the old
//	   2  the gate of the old start jumps to the new start                                  the new
//	   3  the kernel has ended all runs of the old start                                    the new
//	   4  ends without a start are counted anew (pairsAnew)                                 the new
//	   5  the caller detaches the old ends                                                  the new
//
// A call that began before 2 and ended before 5 was seen by the old programs: the new end finds no start of it, which
// is no loss before 4, nor later as it is the next end of its thread. What is open at 5 is seen by neither. Programs
// without spans have 2 and 3 alone.

// TakeOver puts the programs of a probe of l, which are not attached, in the place of those of a probe of old, which
// are. Each event is seen by the old or the new ones. ok is false, and nothing has changed, where the two probes do not
// stand at the same points in the same way.
//
// When it returns no program of the old probe runs any more, but the ends of spans, which are still attached.
func TakeOver(l *Loaded, probe int, old *Loaded, replaced int) (ok bool, err error) {
	ours, theirs := ofProbe(l, probe), ofProbe(old, replaced)
	if len(ours) != len(theirs) || len(ours) == 0 {
		return false, nil
	}
	for i, p := range ours {
		if !canTakeOver(l, p, theirs[i]) || codeOf(p, ours) != codeOf(theirs[i], theirs) {
			return false, nil
		}
	}
	ends := func(p *program) bool { return p.Probe < 0 || p.Probe == probe && !isSwitched(l, p.Program) }
	if err := l.attach(ends); err != nil {
		return false, err
	}
	old.pairsUntil(theirs)
	spanCalls{old}.until(theirs)
	if err := switchOver(ours, theirs, old); err != nil {
		return false, err
	}
	if err := bpf.WaitForPrograms(); err != nil {
		return false, err
	}
	return true, pairsAnew(l, ours)
}

// ofProbe are the programs that are attached for a probe, or can be.
func ofProbe(l *Loaded, probe int) []*program {
	return l.selected(func(p *program) bool { return p.Probe == probe })
}

// codeOf is the index of the program by whose code, and so by whose gate, p is attached; -1 where it has its own.
func codeOf(p *program, among []*program) int {
	return slices.IndexFunc(among, func(q *program) bool { return q.Name == p.Code })
}

// canTakeOver reports whether a program can take the place of an attached one, or stand beside it as the end of calls
// of the system. Other starts and ends that belong together would be seen by both while both stand there. Events of
// tracefs belong to the unit that has made them.
func canTakeOver(l *Loaded, p, attached *program) bool {
	if p.Pairs() && !p.Attach.Kind().Syscall() {
		return false
	}
	gated := p.gate != nil || p.Code != "" || !isSwitched(l, p.Program)
	same := (p.gate == nil) == (attached.gate == nil) && p.multi == attached.multi && p.session == attached.session &&
		reflect.DeepEqual(p.Attach.Way, attached.Attach.Way)
	return gated && same && p.points == nil && attached.points != nil &&
		!slices.ContainsFunc(attached.points, func(pt spot) bool { return pt.kind == returnPoint })
}

// switchOver makes the gates of old programs jump to the new ones at the same index, and gives them to these. If the
// kernel does not take one, all jump as before.
func switchOver(ours, theirs []*program, old *Loaded) error {
	for i, p := range ours {
		if p.gate == nil {
			continue
		}
		if err := theirs[i].gate.lead(p.gate); err != nil {
			return errors.Join(err, leadBack(theirs[:i]))
		}
	}
	var err error
	for i, p := range ours {
		if p.points == nil { // it is no end of spans
			err = errors.Join(err, exchange(p, theirs[i], old))
		}
	}
	return errors.Join(err, leadBack(theirs))
}

// leadBack makes gates jump to their own programs.
func leadBack(programs []*program) (err error) {
	for _, p := range programs {
		if p.gate != nil {
			err = errors.Join(err, p.gate.lead(p.gate))
		}
	}
	return err
}

// exchange gives p the code of q, its gate, with its points, and q that of p, by which q can be attached again. What
// was counted so far stays with q.
func exchange(p, q *program, old *Loaded) error {
	unseen, err := old.unseenAt(q.points)
	q.unseen, p.unseen = q.unseen+unseen, p.unseen-unseen
	counted := q.counted()
	q.carried.add(counted, 1)
	p.carried.add(counted, ^uint64(0))
	p.points, q.points, q.detached = q.points, nil, true
	p.code, q.code = q.code, p.code
	if p.gate != nil {
		p.gate.array, q.gate.array = q.gate.array, p.gate.array
	}
	return err
}

// counted is what the kernel has counted for the attached code of a program; what it does not say is 0.
func (p *program) counted() (c carried) {
	if stats, err := p.code.Stats(); err == nil {
		c.runs, c.ns = stats.RunCount, uint64(stats.Runtime)
	}
	c.missed, _ = bpf.Misses(p.code)
	return c
}

// add adds other some times, modulo 2⁶⁴.
func (c *carried) add(other carried, times uint64) {
	c.runs += other.runs * times
	c.ns += other.ns * times
	c.missed += other.missed * times
}
