package points

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The points lsm:HOOK: which hooks a pattern means, and that none can have a program.
//
// A program at a security hook is called from the function that the kernel has for it, as by a trampoline at its entry,
// and gets the hook's arguments. It always returns 0. Then the kernel goes on to the function itself, which gives what
// the hook gives where nobody decides (BPF_TRAMP_MODIFY_RETURN, arch_prepare_bpf_trampoline): so it only looks on.

// Hooks are security hooks: functions, of which each takes a program of its own.
type Hooks struct{ *Functions }

// wholeFunction: whether the kernel lets the hook's function be probed otherwise says nothing.
func (Hooks) wholeFunction() string { return "" }

// hooks gives the target of lsm:HOOK.
func (s search) hooks(p *plan.Pattern) []*Target {
	patterns(p)
	list, err := s.Facts.MatchHooks(p.Args[0])
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		refusal.Wrong(p.Pos, "no security hook matches %s", p.Text)
	}
	if err := s.Facts.HooksCalled(); err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	has := s.Facts.Trampolines()
	s.mustHave(has.There, "trampolines ("+p.Provider+")", has.Why, p)
	fs := &Functions{Mech: tree.AttachHook}
	for _, h := range list {
		f := hookPoint(p, h)
		switch why := s.Facts.NoHook(h); {
		case why != "" && !naming.IsPattern(p.Args[0]):
			refusal.Wrong(p.Pos, "%s: %s", p.Text, why)
		case why != "":
			s.notef(p.Pos, "%s: %s is left out: %s", p.Text, f.Text, why)
		default:
			fs.Funcs = append(fs.Funcs, f)
		}
	}
	if len(fs.Funcs) == 0 {
		refusal.Wrong(p.Pos, "%s: none of these hooks can have a program: %s:%s: %s", p.Text, p.Provider, list[0].Name,
			s.Facts.NoHook(list[0]))
	}
	t := &Target{Source: Hooks{fs}, Text: p.Text, Name: p.Args[0], Pos: p.Pos}
	if naming.IsPattern(t.Name) {
		t.Name = p.Provider
	}
	return []*Target{t}
}

func hookPoint(p *plan.Pattern, h kernel.TypedPoint) *Function {
	return &Function{Name: h.Name, Text: p.Provider + ":" + h.Name,
		Place: tree.Place{Func: kernel.HookPrefix + h.Name, BTF: uint32(h.Func)},
		Proto: h.Function()}
}
