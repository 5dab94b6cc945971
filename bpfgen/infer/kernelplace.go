package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// mayProbe refuses a function that the kernel lets nobody probe, with the
// reason; such functions are missing in the lists of others, so it comes first.
// Trampolines have a list of their own, which the kernel does not show.
func (u *unit) mayProbe(p *plan.Pattern, name string) {
	if kernel.IsPattern(name) || p.Provider == "fentry" || p.Provider == "fexit" {
		return
	}
	list, err := u.facts.Blacklist()
	if err == nil {
		err = list.Check(name)
	}
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
}

// namesakes gives a place for each function of a name: static functions of
// several files share one, and by name the kernel would take the first, or none
// (6.6). nil where the name says it all.
func (u *unit) namesakes(p *plan.Pattern, at tree.Place) []tree.Place {
	if p.Provider != "kprobe" && p.Provider != "kretprobe" || kernel.IsPattern(p.Args[0]) {
		return nil
	}
	addrs, err := u.facts.Namesakes(at.Func)
	if err != nil || addrs == nil {
		return nil // where addresses are hidden the kernel decides
	}
	u.notef(p.Pos, "%s: the kernel has %d functions of that name, and all are probed", p.Text, len(addrs))
	var out []tree.Place
	for _, a := range addrs {
		one := at
		one.Address = a
		out = append(out, one)
	}
	return out
}
