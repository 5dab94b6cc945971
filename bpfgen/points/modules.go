package points

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// MODULE:NAME in points, points that wait until a module is loaded, and the message that a module is not loaded or
// built in.
//
// Modules come and go while a script runs. A pattern can match what a module
// brings, and a point can name a module that is not there yet: the probe then
// waits for it. When a module has been loaded, the session infers a later unit of
// the same plan, which has the points that are new (Finder.Late).

// Grow reports whether there can be more of some points when modules are loaded.
func Grow(list []plan.Point) bool { return anyLater(list, grows) }

// anyLater reports whether one of the patterns that are looked for again later is so.
func anyLater(list []plan.Point, is func(*plan.Pattern) bool) bool {
	return slices.ContainsFunc(list, func(p plan.Point) bool {
		switch p := p.(type) {
		case *plan.Pattern:
			return is(p)
		case *plan.Event:
			return slices.ContainsFunc(p.Arms, func(a plan.Arm) bool { return anyLater(a.Points, is) })
		}
		return false // first() has chosen, and the ends of a span must stay where its starts are
	})
}

// grows reports whether a pattern can match more when a module is loaded.
func grows(p *plan.Pattern) bool {
	if !kindOf(p).OfModules {
		return false
	}
	named := strings.Contains(strings.Join(p.Args, ":"), ":")
	return p.Args[0] != "bpf" && (named || naming.IsPattern(strings.Join(p.Args, ":")))
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
func (s search) waits(p *plan.Pattern) bool {
	if !grows(p) || s.bound || s.Late || s.Now {
		return false
	}
	module, _ := moduleOf(p)
	if kindOf(p).Categories {
		module = p.Args[0]
	}
	if naming.IsPattern(module) || s.Facts.ModuleState(module) != kernel.ModuleInstalled {
		return false
	}
	if refuse := expanderOf(p).mayWait; refuse != nil {
		refuse(s, p)
	}
	s.notef(p.Pos, "%s: waits for module %s", p.Text, module)
	s.Waits = append(s.Waits, Wait{Probe: s.probe, Point: p.Text, Module: module})
	return true
}

// waiting reports whether the probe that is walked waits for a module.
func (s search) waiting() bool {
	return slices.ContainsFunc(s.Waits, func(w Wait) bool { return w.Probe == s.probe })
}

// mustBeModule refuses a module that is not loaded, and says what it is.
func (s search) mustBeModule(p *plan.Pattern, module string) {
	if module == "" || module == theKernel {
		return
	}
	switch s.Facts.ModuleState(module) {
	case kernel.ModuleBuiltIn:
		refusal.Wrong(p.Pos, "%s: %s is built into this kernel and is no module: leave it out", p.Text, module)
	case kernel.ModuleInstalled:
		refusal.Wrong(p.Pos, "%s: the module %s is not loaded (modprobe %s)", p.Text, module, module)
	case kernel.ModuleUnknown:
		refusal.Wrong(p.Pos, "%s: no module %s is loaded, nor is there one for this kernel%s", p.Text, module,
			refusal.Near(module, s.Facts.ModuleNames()))
	}
}
