package attach

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// What the kernel did not run or show (recursion_misses), and what sites counted, as losses.
//
// Two sides count what is lost. The programs count what they notice: a full ring, a full table, an end without a
// start. Each place in the script at which that can happen is a site, an index of the array in the map "sites", with a
// kind that says what happened there (tree.SiteKind). The kernel counts what no program sees: events for which it did
// not run the program (LossMissed), and calls whose return it did not follow (LossUnseen). Both come together in
// Losses.
//
// For
//
//	probe("func:vfs_read", lambda e: printf("%d\n", e.duration))
//
// that can be: of the probe LossMissed and LossUnseen, and at sites SiteRing (the ring was full), SiteSpanFull (too
// many calls were open) and SiteOpenStart (a call was left without a return). The numbers only grow, and may be read
// while programs run. What the kernel counts is gone with the program or the link, so it is read before these are
// closed (updateMissed, keepUnseen).
//
// The words for all of them, and what the user can do, are in package internal/loss.

// LossMissed is the kind of a Loss that no site counts: the kernel did not run the program, because another run was in
// progress on that CPU. The kernel counts it from 5.12 on. It is an upper bound: it also counts events that the program
// would have passed over.
const LossMissed = bpfgen.SiteKind(255)

// LossUnseen is the kind of a Loss of calls whose return the kernel did not show. It remembers a bounded number of open
// calls for a return probe, and for a link to many functions before 6.14.
const LossUnseen = bpfgen.SiteKind(254)

// LossChildren is the kind of a Loss of processes that are not followed, because the kernel did not run the program
// that sees forks. It is an upper bound, too, as it counts the forks of all processes. Nothing of what such a child
// does is seen.
const LossChildren = bpfgen.SiteKind(252)

// A Loss is a number of things of one kind that did not get through.
type Loss struct {
	// Probe is the number of the probe that lost them; -1 where it is no probe's.
	Probe int
	// Kind says what did not get through.
	Kind bpfgen.SiteKind
	// Count is how many things did not get through since Load. Of kinds about pairs only the time counts in which the
	// probe was attached (pairing.go).
	Count uint64
	// Site is the place in the script that counted. It is nil for LossMissed, LossUnseen and LossChildren, which the
	// kernel counts.
	Site *bpfgen.Site
	// AnyCall is set for a LossMissed whose count is of system calls of any name, though the program is about some of
	// them only.
	AnyCall bool
	// Made, if it is not 0, is set for a LossMissed that was counted beside the programs (missedcalls.go): how many
	// calls of those names there were in the processes that are traced. Exact: that many were missed, no less.
	Made  uint64
	Exact bool
}

// Losses gives all losses so far that are not zero. First come those that the kernel has counted, summed for each probe
// and kind, then the sites in their order.
//
// complete is false on kernels that do not count missed runs (before 5.12). err says why calls that the kernel did not
// show are not all among the losses, which are valid all the same. Losses may be called also after Disable, and gives
// after Close what Close has found.
func (l *Loaded) Losses() (losses []Loss, complete bool, err error) {
	complete, err = true, l.unread
	of := func(kind bpfgen.SiteKind, probe int) int {
		return slices.IndexFunc(losses, func(s Loss) bool { return s.Kind == kind && s.Probe == probe })
	}
	add := func(kind bpfgen.SiteKind, probe int, n uint64) {
		i := of(kind, probe)
		switch {
		case n == 0:
		case i < 0:
			losses = append(losses, Loss{Probe: probe, Kind: kind, Count: n})
		default:
			losses[i].Count += n
		}
	}
	for _, p := range l.programs {
		p.updateMissed()
		complete = complete && p.missedKnown
		if kind, counts := missedBy(p.Program); counts {
			add(kind, p.Probe, p.missed)
		}
		if p.missed > 0 && l.someCalls(p) {
			losses[of(LossMissed, p.Probe)].AnyCall = true
		}
		unseen, unread := l.unseenAt(p.points)
		add(LossUnseen, p.Probe, p.unseen+unseen)
		err = cmp.Or(err, unread)
	}
	losses = spanCalls{l}.missed(losses)
	for i := range l.unit.Sites {
		if n, s := l.siteCount(i), &l.unit.Sites[i]; n != 0 && isLoss(s.Kind) {
			losses = append(losses, Loss{Probe: s.Probe, Kind: s.Kind, Count: n, Site: s})
		}
	}
	return losses, complete, err
}

