package infer

import (
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What a probe without a handler sends: the fields of its line by default, and the note that its arguments are not
// printed.

// sendDefault sends what a probe without a handler prints: what kernel=
// returned, or the usual fields of the event.
func (pr *probe) sendDefault(b *body, ev *event, t *points.Target) {
	pos := pr.p.Pos
	names := []string{"comm", "pid", "probe"}
	if _, ok := ev.field("pid", pos); !ok {
		names = []string{"probe"}
	}
	switch {
	case ev.value != nil:
		names = append(names, "value")
	case len(ev.over) > 0:
		names = append(names, ev.order...)
	default:
		names = append(names, pr.defaultFields(ev)...)
		pr.tellUnprinted(ev, t.Pos)
	}
	var ts []types.Type
	s := &tree.Stmt{Op: tree.SSend, Int: int64(len(pr.u.res.Tree.Records)), Pos: pos}
	for _, n := range names {
		e := b.rv(b.sendable(ev.mustField(n, pos), pos), pos)
		s.Exprs = append(s.Exprs, e)
		ts = append(ts, e.Type)
	}
	b.emit(s)
	pr.u.res.Tree.Records = append(pr.u.res.Tree.Records, layout.Record(int(s.Int), pr.p.ID, names, ts))
}

// tellUnprinted tells that the line of an event lacks the arguments, which debug information would tell.
func (pr *probe) tellUnprinted(ev *event, pos plan.Pos) {
	f, is := ev.args.(*funcArgs)
	if !is || len(ev.args.names()) > 0 || !isSplit(f.f.Function) {
		return
	}
	file, why := f.f.Split()
	pr.u.warnf(pos, "%s: arguments are not printed: the debug information is in a file of its own, %s, which %s",
		ev.point, file, why)
}

// defaultFields are the fields of the default line that this event has.
func (pr *probe) defaultFields(ev *event) []string {
	var out []string
	if ev.args != nil && len(ev.args.names()) > 0 {
		out = append(out, "args")
	}
	if ev.vars != nil && len((&varsObj{ev, ev.vars}).names()) > 0 {
		out = append(out, "vars")
	}
	if ev.ret != nil {
		out = append(out, "ret")
	}
	return out
}
