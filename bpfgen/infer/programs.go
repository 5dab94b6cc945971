package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/point"
)

// The programs of a probe, one for each target, and the refusal of start= where events have no start.

// walk makes the programs of the probe. What is wrong is noted; the other
// probes are walked all the same.
func (pr *probe) walk() {
	pr.u.begin(pr.p.ID)
	found, r := pr.u.finder().Find(pr.p, pr.u.has)
	pr.targets = found.Targets
	pr.u.said(found)
	if r != nil {
		r.Final = true
		pr.u.mistake(r)
		return
	}
	pr.numberPoints()
	if pr.p.Keep > 0 {
		pr.u.res.Tree.Keep[pr.p.ID] = pr.p.Keep
	}
	defer pr.clashes()
	defer pr.handler.split()
	defer pr.starter.split()
	for part, t := range pr.targets {
		names := t.Names()
		pr.u.res.Points[pr.p.ID] += len(names)
		pr.u.res.Names[pr.p.ID] = append(pr.u.res.Names[pr.p.ID], names...)
		mistakes, programs := len(pr.u.diags), len(pr.u.res.Tree.Programs)
		if r := refusal.Attempt(func() { pr.program(t) }); r != nil {
			r.Final = true
			pr.u.mistake(r)
		}
		for _, p := range pr.u.res.Tree.Programs[programs:] {
			p.Part = part
		}
		if len(pr.u.diags) > mistakes {
			return // other points would say the same again
		}
	}
	if r := refusal.Attempt(pr.finish); r != nil {
		r.Final = true
		pr.u.mistake(r)
	}
}

// program makes what the probe does at a target.
func (pr *probe) program(t *points.Target) {
	switch s := t.Source.(type) {
	case *points.SystemCalls:
		pr.systemCalls(t, s)
	case *points.FunctionCalls:
		pr.functionCalls(t, s)
	case *points.Functions:
		pr.functions(t, s)
	case points.Hooks:
		pr.functions(t, s.Functions)
	case *points.Span:
		pr.ownSpan(t, s)
	default:
		pr.onePoint(t)
	}
}

// said takes over what the finder has to say.
func (u *unit) said(f *points.Found) {
	u.res.Choices = append(u.res.Choices, f.Choices...)
	u.res.Waits = append(u.res.Waits, f.Waits...)
	u.res.Notes = append(u.res.Notes, f.Notes...)
	u.warns = append(u.warns, f.Warnings...)
}

// onePoint makes the program of a target that is one point.
func (pr *probe) onePoint(t *points.Target) {
	pr.mustNotStart(t)
	prog := &tree.Program{Name: pr.u.programName(pr.p.ID, t.Name), Probe: pr.p.ID, Attach: t.Attach()}
	b := newBody(pr, prog)
	pr.consume(b, b.eventAt(t), t)
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, prog)
}

// mustNotStart refuses start= where events have no start.
func (pr *probe) mustNotStart(t *points.Target) {
	if pr.p.Start != nil {
		wrong(pr.p.Start.Pos, "start= is for spans (%s), and %s is none", point.SystemCalls.Calls, t.Text)
	}
}
