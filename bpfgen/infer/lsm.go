package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A program at a security hook is called from the function that the kernel has for it, as by a trampoline at its entry,
// and gets the hook's arguments. It always returns 0. Then the kernel goes on to the function itself, which gives what
// the hook gives where nobody decides (BPF_TRAMP_MODIFY_RETURN, arch_prepare_bpf_trampoline): so it only looks on.

// hooks are security hooks: functions, of which each takes a program of its own.
type hooks struct{ *functions }

// wholeFunction: whether the kernel lets the hook's function be probed otherwise says nothing.
func (hooks) wholeFunction() string { return "" }

// hooks gives the target of lsm:HOOK.
func (u finder) hooks(p *plan.Pattern) []*target {
	fields(p, 1, "lsm:HOOK")
	list, err := u.facts.MatchHooks(p.Args[0])
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		wrong(p.Pos, "no security hook matches %s", p.Text)
	}
	if err := u.facts.HooksCalled(); err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	has := u.facts.Trampolines()
	u.mustHave(has.There, "trampolines (lsm)", has.Why, p)
	fs := &functions{mech: tree.AttachHook}
	for _, h := range list {
		f := hookPoint(h)
		switch why := u.facts.NoHook(h); {
		case why != "" && !kernel.IsPattern(p.Args[0]):
			wrong(p.Pos, "%s: %s", p.Text, why)
		case why != "":
			u.notef(p.Pos, "%s: lsm:%s is left out: %s", p.Text, h.Name, why)
		default:
			fs.funcs = append(fs.funcs, f)
		}
	}
	if len(fs.funcs) == 0 {
		wrong(p.Pos, "%s: none of these hooks can have a program: lsm:%s: %s", p.Text, list[0].Name,
			u.facts.NoHook(list[0]))
	}
	t := &target{source: hooks{fs}, text: p.Text, name: p.Args[0], pos: p.Pos}
	if kernel.IsPattern(t.name) {
		t.name = "lsm"
	}
	return []*target{t}
}

func hookPoint(h kernel.TypedPoint) *funcPoint {
	return &funcPoint{name: h.Name, text: "lsm:" + h.Name,
		place: tree.Place{Func: kernel.HookPrefix + h.Name, BTF: uint32(h.Func)},
		proto: h.Function()}
}
