package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// The points that a probe's list means on this kernel.

// expand gives the concrete points of a list.
func (u finder) expand(list []plan.Point, pos plan.Pos) []*target {
	var out []*target
	for _, p := range list {
		if len(list) > 1 && u.leftOut(p) {
			continue
		}
		out = append(out, u.expandOne(p)...)
	}
	if len(list) > 1 {
		out = distinct(out)
	}
	if len(out) == 0 && !u.late && !u.waiting() {
		wrong(pos, "this probe has no points")
	}
	return out
}

func (u finder) expandOne(p plan.Point) []*target {
	switch p := p.(type) {
	case *plan.Pattern:
		if u.late {
			return u.lateTargets(p)
		}
		var out []*target
		r := refusal.Attempt(func() { out = u.expandPattern(p) })
		if r != nil && !u.waits(p) {
			panic(r)
		}
		return out
	case *plan.Event:
		var out []*target
		for _, arm := range p.Arms {
			for _, t := range u.expand(arm.Points, p.Pos) {
				if arm.Fn != nil {
					t.arms = append(t.arms, armOf{arm.Fn, p})
				}
				out = append(out, t)
			}
		}
		return out
	case *plan.First:
		if u.late {
			return nil
		}
		return u.bounded(func() []*target { return u.expandFirst(p) })
	case *plan.Span:
		if u.late {
			return nil
		}
		return u.bounded(func() []*target { return u.expandSpan(p) })
	}
	return nil
}

// expandFirst gives the first point that this kernel has.
func (u finder) expandFirst(p *plan.First) []*target {
	var tried []string
	for i, one := range p.Points {
		var out []*target
		r := refusal.Attempt(func() {
			if out = u.expandOne(one); i < len(p.Points)-1 {
				u.mustBeProbed(one, out)
			}
		})
		if r == nil && len(out) > 0 {
			c := Choice{Pos: p.Pos, Refused: tried, Rest: len(p.Points) - i - 1}
			for _, t := range out {
				c.Chosen = append(c.Chosen, t.names(t)...)
			}
			u.res.Choices = append(u.res.Choices, c)
			return out
		}
		if r != nil {
			tried = append(tried, r.Msg)
		}
	}
	wrong(p.Pos, "this kernel has none of these points: %s", strings.Join(tried, "; "))
	return nil
}

func (u finder) expandPattern(p *plan.Pattern) []*target { return kindOf(p).expand(u, p) }

// expandSpan gives the span as one target.
func (u finder) expandSpan(p *plan.Span) []*target {
	s := &ownSpan{plan: p, starts: single(u.expand(p.Start, p.Pos)), ends: single(u.expand(p.End, p.Pos))}
	for _, one := range s.parts() {
		if one.span() {
			wrong(p.Pos, "%s is a span itself, so it cannot begin or end one: use its tracepoints", one.text)
		}
	}
	return []*target{{source: s, text: "span", name: "span", pos: p.Pos}}
}

// lateTargets are the points of p that no earlier unit has.
func (u finder) lateTargets(p *plan.Pattern) []*target {
	if !grows(p) {
		return nil
	}
	var all, out []*target
	if refusal.Attempt(func() { all = u.expandPattern(p) }) != nil {
		return nil // it waits still
	}
	for _, t := range all {
		if t.without(t, u.has) {
			out = append(out, t)
		}
	}
	return out
}

// bounded expands points that do not grow: those of a span, and of first().
func (u finder) bounded(expand func() []*target) []*target {
	defer func(old bool) { u.bound = old }(u.bound)
	u.bound = true
	return expand()
}

// distinct leaves out of the targets of a list the points that those before have.
func distinct(list []*target) (out []*target) {
	seen := map[string]bool{}
	for _, t := range list {
		if s, is := t.source.(*systemCalls); is && len(t.arms) == 0 && s.all {
			seen[otherCalls] = true
		}
	}
	for _, t := range list {
		if len(t.arms) > 0 || t.first(t, seen) {
			out = append(out, t)
		}
	}
	return out
}
