package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The walk of one probe: event functions, where= and its warnings (filter), kernel=, the handler, keep= of open calls.

func newProbe(u *unit, p *plan.Probe) *probe {
	pr := &probe{u: u, p: p}
	pr.handler = &placedFunc{pr: pr, name: "handler", fn: p.Handler}
	pr.starter = &placedFunc{pr: pr, name: "start", fn: p.Start, start: true}
	pr.isTraced = pr.tracedVal
	return pr
}

// atStart is where= and start= of a probe with a handler for the start of its
// spans; it reports whether where= filters there.
func (pr *probe) atStart(b *body, ev *event, t *points.Target) bool {
	ev.atStart, pr.u.point = true, ev.onePoint()
	p := pr.p
	if p.Start == nil {
		return false
	}
	if p.Where != nil {
		pr.filter(b, ev, p.Where)
	}
	if p.Keep > 0 {
		pr.starter.decided, pr.starter.inUser, pr.starter.why = true, true, "keep= is given, and dump() calls it"
	}
	b.starter[0] = len(b.block.Stmts)
	if ev.untested {
		pr.targetTest(b, ev)
	}
	pr.starter.run(b, ev, t)
	b.starter[1] = len(b.block.Stmts)
	return p.Where != nil
}

// armed walks the functions of the events on the way from a point; nil: the
// event never happens.
func (pr *probe) armed(b *body, ev *event, t *points.Target) *event {
	pr.u.point = ev.onePoint()
	for _, arm := range t.Arms {
		fn := arm.Fn
		pr.place("event", fn, false, "")
		pr.run(arm, func() { ev = pr.extend(b, ev, b.given(ev, fn), fn.Pos, false) })
		if ev == nil {
			return nil
		}
	}
	return ev
}

// consume walks what the probe does with an event: the functions of the
// events on the way, the target, where, kernel, and the handler.
func (pr *probe) consume(b *body, ev *event, t *points.Target) {
	if ev = pr.occurs(b, ev, t); ev == nil {
		return
	}
	pr.keepOpen(b, ev.startEv, t)
	pr.testConsumed(b, ev)
	if fn := pr.p.Where; fn != nil && pr.p.Start == nil && !pr.holdsEver(b, ev, fn) {
		return
	}
	if pr.kernelHandler(b, ev, t) {
		return
	}
	if fn := pr.p.Kernel; fn != nil {
		pr.place("kernel", fn, false, "")
		pr.reading(func() { ev = pr.extend(b, ev, b.given(ev, fn), fn.Pos, true) })
		if ev == nil {
			return
		}
	}
	pr.handle(b, ev, t)
}

// kernelHandler is, for tests, a function of kernel= as a handler, if its events
// go nowhere.
func (pr *probe) kernelHandler(b *body, ev *event, t *points.Target) bool {
	fn, placement := pr.p.Kernel, pr.u.plan.Placement
	if placement == plan.ByNeed || fn == nil || pr.p.Handler != nil || pr.p.Keep > 0 {
		return false
	}
	pr.place("kernel", fn, placement == plan.InUser, "all handlers do")
	pr.handler.fn, pr.handler.inUser = fn, placement == plan.InUser
	if placement == plan.InBoth {
		var v val
		pr.u.onBoth(func() { v = b.given(ev, fn) })
		if pr.extend(b, ev, v, fn.Pos, true) != nil {
			wrong(fn.Pos, "%s sends events, so it cannot be placed on both sides", fn.Name)
		}
	}
	pr.handler.project(b, ev, t)
	return true
}

// keepOpen keeps of the starts of calls what items() of the probe gives of those
// that are open: the time and, where the key does not have it, the thread.
func (pr *probe) keepOpen(b *body, began *event, t *points.Target) {
	if !pr.p.Open || began == nil || began.b == b {
		return
	}
	for _, name := range t.Kept() {
		b.rv(began.mustField(name, pr.p.Pos), pr.p.Pos)
	}
}

// holdsEver is filter; it is false where the predicate asks for the result of
// a call that never returns, among others that do: e.ret < 0 of syscall:*.
func (pr *probe) holdsEver(b *body, ev *event, fn *plan.Func) bool {
	if !ev.noReturn || !ev.othersReturn {
		pr.filter(b, ev, fn)
		return true
	}
	pr.u.noneEnds = true
	r := b.attempt(func() { pr.filter(b, ev, fn) })
	pr.u.noneEnds = false
	switch {
	case r == nil:
		return true
	case !r.None:
		panic(r)
	}
	b.stop(fn.Pos)
	return false
}

