package infer

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Modules come and go while a script runs. A pattern can match what a module
// brings, and a point can name a module that is not there yet: the probe then
// waits for it. When a module has been loaded, the session infers a later unit of
// the same plan (UnitLate), which has the points that are new.

// Grows reports whether probes of p can get points when modules are loaded.
func Grows(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Probes, func(probe *plan.Probe) bool { return growing(probe.Points) })
}

func growing(list []plan.Point) bool {
	return slices.ContainsFunc(list, func(p plan.Point) bool {
		switch p := p.(type) {
		case *plan.Pattern:
			return grows(p)
		case *plan.Event:
			return slices.ContainsFunc(p.Arms, func(a plan.Arm) bool { return growing(a.Points) })
		}
		return false // first() has chosen, and the ends of a span must stay where its starts are
	})
}

// grows reports whether a pattern can match more when a module is loaded.
func grows(p *plan.Pattern) bool {
	if !point.Must(p.Provider).OfModules {
		return false
	}
	named := strings.Contains(strings.Join(p.Args, ":"), ":")
	return p.Args[0] != "bpf" && (named || kernel.IsPattern(strings.Join(p.Args, ":")))
}

// moduleOf splits MODULE:NAME; "" where no module is named.
func moduleOf(p *plan.Pattern) (module, name string) {
	module, name, found := strings.Cut(strings.Join(p.Args, ":"), ":")
	if !found {
		return "", p.Args[0]
	}
	return strings.ReplaceAll(module, "-", "_"), name
}

// theKernel is the module of what belongs to none, as bpftrace calls it.
const theKernel = "vmlinux"

// waits notes that p waits for a module; false: it does not, so that it matches
// nothing is a mistake. A tracepoint's category is its module's name as a rule.
func (u finder) waits(p *plan.Pattern) bool {
	if !grows(p) || u.bound || u.late || u.earlier != nil && u.earlier.Now {
		return false
	}
	module, _ := moduleOf(p)
	if point.Must(p.Provider).Categories {
		module = p.Args[0]
	}
	if kernel.IsPattern(module) || u.facts.ModuleState(module) != kernel.ModuleInstalled {
		return false
	}
	if refuse := kindOf(p).mayWait; refuse != nil {
		refuse(u, p)
	}
	u.notef(p.Pos, "%s: waits for module %s", p.Text, module)
	u.res.Waits = append(u.res.Waits, Wait{Probe: u.probe, Point: p.Text, Module: module})
	return true
}

// waiting reports whether the probe that is walked waits for a module.
func (u finder) waiting() bool {
	return slices.ContainsFunc(u.res.Waits, func(w Wait) bool { return w.Probe == u.probe })
}

// mustBeModule refuses a module that is not loaded, and says what it is.
func (u finder) mustBeModule(p *plan.Pattern, module string) {
	if module == "" || module == theKernel {
		return
	}
	switch u.facts.ModuleState(module) {
	case kernel.ModuleBuiltIn:
		wrong(p.Pos, "%s: %s is built into this kernel and is no module: leave it out", p.Text, module)
	case kernel.ModuleInstalled:
		wrong(p.Pos, "%s: the module %s is not loaded (modprobe %s)", p.Text, module, module)
	case kernel.ModuleUnknown:
		wrong(p.Pos, "%s: no module %s is loaded, nor is there one for this kernel%s", p.Text, module,
			refusal.Near(module, u.facts.ModuleNames()))
	}
}

// begin prepares for the points of a probe.
func (u finder) begin(probe int) {
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
func (u finder) earlierPoints(probe int) (list []tree.Point, known bool) {
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
