package points

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The points rawtracepoint:NAME, with the arguments that BTF tells.

// A RawTracepoint is one of the kernel's, with the arguments of the places that call it.
type RawTracepoint struct {
	onePoint
	Of string // the name of the tracepoint
}

// rawTracepoints gives the targets of rawtracepoint:NAME.
func (s search) rawTracepoints(p *plan.Pattern) []*Target {
	patterns(p)
	module, name := moduleOf(p)
	names, err := s.Facts.MatchRawTracepoints(name)
	if len(names) == 0 {
		s.mustBeModule(p, module)
	}
	if err != nil {
		refusal.Wrong(p.Pos, "%v", err)
	}
	var out []*Target
	for _, n := range names {
		out = append(out, &Target{Source: &RawTracepoint{Of: n}, Text: p.Provider + ":" + n, Name: n, Pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := s.Facts.RawTracepoint(name); err != nil && !naming.IsPattern(name) {
			refusal.Wrong(p.Pos, "%v", err)
		}
		refusal.Wrong(p.Pos, "no raw tracepoint matches %s", p.Text)
	}
	return out
}

// hasModuleTypes refuses to wait for a module whose types this kernel will not have.
func (s search) hasModuleTypes(p *plan.Pattern) {
	if !s.Facts.TypesOfModules() {
		refusal.Wrong(p.Pos, "%s: this kernel does not have the types of modules (Linux 5.11, "+
			"CONFIG_DEBUG_INFO_BTF_MODULES), which raw tracepoints take: use tracepoint:", p.Text)
	}
}

func (rt *RawTracepoint) attach(*Target) tree.Attach {
	return tree.Attach{Way: tree.RawTracepoint{Name: rt.Of}}
}

// params are what is in e.args of any of its events; none where the kernel's types do not tell it.
func (rt *RawTracepoint) params(facts *kernel.Facts) []kernel.Param {
	typed, err := facts.RawTracepoint(rt.Of)
	if err != nil {
		return nil
	}
	return typed.Params
}

func (rt *RawTracepoint) ArgNames(facts *kernel.Facts) (out []string) {
	return slices.DeleteFunc(paramNames(rt.params(facts)), func(name string) bool { return name == "" })
}

func (rt *RawTracepoint) ArgCount(facts *kernel.Facts) int { return len(rt.params(facts)) }
