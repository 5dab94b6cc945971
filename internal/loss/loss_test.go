package loss

import (
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/plan"
)

// Each loss is told with what can be its cause.
//
// > An end whose start was before the tracing is among them, because nothing tells it from others.
func TestDescribeLoss(t *testing.T) {
	file, library := "x.star", "std/tool.star"
	inLibrary := syntax.MakePosition(&library, 3, 7)
	p := &plan.Plan{
		Probes: []*plan.Probe{{ID: 0, Name: "syscall:openat"},
			{ID: 1, Name: "s",
				Points: []plan.Point{&plan.Event{Arms: []plan.Arm{{Points: []plan.Point{&plan.Span{}}}}}}}},
		Containers: []*plan.Container{{ID: 0, Kind: plan.Count, Name: "n"}, {ID: 1, Kind: plan.Hist},
			{ID: 2, Kind: plan.Table, Name: "t"}, {ID: 3, Kind: plan.Table, Name: "held", Pos: inLibrary}},
	}
	site := func(kind bpfgen.SiteKind, container int, what string) *bpfgen.Site {
		return &bpfgen.Site{Kind: kind, Container: container, What: what, Pos: syntax.MakePosition(&file, 3, 7)}
	}
	tests := []struct {
		loss attach.Loss
		want string
	}{
		{attach.Loss{Kind: attach.LossMissed, Count: 4},
			"up to 4 events of syscall:openat not seen: the kernel skips a program while another runs on the same " +
				"CPU; aggregations then count too little by at most that; --exact misses no system call, and " +
				"rawtracepoint: and fentry: see what comes in interrupts"},
		// > There, and of other kinds of points, the line has what the kernel counts of programs: "up to 4 events of
		// > syscall:openat not seen".
		// > That is how often it did not run a program of the probe.
		// > It counts so for all processes, for `syscall:` at system calls of all names, and for an event with a start
		// > and an end at both.
		// > What of it the probe would have passed over nobody knows, so that number can be far above what was missed.
		// > Ends without a start and starts without an end, which are said, too, can be part of the number.
		{attach.Loss{Kind: attach.LossMissed, Count: 4, AnyCall: true},
			"up to 4 events of syscall:openat not seen: the kernel skips a program while another runs on the same " +
				"CPU, and counts that at system calls of whatever name and process; " +
				"aggregations then count too little by at most that; --exact misses no system call, and " +
				"rawtracepoint: and fentry: see what comes in interrupts"},
		// > On one without them, from 6.19 on, a child that is missed is said: "up to 2 new processes not followed".
		{attach.Loss{Kind: attach.LossChildren, Probe: -1, Count: 2},
			"up to 2 new processes not followed: the kernel skips a program while another runs on the same CPU; " +
				"nothing of what they do is seen"},
		{attach.Loss{Kind: bpfgen.SiteFull, Count: 12, Site: site(bpfgen.SiteFull, 0, "")},
			"12 updates of n lost: all its entries are in use (x.star:3:7); give it a size=, or use fewer keys"},
		{attach.Loss{Kind: bpfgen.SiteFull, Count: 1, Site: site(bpfgen.SiteFull, 2, "")},
			"1 update of t lost: all its entries are in use (x.star:3:7); " +
				"give it a size=, use fewer keys, or table(lru = True) to drop the oldest"},
		// Who uses a tool of the library cannot change its source.
		{attach.Loss{Kind: bpfgen.SiteFull, Count: 2, Site: &bpfgen.Site{Container: 3, Pos: inLibrary}},
			"2 updates of held lost: all its entries are in use (std/tool.star:3:7); " + lessByFlags},
		{attach.Loss{Kind: bpfgen.SiteRing, Count: 2, Site: &bpfgen.Site{Container: -1, Pos: inLibrary}},
			"2 events of syscall:openat lost: the ring buffer was full (std/tool.star:3:7); " + lessByFlags},
		{attach.Loss{Kind: bpfgen.SiteSpanFull, Count: 5, Site: site(bpfgen.SiteSpanFull, -1, "")},
			"5 calls of syscall:openat lost: too many were open at once (x.star:3:7); select with where="},
		{attach.Loss{Kind: bpfgen.SiteSpanFull, Probe: 1, Count: 5, Site: site(bpfgen.SiteSpanFull, -1, "")},
			"5 calls of s lost: too many were open at once (x.star:3:7); select with where=, or give the span a size="},
		{attach.Loss{Kind: bpfgen.SiteNoMem, Count: 1, Site: site(bpfgen.SiteNoMem, 1, "")},
			"1 update of a hist lost: the kernel had no memory for a new entry, or another program removed it at " +
				"once (x.star:3:7)"},
		{attach.Loss{Kind: bpfgen.SiteError, Count: 2, Site: site(bpfgen.SiteError, -1, "division by zero")},
			"2 events of syscall:openat ended early: division by zero (x.star:3:7)"},
		{attach.Loss{Kind: bpfgen.SiteOrphanEnd, Probe: 1, Count: 3},
			"3 ends of s had no start; calls that began before the tracing, that seccomp denied, " +
				"or whose start was lost"},
		{attach.Loss{Kind: left, Count: 2},
			"2 calls of syscall:openat did not return: left by longjmp, an exception or exec, or the return was not " +
				"seen"},
		{attach.Loss{Kind: 99, Probe: -1, Count: 1}, "1 loss of an unknown kind at the script"},
	}
	for _, tt := range tests {
		if got := describe(Loss{Loss: tt.loss, plan: p}, ""); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
	for kind := bpfgen.SiteFull; kind <= bpfgen.SiteReturnDeep; kind++ {
		if texts[kind].format == "" {
			t.Errorf("no text for losses of kind %d", kind)
		}
	}
}

// What was counted beside the programs is told with how many calls there were, and else of whom the number is.
func TestDescribeMissed(t *testing.T) {
	p := &plan.Plan{Target: plan.Target{PID: 7}, Probes: []*plan.Probe{{ID: 0, Name: "all"},
		{ID: 1, Name: "some", Where: &plan.Func{}}, {ID: 2, Name: "made", Points: []plan.Point{&plan.Event{}}}}}
	missed := func(probe int, made uint64, exact bool) Loss {
		l := attach.Loss{Kind: attach.LossMissed, Probe: probe, Count: 3, Made: made, Exact: exact}
		return Loss{Loss: l, plan: p}
	}
	const why = " not seen: the kernel skips a program while another runs on the same CPU"
	for want, l := range map[string]Loss{
		"3 of the 20000 calls of all" + why + "; ":                             missed(0, 20_000, true),
		"up to 3 of the 20000 calls of all" + why + "; ":                       missed(0, 20_000, false),
		"up to 3 of the 20000 calls of some" + why + "; ":                      missed(1, 20_000, true),
		"up to 3 of the 20000 calls of made" + why + "; ":                      missed(2, 20_000, true),
		"up to 3 events of all" + why + ", and counts that in all processes; ": missed(0, 0, false),
	} {
		if got := describe(l, ""); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What had no room at its start is one loss, and not another one at its end: of each span by itself.
//
// > Each call is counted once, so an end whose start had no room is not among the ends without a start.
// > Nobody knows which ends those are.
// > As many ends as there were such starts are taken for theirs, and the line of these starts says so.
func TestCountedOnce(t *testing.T) {
	spans := []*tree.Span{{Probe: 0}, {Probe: 0}, {Probe: 1, Nested: true}}
	loss := func(span int, kind bpfgen.SiteKind, n, taken uint64) Loss {
		s := spans[span]
		site := &bpfgen.Site{Probe: s.Probe, Span: s}
		return Loss{Loss: attach.Loss{Probe: s.Probe, Kind: kind, Count: n, Site: site}, Taken: taken}
	}
	full, orphan, open := bpfgen.SiteSpanFull, bpfgen.SiteOrphanEnd, bpfgen.SiteOpenStart
	for _, tt := range []struct{ losses, want []Loss }{
		{[]Loss{loss(0, orphan, 5, 0), loss(0, full, 5, 0)}, []Loss{loss(0, full, 5, 5)}},
		{[]Loss{loss(0, full, 3, 0), loss(0, orphan, 5, 0)}, []Loss{loss(0, full, 3, 3), loss(0, orphan, 2, 0)}},
		{[]Loss{loss(0, full, 7, 0), loss(0, orphan, 5, 0)}, []Loss{loss(0, full, 7, 5)}},
		{[]Loss{loss(0, full, 2, 0), loss(0, full, 2, 0), loss(0, orphan, 3, 0), loss(0, orphan, 3, 0)},
			[]Loss{loss(0, full, 2, 2), loss(0, full, 2, 2), loss(0, orphan, 2, 0)}},
		{[]Loss{loss(0, full, 2, 0), loss(1, orphan, 3, 0)}, []Loss{loss(0, full, 2, 0), loss(1, orphan, 3, 0)}},
		{[]Loss{loss(0, full, 2, 0), loss(2, orphan, 3, 0)}, []Loss{loss(0, full, 2, 0), loss(2, orphan, 3, 0)}},
		{[]Loss{loss(0, open, 2, 0), loss(2, open, 3, 0)}, []Loss{loss(0, open, 2, 0), loss(2, left, 3, 0)}},
	} {
		got := countedOnce(slices.Clone(tt.losses))
		if !slices.EqualFunc(got, tt.want, sameLoss) {
			t.Errorf("%v: got %v, want %v", tt.losses, got, tt.want)
		}
	}
}

func sameLoss(a, b Loss) bool {
	return a.Probe == b.Probe && a.Kind == b.Kind && a.Count == b.Count && a.Taken == b.Taken &&
		a.Site.Span == b.Site.Span
}

// What the points of a list lose at one place is one loss, and what is lost elsewhere is another.
func TestJoined(t *testing.T) {
	file := "x.star"
	at := func(probe int, line int32, n uint64) Loss {
		site := &bpfgen.Site{Kind: bpfgen.SiteOpenStart, Pos: syntax.MakePosition(&file, line, 1), Span: &tree.Span{}}
		return Loss{Loss: attach.Loss{Kind: left, Probe: probe, Count: n, Site: site}}
	}
	var counts []uint64
	for _, l := range joined([]Loss{at(0, 1, 5), at(0, 1, 2), at(1, 1, 3), at(0, 2, 4)}) {
		counts = append(counts, l.Count)
	}
	if !slices.Equal(counts, []uint64{7, 3, 4}) {
		t.Errorf("losses of %v", counts)
	}
}