// missedBy is what it means that the kernel did not run a program; counts is false where that shows elsewhere. The
// programs that keep the entries of spans and of followed processes see no events of the script: where one was not
// run, an entry is still there when its number is used again, and that is counted by the span.
func missedBy(p *tree.Program) (kind bpfgen.SiteKind, counts bool) {
	switch {
	case p.Probe < 0 && p.Name == tree.FollowFork:
		return LossChildren, true
	case p.Probe < 0 && p.Name == tree.FollowExit, bpfgen.IsSpanExec(p.Name), bpfgen.IsSpanExit(p),
		bpfgen.IsCallExec(p.Name), bpfgen.IsCallFree(p.Name):
		return 0, false
	}
	return LossMissed, true
}

// isLoss reports whether what a site of this kind counts was lost. The other sites count entries of a table that drops
// its oldest, calls whose thread ended, and calls that were seen.
func isLoss(kind bpfgen.SiteKind) bool {
	return kind != bpfgen.SiteLRU && kind != bpfgen.SiteThreadEnded && kind != bpfgen.SiteSeen
}

// EndedIn is how many calls of the spans of a probe had not ended when their thread did, since Load.
func (l *Loaded) EndedIn(probe int) (n uint64) {
	for i, s := range l.unit.Sites {
		if s.Kind == bpfgen.SiteThreadEnded && s.Probe == probe {
			n += l.sites.count(i)
		}
	}
	return n
}

// someCalls reports whether a program runs at each system call and passes over
// those with other numbers than it is for.
func (l *Loaded) someCalls(p *program) bool {
	if !p.Attach.Kind().Syscall() {
		return false
	}
	return l.unit.Tree.Spans[p.Attach.Span].Syscalls != nil
}

// Entries is how many entries programs of this unit have put into a table since Load, by the number of the container.
// It is 0 for containers that do not drop their oldest entry when they are full.
func (l *Loaded) Entries(container int) (n uint64) {
	for i, s := range l.unit.Sites {
		if s.Kind == bpfgen.SiteLRU && s.Container == container {
			n += l.sites.count(i)
		}
	}
	return n
}

// keepUnseen adds what points of p have missed that are closed next.
func (l *Loaded) keepUnseen(p *program, points []spot) {
	unseen, err := l.unseenAt(points)
	p.unseen, l.unread = p.unseen+unseen, cmp.Or(l.unread, err)
}

// unseenAt is what points have missed that are open.
func (l *Loaded) unseenAt(points []spot) (n uint64, err error) {
	events := map[string]bool{}
	for _, pt := range points {
		switch pt.kind {
		case countingPoint:
			missed, unread := bpf.Missed(pt.link)
			n, err = n+missed, cmp.Or(err, unread)
		case returnPoint:
			events[pt.event] = true
		}
	}
	if len(events) > 0 {
		missed, unread := l.returns.missed(events)
		n, err = n+missed, cmp.Or(err, unread)
	}
	return n, err
}

// updateMissed reads the missed runs while the program is loaded.
func (p *program) updateMissed() {
	switch {
	case p.code == nil:
		return
	case p.Code != "":
		p.missedKnown = true // those of the program whose code it is
		return
	}
	n, err := bpf.Misses(p.code)
	p.missed, p.missedKnown = n+p.carried.missed, err == nil
}

// Runs gives how often the programs of a probe ran, and how long in ns, while the kernel counted: since CountRuns, or
// longer if another process has asked for that. Runs that a filter ended are among them. After Close it gives 0.
func (l *Loaded) Runs(probe int) (runs, ns uint64, err error) {
	for _, p := range l.programs {
		if p.Probe != probe || p.code == nil || p.Beside || p.Code != "" {
			continue
		}
		stats, err := p.code.Stats()
		if err != nil {
			return 0, 0, fmt.Errorf("read the runs of program %s: %w", p.Name, err)
		}
		runs, ns = runs+stats.RunCount+p.carried.runs, ns+uint64(stats.Runtime)+p.carried.ns
	}
	return runs, ns, nil
}

// CountRuns makes the kernel count the runs of all programs of the machine until Close, which costs each run some time.
// It needs 5.8 and CAP_SYS_ADMIN; the error says so for the latter.
func (l *Loaded) CountRuns() error {
	if l.counts != nil {
		return nil
	}
	counts, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	switch {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("the kernel counts the runs of programs only for CAP_SYS_ADMIN: %w", err)
	case err != nil:
		return fmt.Errorf("count the runs of programs: %w", err)
	}
	l.counts = counts
	return nil
}
