package attach

import (
	"cmp"
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// In which order programs are attached (`rankOf`), so that handlers run in the order of the script.
//
// Probes at one point run in the order of the script, at entries and at returns.
// The kernel runs programs of one point in the order in which they were attached, or
// the other way round, by the kind of point:
//
//   - tracepoints and raw tracepoints append a program (bpf_prog_array_copy,
//     kernel/bpf/core.c; func_add, kernel/tracepoint.c);
//   - kprobes, links of kprobes, trampolines, uprobes and counted events put it at the
//     head (add_new_kprobe, kernel/kprobes.c; add_ftrace_ops, kernel/trace/ftrace.c;
//     bpf_trampoline_link_prog, kernel/bpf/trampoline.c; consumer_add,
//     kernel/events/uprobes.c; swevent_hlist, kernel/events/core.c);
//   - return probes are put on a stack at the entry, so what began last ends first, and
//     that is the order in which they were attached. Links of them do so until 6.14, when
//     they came to keep a list.
//
// So do the functions of one event(), each at a point of its own, which may be one point. Programs for one point keep
// their order, in which ends come before starts.

// less orders programs for attaching.
func (l *Loaded) less(p, q *program) int {
	if order := cmp.Compare(rankOf(p.Program), rankOf(q.Program)); order != 0 {
		return order
	}
	pHead, qHead := wayOf(p.Attach.Kind()).head(l, p), wayOf(q.Attach.Kind()).head(l, q)
	switch {
	case pHead != qHead && qHead:
		return -1
	case pHead != qHead:
		return 1
	case pHead:
		return cmp.Or(cmp.Compare(q.Probe, p.Probe), cmp.Compare(q.Part, p.Part))
	}
	return cmp.Or(cmp.Compare(p.Probe, q.Probe), cmp.Compare(p.Part, q.Part))
}

// turnsRound reports whether the kernel would run the parts of sessions at the return
// of a function the other way round than those at its entry: then probes that share a
// function are two programs each.
func (l *Loaded) turnsRound(p *tree.Program) bool {
	if p.Attach.Kind() != tree.AttachKprobe || l.returnsAsEntries() {
		return false
	}
	return slices.ContainsFunc(l.unit.Tree.Programs, func(q *tree.Program) bool {
		return q.Probe != p.Probe && q.Attach.Functions().Session != nil && q.Attach.Kind() == p.Attach.Kind() &&
			shareFunction(p.Attach.At(), q.Attach.At())
	})
}

// shareFunction reports whether a function is among the places of both, by its name.
func shareFunction(a, b []tree.Place) bool {
	names := make(map[string]bool, len(a))
	for _, p := range a {
		names[p.Func] = true
	}
	return slices.ContainsFunc(b, func(p tree.Place) bool { return names[p.Func] })
}

// selected gives the programs that want accepts, in the order of rank.
func (l *Loaded) selected(want func(*program) bool) []*program {
	var out []*program
	for _, p := range l.programs {
		if !p.Tail && want(p) { // others jump to a tail
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, l.less)
	return out
}

// rankOf is the rank of a program.
func rankOf(p *tree.Program) rank {
	switch {
	case bpfgen.IsSpanExec(p.Name):
		return rankExec
	case bpfgen.IsSpanExit(p):
		return rankExit
	}
	return wayOf(p.Attach.Kind()).rank
}
