package attach

import (
	"errors"
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/callcount"
	"github.com/startrace/startrace/internal/kernel"
)

// How many system calls of a span's programs the kernel skipped at most.
//
// A program at all system calls is skipped before it could ask which call that is, so the kernel's number of skipped
// runs is that of the machine. On kernels that skip some because of other tasks, programs count the calls that they see
// from start to end (SiteSeen), and package callcount counts those that are made. The difference was missed:
//
//	time  what happens                              begun  ended  seen
//	   1  all programs of the probe are attached        –      –     –
//	   2  events are opened (from)                 0      0     –
//	   3  open calls are forgotten (pairsFrom)          4      4     –
//	   4  what was seen so far is noted (noteSeen)      5      5     0
//	   5  a call is missed                              6      6     0
//	   6  the rest of the run                          99     98    92
//	   7  programs begin to be taken off (until)
//
// A call that is seen from 4 on has begun after 3, so it is counted as begun and as ended, and both numbers less what
// was seen are at least what was missed. A command that is held until 4, and has ended at 7, makes them exact.

// spanCalls counts the calls of the spans of a unit.
type spanCalls struct{ *Loaded }

// A callCount counts the calls of one span while its programs are attached.
type callCount struct {
	// counter counts while the programs are attached; nil: they are not.
	counter *callcount.Counter
	// before is what had been seen when the counting began.
	before uint64
	// held: counting began before a command could make a call.
	held bool
	// sum is what was counted in the times before, and until the programs were taken off.
	sum tally
	// err says why the calls were not counted at some time.
	err error
}

// A tally is what callcount and programs have counted. settled: no call was made while it was read.
type tally struct {
	made    callcount.Counts
	seen    uint64
	settled bool
}

// from begins to count the calls of spans whose programs were attached, and gives those.
func (l spanCalls) from(programs []*program) (begun []*callCount) {
	if l.opts.Calls == nil || l.opts.TracepointID == nil {
		return nil
	}
	for i, span := range l.unit.Tree.Spans {
		if !l.countsSeen(span) || !slices.ContainsFunc(programs, func(p *program) bool { return isCallOf(p, i) }) {
			continue
		}
		if l.calls == nil {
			l.calls = map[int]*callCount{}
		}
		c := l.calls[i]
		if c == nil {
			c = &callCount{}
			l.calls[i] = c
		}
		if c.counter == nil {
			c.open(l, span)
			begun = append(begun, c)
		}
	}
	return begun
}

// isCallOf reports whether p is a program at the system calls of a span.
func isCallOf(p *program, span int) bool { return p.Attach.Kind().Syscall() && p.Attach.Span == span }

// countsSeen reports whether the programs of a span count what they see of it.
func (l spanCalls) countsSeen(span *tree.Span) bool {
	return slices.ContainsFunc(l.unit.Sites, func(s bpfgen.Site) bool { return isSeen(s, span) })
}

func isSeen(s bpfgen.Site, span *tree.Span) bool { return s.Kind == bpfgen.SiteSeen && s.Span == span }

// seen is how many calls of a span programs have seen so far.
func (l spanCalls) seen(span *tree.Span) (n uint64) {
	for i, s := range l.unit.Sites {
		if isSeen(s, span) {
			n += l.sites.count(i)
		}
	}
	return n
}

var errScope = errors.New("which processes are traced cannot be said to perf")

func (c *callCount) open(l spanCalls, span *tree.Span) {
	of, known := l.opts.Calls()
	if !known {
		c.err = errScope
		return
	}
	calls := callsOf(span)
	if calls[0].Name == "" {
		of.Held = false // all calls are counted where they begin, and that of the exec has begun before
	}
	c.held = of.Held
	counter, err := callcount.Open(calls, of, l.opts.TracepointID)
	if err != nil {
		c.err = err
		return
	}
	c.counter = counter
}

