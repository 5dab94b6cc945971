package infer

import (
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// sendDefault sends what a probe without a handler prints: what kernel=
// returned, or the usual fields of the event.
func (pr *probe) sendDefault(b *body, ev *event, t *target) {
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
	if ev.ret != nil {
		out = append(out, "ret")
	}
	return out
}

// everything is e as a value: all fields that this event has.
func (e *event) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	add := func(n string, v val) {
		out.names = append(out.names, n)
		out.elems = append(out.elems, v)
	}
	for _, n := range []string{"time", "probe", "cpu", "comm", "pid", "tid", "uid"} {
		if _, over := e.over[n]; over {
			continue
		}
		if v, ok := e.field(n, pos); ok {
			add(n, v)
		}
	}
	for _, n := range []string{"ret", "duration", "ip", "addr", "usermode"} {
		if v, ok := e.field(n, pos); ok {
			add(n, v)
		}
	}
	for _, n := range sortedKeys(e.over) {
		add(n, e.b.sendable(e.over[n], pos))
	}
	if e.args != nil && len(e.args.names()) > 0 {
		add("args", (&argsObj{e}).everything(pos))
	}
	return out
}

// unnamed reports whether there are arguments, of which nobody knows the names.
func (a *argsObj) unnamed() bool {
	f, is := a.ev.args.(*funcArgs)
	return is && !f.f.typed() && f.f.argCount() > 0
}

// everything is e.args as a record. What cannot be read is left out.
func (a *argsObj) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	if a.unnamed() {
		wrong(pos,
			"the arguments of %s have no names here, so e.args as a whole is nothing: write e.args[0], e.args[1] …",
			a.ev.point)
	}
	for _, n := range a.ev.args.names() {
		var v val
		r := attempt(func() {
			v = a.ev.b.sendable(a.argument(n, pos), pos)
		})
		if r == nil {
			out.names = append(out.names, n)
			out.elems = append(out.elems, v)
		}
	}
	return out
}
