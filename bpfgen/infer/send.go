package infer

import (
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

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
		names = append(names, sortedKeys(ev.over)...)
	default:
		names = append(names, pr.defaultFields(ev)...)
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
