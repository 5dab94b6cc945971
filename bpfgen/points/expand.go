package points

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// The points that the list of a probe means: patterns, first(), span(), event(), and messages when none is there.

// expand gives the concrete points of a list.
func (s search) expand(list []plan.Point, pos plan.Pos) []*Target {
	var out []*Target
	for _, p := range list {
		if len(list) > 1 && s.leftOut(p) {
			continue
		}
		out = append(out, s.expandOne(p)...)
	}
	if len(list) > 1 {
		out = distinct(s, out)
	}
	if len(out) == 0 && !s.Late && !s.waiting() {
		refusal.Wrong(pos, "this probe has no points")
	}
	return out
}

func (s search) expandOne(p plan.Point) []*Target {
	switch p := p.(type) {
	case *plan.Pattern:
		if s.Late {
			return s.lateTargets(p)
		}
		var out []*Target
		r := refusal.Attempt(func() { out = s.expandPattern(p) })
		if r != nil && !s.waits(p) {
			panic(r)
		}
		return out
	case *plan.Event:
		var out []*Target
		for _, arm := range p.Arms {
			for _, t := range s.expand(arm.Points, p.Pos) {
				if arm.Fn != nil {
					t.Arms = append(t.Arms, Arm{arm.Fn, p})
				}
				out = append(out, t)
			}
		}
		return out
	case *plan.First:
		if s.Late {
			return nil
		}
		return s.unchanging().expandFirst(p)
	case *plan.Span:
		if s.Late {
			return nil
		}
		return s.unchanging().expandSpan(p)
	}
	return nil
}

// expandFirst gives the first point that this kernel has.
func (s search) expandFirst(p *plan.First) []*Target {
	var refused []*refusal.Refusal
	for i, one := range p.Points {
		var out []*Target
		r := refusal.Attempt(func() {
			if out = s.expandOne(one); i < len(p.Points)-1 {
				s.mustBeProbed(one, out)
			}
		})
		if r == nil && len(out) > 0 {
			c := Choice{Probe: s.probe, Pos: p.Pos, Refused: reasons(refused), Rest: len(p.Points) - i - 1}
			for _, t := range out {
				c.Chosen = append(c.Chosen, t.Names()...)
			}
			s.Choices = append(s.Choices, c)
			return out
		}
		if r != nil {
			refused = append(refused, r)
		}
	}
	if len(refused) == len(p.Points) && lackOneThing(refused) {
		panic(refused[0])
	}
	refusal.Wrong(p.Pos, "this kernel has none of these points: %s", strings.Join(reasons(refused), "; "))
	return nil
}

// reasons are what refusals say.
func reasons(refused []*refusal.Refusal) (out []string) {
	for _, r := range refused {
		out = append(out, r.Msg)
	}
	return out
}

// lackOneThing is whether this kernel is without what all the points need, so that one of them says it all.
func lackOneThing(refused []*refusal.Refusal) bool {
	return !slices.ContainsFunc(refused, func(r *refusal.Refusal) bool {
		return r.Lacks == "" || r.Lacks != refused[0].Lacks
	})
}

func (s search) expandPattern(p *plan.Pattern) []*Target {
	out := expanderOf(p).expand(s, p)
	tellUnmatched(s, p, out)
	s.warnPreempted(p)
	return out
}

// expandSpan gives the span as one target.
func (s search) expandSpan(p *plan.Span) []*Target {
	span := &Span{Plan: p, Starts: single(s.expand(p.Start, p.Pos)), Ends: single(s.expand(p.End, p.Pos))}
	for _, one := range span.Parts() {
		if one.IsSpan() {
			refusal.Wrong(p.Pos, "%s is a span itself, so it cannot begin or end one: use its tracepoints", one.Text)
		}
	}
	return []*Target{{Source: span, Text: "span", Name: "span", Pos: p.Pos}}
}

// targetsIn are the points of p in a file.
func (s search) targetsIn(file string, p *plan.Pattern) []*Target {
	if !inFile(p) {
		return nil
	}
	return slices.DeleteFunc(s.expandPattern(p), func(t *Target) bool { return t.Source.file() != file })
}

// lateTargets are the points of p that no earlier unit has.
func (s search) lateTargets(p *plan.Pattern) []*Target {
	if s.Replaced != "" {
		return s.targetsIn(s.Replaced, p)
	}
	if !grows(p) {
		return nil
	}
	var all, out []*Target
	if refusal.Attempt(func() { all = s.expandPattern(p) }) != nil {
		return nil // it waits still
	}
	for _, t := range all {
		if t.without(t, s.known) {
			out = append(out, t)
		}
	}
	return out
}

// unchanging is the search for points that do not grow: those of a span, and of first().
func (s search) unchanging() search {
	s.bound = true
	return s
}

// distinct leaves out of the targets of a list the points that those before have.
func distinct(s search, list []*Target) (out []*Target) {
	seen := &pointSet{map[string]string{}, func(t *Target, same []alias) { tellAliases(s, t, same) }}
	for _, t := range list {
		if calls, is := t.Source.(*SystemCalls); is && len(t.Arms) == 0 && calls.All {
			seen.once(otherCalls)
		}
	}
	for _, t := range list {
		if len(t.Arms) > 0 || t.first(t, seen) {
			out = append(out, t)
		}
	}
	return out
}

// tellAliases tells that a list has functions of a target already, under other names.
func tellAliases(s search, t *Target, same []alias) {
	tell := s.warnf
	if strings.ContainsAny(t.Text, "*?[") {
		tell = s.notef
	}
	var all []string
	for _, a := range same {
		all = append(all, oneFunction(a.name, a.other))
	}
	tell(t.Pos, "%s: %s", t.Text, strings.Join(all, "; "))
}
