package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/plan"
)

// Points that come later, because a module was loaded or a file was replaced: what a unit for only these needs.
//
// A later unit of a plan has the points that are new since the earlier ones were made, because a module was loaded.

// begin prepares for the points of a probe.
func (u *unit) begin(probe int) {
	u.probe, u.has = probe, map[string]bool{}
	if u.earlier == nil || !u.late {
		return
	}
	for _, r := range u.earlier.units {
		for _, name := range r.Names[probe] {
			u.has[name] = true
		}
	}
}

// earlierPoints are the numbered points that the probe had in earlier units;
// known: it had some, numbered or not.
func (u *unit) earlierPoints(probe int) (list []tree.Point, known bool) {
	if u.earlier == nil || !u.late {
		return nil, false
	}
	for _, r := range u.earlier.units {
		known = known || len(r.Names[probe]) > 0
		if have := r.Tree.Points[probe]; len(have) > len(list) {
			list = have
		}
	}
	return list, known
}

// finder finds the points of the plan's probes.
func (u *unit) finder() *points.Finder {
	return &points.Finder{Facts: u.facts, Programs: u.programs, Target: u.plan.Target, Unsafe: u.plan.Unsafe,
		Exact: u.plan.Exact, WithCalls: withCalls(u.plan), Types: func() *ctypes.Types { return scriptTypes(u) },
		Late: u.late, Replaced: u.replaced, Now: u.earlier != nil && u.earlier.Now}
}

// withCalls reports whether probes of p have points of syscall:.
func withCalls(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Probes, func(probe *plan.Probe) bool { return points.HasCalls(probe.Points) })
}

// InFiles reports whether probes of p have points in files of programs that can be found again in others.
func InFiles(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Probes, func(probe *plan.Probe) bool { return points.InFiles(probe.Points) })
}

// Grows reports whether probes of p can get points when modules are loaded.
func Grows(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Probes, func(probe *plan.Probe) bool { return points.Grow(probe.Points) })
}
