package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A rawTracepoint is one of the kernel's, with the arguments of the places that call it.
type rawTracepoint struct {
	onePoint
	of string
}

// rawTracepoints gives the targets of rawtracepoint:NAME.
func (u finder) rawTracepoints(p *plan.Pattern) []*target {
	fields(p, 1, "rawtracepoint:NAME")
	module, name := moduleOf(p)
	names, err := u.facts.MatchRawTracepoints(name)
	if len(names) == 0 {
		u.mustBeModule(p, module)
	}
	if err != nil {
		wrong(p.Pos, "%v", err)
	}
	var out []*target
	for _, n := range names {
		out = append(out, &target{source: &rawTracepoint{of: n}, text: "rawtracepoint:" + n, name: n, pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := u.facts.RawTracepoint(name); err != nil && !kernel.IsPattern(name) {
			wrong(p.Pos, "%v", err)
		}
		wrong(p.Pos, "no raw tracepoint matches %s", p.Text)
	}
	return out
}

// hasModuleTypes refuses to wait for a module whose types this kernel will not have.
func (u finder) hasModuleTypes(p *plan.Pattern) {
	if !u.facts.TypesOfModules() {
		wrong(p.Pos, "%s: this kernel does not have the types of modules (Linux 5.11, "+
			"CONFIG_DEBUG_INFO_BTF_MODULES), which raw tracepoints take: use tracepoint:", p.Text)
	}
}

func (rt *rawTracepoint) attach(*target) tree.Attach {
	return tree.Attach{Way: tree.RawTracepoint{Name: rt.of}}
}

func (rt *rawTracepoint) event(t *target, b *body) *event {
	typed, err := b.u.facts.RawTracepoint(rt.of)
	if err != nil {
		wrong(t.pos, "%v", err)
	}
	return &event{b: b, point: t.text, args: &rawArgs{typed}}
}

func (rt *rawTracepoint) argNames(u *unit) []string {
	typed, err := u.facts.RawTracepoint(rt.of)
	if err != nil {
		return nil
	}
	return (&rawArgs{typed}).names()
}

func (rt *rawTracepoint) argCount(u *unit) int {
	typed, err := u.facts.RawTracepoint(rt.of)
	if err != nil {
		return 0
	}
	return len(typed.Params)
}
