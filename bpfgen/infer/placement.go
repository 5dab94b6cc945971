package infer

import (
	"maps"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Where the handler of a probe runs: it is tried as a kernel half, else a user half; messages about a handler's
// parameters and what it returns.
//
// The handler of a probe is a placed function, and so is the handler of a start (start=). It may run on either side,
// and where it runs is found out by trying (inKernel):
//
//  1. At the first point the function is walked as a kernel half. If the walk comes to its end, what it has emitted
//     stays in the program, and its side is decided: it runs in the kernel.
//  2. If something in it is refused, all that was learnt on the walk is taken back (body.back), and the refusal
//     becomes the reason that explain shows: "because x.star:5:9: printf runs in user space only". The function is
//     walked again, as a user half (userexpr.go), and the program sends what that needs.
//  3. A refusal that holds on both sides (Final) is a mistake of the script, which is reported.
//
// What was decided at the first point holds for all of them. A later point can refuse what earlier ones took:
//
//	def handle(e):
//	    if hasattr(e.args, "next_comm"):
//	        print(e.args.next_comm)
//	    else:
//	        seen[e.args.prio] = 1
//
//	probe(["tracepoint:sched:sched_wakeup", "tracepoint:sched:sched_switch"], handle)
//
// At sched_wakeup the condition is false when the script is compiled, and the rest can run in the kernel. At
// sched_switch there is a print. The function is then noted in unit.moved, and the round over the plan begins anew with
// it in user space at all points.
//
// Filters (where=), kernel= and the functions of events and of keys are not placed: they run in the kernel by their
// nature, and what is refused in them is a mistake.

// run gives an event to the function: in the kernel if all of it can run
// there, else what it uses is sent.
func (r *placedFunc) run(b *body, ev *event, t *points.Target) {
	if r.pr.u.plan.Placement == plan.InUser && !r.decided {
		r.decided, r.inUser, r.why = true, true, "all handlers do"
	}
	if why, ok := r.pr.u.moved[r.key()]; ok {
		r.decided, r.inUser, r.why = true, true, why
	}
	if !r.inUser && r.inKernel(b, ev) {
		r.pr.place(r.name, r.fn, false, "")
		if r.pr.u.plan.Placement == plan.InBoth {
			r.project(b, ev, t)
		}
		return
	}
	r.pr.place(r.name, r.fn, true, r.why)
	r.project(b, ev, t)
}

// key is what the function is called in a unit, in all rounds.
func (r *placedFunc) key() probeFunc { return probeFunc{r.pr.p.ID, r.start} }

// version is a version of the user half. What the kernel changes for the handler is the same in all of them.
func (r *placedFunc) version(number int) *projection {
	for _, p := range r.halves {
		if p.version == number {
			return p
		}
	}
	p := newProjection(r)
	p.version = number
	if len(r.halves) > 0 {
		first := r.halves[0]
		p.later, p.parts, p.moved = first.later, first.parts, first.moved
	}
	r.halves = append(r.halves, p)
	return p
}

// sent is how many events each version of the function has been given to send.
func (r *placedFunc) sent() []int {
	out := make([]int, len(r.halves))
	for i, p := range r.halves {
		out[i] = len(p.sends)
	}
	return out
}

// project sends what the function needs in user space.
func (r *placedFunc) project(b *body, ev *event, t *points.Target) {
	p := r.version(r.pr.u.versions[r.key()][r.walks])
	r.walks++
	p.walk(b, ev, t)
}

// inKernel tries to run the handler in the kernel.
func (r *placedFunc) inKernel(b *body, ev *event) bool {
	fn, pr, m := r.fn, r.pr, b.mark()
	var v val
	call := func() { v = b.given(ev, fn) }
	where := pr.u.onBoth
	if r.start {
		where = pr.reading
	}
	block, bad := b.tries(func() { where(call) })
	if bad == nil {
		b.block.Stmts = append(b.block.Stmts, block.Stmts...)
		r.decided = true
		if !v.isNone() && fn.Def != nil {
			pr.u.warnf(fn.Pos, "what %s returns is dropped: a handler that sends an event is kernel=", fn.Name)
		}
		return true
	}
	if bad.Final {
		panic(bad)
	}
	b.back(m)
	if r.decided { // it could at the points before: the next round begins with all of them in user space
		pr.u.moved[r.key()] = bad.Error()
	}
	r.decided, r.inUser, r.why = true, true, bad.Error()
	return false
}

// walk walks the function for one point and sends what it uses.
func (p *projection) walk(b *body, ev *event, t *points.Target) {
	fn := p.placed.fn
	s := &send{proj: p, b: b, span: b.span, values: map[int]val{}, widths: map[copySite]int{}, target: t,
		used: map[*captures]bool{}}
	p.sends = append(p.sends, s)
	p.walks = append(p.walks, p.placed.walks-1)
	def := resolved(fn)
	w := &userWalk{proj: p, pr: p.placed.pr, b: b, half: p.half, chain: []*plan.Func{fn}, copies: &p.copies}
	w.frame = newFrame(fn, def)
	w.frame.top = true
	params, positional := scope.Params(def)
	if positional == 0 {
		wrong(fn.Pos, "a handler takes the event: def %s(e)", fn.Name)
	}
	for i, param := range params {
		bind := scope.Bound(param)
		switch {
		case i == 0:
			w.bind(bind, uval{v: objVal(ev), known: true, part: true})
		case i < len(fn.Defaults) && fn.Defaults[i] != nil:
			w.frame.Vars.Set(bind, knownVal(constant(fn.Defaults[i])))
		default:
			wrong(fn.Pos, "a handler gets one argument, the event; %s has no default", param.Name)
		}
	}
	p.moveChanges(b, ev)
	b.lazily(func() { w.stmts(def.Body) })
	s.stmt = &tree.Stmt{Op: tree.SSend, Pos: fn.Pos}
	b.emit(s.stmt)
}

// moveChanges gives the kernel its part of a handler in user space at a point.
func (p *projection) moveChanges(b *body, ev *event) {
	pr, key := p.placed.pr, p.placed.key()
	if pr.u.plan.Placement != plan.ByNeed || pr.u.stays[key] {
		return
	}
	if p == p.placed.halves[0] && len(p.walks) == 1 {
		l := &laterPart{pr: pr, fn: p.placed.fn}
		l.otherNames()
		p.later, p.parts, p.moved = l, l.parts(b, ev), map[syntax.Node]bool{}
		for _, part := range p.parts {
			maps.Copy(p.moved, part.gone)
		}
		return
	}
	for _, part := range p.parts {
		if !part.emit(b, ev) { // at all points or at none
			pr.u.stays[key], pr.u.changed = true, true
		}
	}
}
