package attach

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Points that the kernel does not let be probed are left out, with a note.
//
// A probe of several points goes on without those that the kernel does not let be
// probed. openProbes leaves out places of a program; here whole programs are.

// leave notes that p cannot be attached, if that is for its places and its probe has
// other programs at others. The other end of its calls is left out with it.
func (l *Loaded) leave(p *program, err error, left *leftOut) bool {
	if len(p.Attach.At()) == 0 || !placeIsAtFault(err) {
		return false
	}
	gone := []*program{p}
	for _, q := range l.programs {
		if q != p && l.sameCalls(p.Program, q.Program) {
			gone = append(gone, q)
		}
	}
	rest := func(q *program) bool {
		return q.Probe == p.Probe && !q.Tail && !slices.Contains(gone, q) && !left.has(q)
	}
	if !slices.ContainsFunc(l.programs, rest) {
		return false
	}
	for _, q := range gone {
		left.programs, left.reasons = append(left.programs, q), append(left.reasons, err)
	}
	l.detach(slices.DeleteFunc(gone, func(q *program) bool { return len(q.points) == 0 }))
	var names []string
	for _, at := range p.Attach.At() {
		names = append(names, at.String())
	}
	l.refuse(p, names)
	return true
}

// sameCalls reports whether p and q are the two ends of calls of the same functions.
func (l *Loaded) sameCalls(p, q *tree.Program) bool {
	if p.Probe != q.Probe || p.Attach.Span != q.Attach.Span || p.Attach.Span >= len(l.unit.Tree.Spans) ||
		len(q.Attach.At()) == 0 {
		return false
	}
	span := l.unit.Tree.Spans[p.Attach.Span]
	return span.Nested && span.Probe == p.Probe && p.Attach.At()[0].Func == q.Attach.At()[0].Func
}

// withoutPoints is the error of a probe of which nothing could be attached.
func (l *Loaded) withoutPoints(left *leftOut) error {
	for i, p := range left.programs {
		if !slices.ContainsFunc(l.programs, func(q *program) bool { return q.Probe == p.Probe && len(q.points) > 0 }) {
			return &Error{p.Program, markPermission(left.reasons[i])}
		}
	}
	return nil
}

// TryFunction finds out whether the kernel lets a function be probed, by putting a probe at its entry that runs no
// program. It gives an error only if the kernel refuses this function. All else that can go wrong is nil here, and
// attaching tells it.
func TryFunction(name string) error {
	err := tryFunction(name)
	if placeIsAtFault(err) {
		return err
	}
	return nil // what else there is, attaching tells
}