// callsOf are the calls of a span. The first is all of them if it has all.
func callsOf(span *tree.Span) (calls []callcount.Call) {
	if span.Syscalls == nil {
		return []callcount.Call{{OneEnd: true}}
	}
	for _, sc := range kernel.Syscalls() {
		if sc.Entry == kernel.EntryNative && slices.Contains(span.Syscalls, sc.Nr) {
			calls = append(calls, callcount.Call{Name: sc.Name, OneEnd: sc.IsNoReturn() || sc.Forks(),
				Execs: sc.Name == "execve" || sc.Name == "execveat"})
		}
	}
	if len(calls) == 0 { // all of them are of programs of 32 bits
		return []callcount.Call{{Name: "none"}}
	}
	return calls
}

// noteSeen notes what programs have seen before.
func (l spanCalls) noteSeen(begun []*callCount) {
	for i, c := range l.calls {
		if slices.Contains(begun, c) {
			c.before = l.seen(l.unit.Tree.Spans[i])
		}
	}
}

// until ends the counting for spans of which programs are taken off.
func (l spanCalls) until(programs []*program) {
	for i, c := range l.calls {
		if c.counter == nil || !slices.ContainsFunc(programs, func(p *program) bool { return isCallOf(p, i) }) {
			continue
		}
		c.sum, c.err = c.now(l, i)
		l.closing.later(c.counter.Close) // as of tracepoints, it waits for grace periods
		c.counter = nil
	}
}

// now is what was counted until now. What was seen is read first, so that it is not more than was made.
func (c *callCount) now(l spanCalls, span int) (tally, error) {
	if c.counter == nil || c.err != nil {
		return c.sum, c.err
	}
	first, err := c.counter.Read()
	seen := l.seen(l.unit.Tree.Spans[span]) - c.before
	made, again := c.counter.Read()
	t := tally{seen: c.sum.seen + seen, settled: made == first && c.sum.made == callcount.Counts{}}
	t.made.Begun, t.made.Ended = c.sum.made.Begun+made.Begun, c.sum.made.Ended+made.Ended
	return t, errors.Join(err, again)
}

// missed is how many calls were missed at most; known is false where that is not known. exact: no fewer were missed.
func (c *callCount) missed(t tally) (n uint64, exact, known bool) {
	made := min(t.made.Begun, t.made.Ended)
	switch {
	case t.seen > max(t.made.Begun, t.made.Ended): // perf leaves a program that exec gives other rights (setuid)
		return 0, false, false
	case t.seen >= made:
		return 0, true, true
	}
	return made - t.seen, c.held && t.settled && t.made.Begun >= t.made.Ended, true
}

// missed puts what was missed of the calls of a probe in the place of what the kernel has skipped, where all
// programs of the probe are at calls that were counted.
func (l spanCalls) missed(losses []Loss) (out []Loss) {
	for _, s := range losses {
		if s.Kind == LossMissed {
			if s = l.missedOf(s); s.Count == 0 {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// missedOf is what a probe has missed, of what the kernel has skipped.
func (l spanCalls) missedOf(skipped Loss) Loss {
	var n, made uint64
	exact := true
	for _, p := range l.programs {
		if _, counts := missedBy(p.Program); p.Probe != skipped.Probe || !counts {
			continue
		}
		c := l.calls[p.Attach.Span]
		if !p.Attach.Kind().Syscall() || c == nil {
			return skipped
		}
	}
	for i, span := range l.unit.Tree.Spans {
		if c := l.calls[i]; c != nil && span.Probe == skipped.Probe {
			t, err := c.now(l, i)
			missed, sure, known := c.missed(t)
			if err != nil || !known {
				return skipped
			}
			n, made, exact = n+missed, made+min(t.made.Begun, t.made.Ended), exact && sure
		}
	}
	skipped.AnyCall, skipped.Made = false, made
	skipped.Exact = exact && n <= skipped.Count
	skipped.Count = min(n, skipped.Count)
	return skipped
}