// filter ends the handler where fn does not hold.
func (pr *probe) filter(b *body, ev *event, fn *plan.Func) {
	pr.place("where", fn, false, "")
	pr.early(b, func() {
		pr.reading(func() {
			b.require(b.holds(ev, fn), fn.Pos)
		})
	})
}

// early walks what comes before the handler. If it goes wrong while it reads
// a table of which nothing is known yet, what the handler stores may tell: the
// walk goes on without it, and another round follows. It reports whether f ran
// to its end.
func (pr *probe) early(b *body, f func()) bool {
	r := b.attempt(f)
	if r == nil {
		return true
	}
	if pr.u.unknown.Len() == 0 || r.None && pr.u.noneEnds {
		panic(r)
	}
	return false
}

// extend lays what a function returned over the event. None ends the handler;
// nil is returned where it is always None.
func (pr *probe) extend(b *body, ev *event, r val, pos plan.Pos, plain bool) *event {
	if r.isNone() {
		return nil
	}
	out := *ev
	out.over, out.order, out.unasked = map[string]val{}, slices.Clone(ev.order), nil
	for k, v := range ev.over {
		out.over[k] = v
	}
	if c, ok := r.c.(plan.Record); ok {
		for _, f := range c {
			out.setField(f.Name, constant(f.Value))
		}
		return &out
	}
	if r.isRecord() {
		for i, n := range r.names {
			out.setField(n, steady(b, r.elems[i], pos))
		}
		return &out
	}
	e := b.rv(r, pos)
	if e.Type.Kind == types.None && !e.Type.MayFault {
		return nil
	}
	if e.Type.MayNone || e.Type.Kind == types.None && !fold.IsFault(r.c) {
		b.require(negate(b.ops().isNone(exprVal(e), pos), pos), pos)
		e = assumeNotNone(e)
	}
	if e.Type.Kind == types.Record {
		for i, n := range e.Type.Names {
			out.setField(n, exprVal(&tree.Expr{Op: tree.OpElem, Type: e.Type.Elems[i], Int: int64(i),
				Args: []*tree.Expr{e}, Pos: pos}))
		}
		return &out
	}
	if !plain {
		wrong(pos, "the function of an event returns a record or None, got %s", r.describe())
	}
	v := exprVal(e)
	out.value = &v
	return &out
}

// setField lays a field over the event. One that is there already keeps its place among them.
func (e *event) setField(name string, v val) {
	if _, has := e.over[name]; !has {
		e.order = append(e.order, name)
	}
	e.over[name] = v
}

// handle gives the event to the handler, or sends it to be printed.
func (pr *probe) handle(b *body, ev *event, t *points.Target) {
	if pr.p.Handler == nil {
		pr.sendDefault(b, ev, t)
		return
	}
	switch {
	case pr.p.Keep > 0:
		pr.handler.decided, pr.handler.inUser, pr.handler.why = true, true, "keep= is given, and dump() calls it"
	case pr.p.Kernel != nil:
		pr.handler.decided, pr.handler.inUser, pr.handler.why = true, true, "kernel= is given, and is the kernel half"
	}
	pr.handler.run(b, ev, t)
}

// place notes where a function runs, once.
func (pr *probe) place(role string, fn *plan.Func, user bool, why string) {
	for _, p := range pr.u.res.Placed {
		if p.Probe == pr.p.ID && p.Role == role && p.Fn == fn {
			return
		}
	}
	side := "kernel"
	if user {
		side = "user"
	}
	pr.u.res.Placed = append(pr.u.res.Placed, Placement{Probe: pr.p.ID, Role: role, Fn: fn, Side: side, Why: why})
}

// finish completes what is known only when all points have been walked.
func (pr *probe) finish() {
	for _, r := range []*placedFunc{pr.handler, pr.starter} {
		for _, p := range r.halves {
			p.finish()
			userStores{pr.u}.of(r.fn, p.moved)
		}
	}
	for _, f := range pr.closers {
		f()
	}
}
