package points

import (
	"errors"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// Functions of the kernel that nobody may probe (blacklist), with the reason, and functions of the same name.

// byKprobe reports whether a pattern asks for kprobes, at entries or returns.
func byKprobe(p *plan.Pattern) bool {
	mech := mechanism(p)
	return mech == tree.AttachKprobe || mech == tree.AttachKretprobe
}

// mayProbe refuses a function that the kernel lets nobody probe, with the
// reason; such functions are missing in the lists of others, so it comes first.
// Trampolines have a list of their own, which the kernel does not show.
func (s search) mayProbe(p *plan.Pattern, name string) {
	if naming.IsPattern(name) || !byKprobe(p) {
		return
	}
	if err := s.blacklisted(name); err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
}

func (s search) blacklisted(name string) error {
	list, err := s.Facts.Blacklist()
	if err != nil {
		return err
	}
	return list.Check(name)
}

// leftOut reports whether a point of a list is a function that the kernel lets nobody
// probe: the list goes on without it, with a word.
func (s search) leftOut(one plan.Point) bool {
	p, ok := one.(*plan.Pattern)
	if !ok || !byKprobe(p) || len(p.Args) != 1 || naming.IsPattern(p.Args[0]) {
		return false
	}
	err := s.blacklisted(p.Args[0])
	if errors.Is(err, kernel.ErrNoProbes) {
		s.warnf(p.Pos, "%s is left out: %v", p.Text, err)
		return true
	}
	return false
}

// mustBeProbed refuses a function of the kernel that is there, and at which the kernel
// puts no probe: another point can do in its place.
func (s search) mustBeProbed(one plan.Point, targets []*Target) {
	p, ok := one.(*plan.Pattern)
	if !ok || len(targets) != 1 || targets[0].wholeFunction() == "" {
		return
	}
	if err := s.Facts.TryFunction(targets[0].wholeFunction()); err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
}

// namesakes gives a place for each function of a name: static functions of
// several files share one, and by name the kernel would take the first, or none
// (6.6). nil where the name says it all.
func (s search) namesakes(p *plan.Pattern, at tree.Place) []tree.Place {
	if !byKprobe(p) || naming.IsPattern(p.Args[0]) {
		return nil
	}
	addrs, err := s.Facts.Namesakes(at.Func)
	if err != nil || addrs == nil {
		return nil // where addresses are hidden the kernel decides
	}
	s.notef(p.Pos, "%s: the kernel has %d functions of that name, and all are probed", p.Text, len(addrs))
	var out []tree.Place
	for _, a := range addrs {
		one := at
		one.Address = a
		out = append(out, one)
	}
	return out
}
