package builtins

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// The plan made of all that a script has declared: probes, points, containers.

// Plan makes the plan of everything that was declared. It is called when the script has ended, for lambdas may use
// globals that are assigned later.
func (e *Env) Plan(c Capturer) *plan.Plan { return e.PlanFrom(0, c) }

// PlanFrom is the plan of the probes from number first on, with all containers. The numbers are the same as in the
// whole plan. The functions are captured anew.
func (e *Env) PlanFrom(first int, c Capturer) *plan.Plan {
	e.points = nil
	p := &plan.Plan{StrMax: e.strMax, Stacks: e.stacks, Types: e.types}
	for i, cont := range e.containers {
		decl := cont.Decl()
		decl.ID, decl.Filled, decl.Holds = i, cont.Filled(), nil
		if v := cont.Holds(); v != nil {
			decl.Holds = c.Value(v)
		}
		p.Containers = append(p.Containers, decl)
	}
	points := e.pointMaker(c)
	for i, pr := range e.probes[first:] {
		p.Probes = append(p.Probes, &plan.Probe{
			ID: first + i, Name: pr.Name(), Points: points.all(pr.points), Pos: pr.pos,
			Handler: funcOf(c, pr.handler), Where: funcOf(c, pr.where),
			Kernel: funcOf(c, pr.kernel), Start: funcOf(c, pr.start), Keep: pr.keep,
			Open: pr.variable != "" && e.Asks(pr.variable, "items"),
		})
	}
	for _, fn := range e.later {
		p.Later = append(p.Later, c.Value(fn))
	}
	return p
}

// Forget drops the probes from number first on, which were declared by what failed. Their numbers are given again.
func (e *Env) Forget(first int) { e.probes = e.probes[:first] }

// PlanPoint gives the plan's view of a point that a variable holds: the same
// as that of a probe that uses it.
func (e *Env) PlanPoint(c Capturer, p *PointValue) plan.Point {
	return e.pointMaker(c).value(p)
}

// pointMaker gives the maker of points of the plan that is being made.
func (e *Env) pointMaker(c Capturer) *pointMaker {
	if e.points == nil {
		e.points = &pointMaker{c, make(map[*PointValue]plan.Point)}
		e.planned = append(e.planned, e.points)
	}
	return e.points
}

// funcOf is c.Func, nil for nil.
func funcOf(c Capturer, fn *starlark.Function) *plan.Func {
	if fn == nil {
		return nil
	}
	return c.Func(fn)
}

// all makes points.
func (m *pointMaker) all(ps []Point) []plan.Point {
	out := make([]plan.Point, len(ps))
	for i, p := range ps {
		if p.pattern != nil {
			out[i] = p.pattern
		} else {
			out[i] = m.value(p.value)
		}
	}
	return out
}

// value remembers the point before it converts the functions: they may hold
// the point themselves.
func (m *pointMaker) value(p *PointValue) plan.Point {
	if pt, ok := m.seen[p]; ok {
		return pt
	}
	switch p.kind {
	case "span":
		s := &plan.Span{Again: p.again, Size: p.size, Timeout: p.timeout, Pos: p.pos}
		m.seen[p] = s
		s.Start, s.End = m.all(p.start), m.all(p.end)
		s.StartKey, s.EndKey = funcOf(m.c, p.startKey), funcOf(m.c, p.endKey)
		return s
	case "first":
		f := &plan.First{Pos: p.pos}
		m.seen[p] = f
		f.Points = m.all(p.alts)
		return f
	}
	ev := &plan.Event{Doc: p.doc, Pos: p.pos}
	m.seen[p] = ev
	for _, a := range p.arms {
		ev.Arms = append(ev.Arms, plan.Arm{Points: m.all(a.points), Fn: funcOf(m.c, a.fn)})
	}
	return ev
}
