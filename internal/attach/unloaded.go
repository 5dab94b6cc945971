package attach

import (
	"errors"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Probes at functions of a module that was unloaded and loaded again are renewed.
//
// A link or a trampoline holds the module whose functions it stands at; a probe of
// its own does not, and dies when the module is unloaded (kprobes_module_callback,
// kernel/kprobes.c).

// InModules reports whether l has probes that die when a module is unloaded.
func (l *Loaded) InModules() bool {
	return slices.ContainsFunc(l.programs, func(p *program) bool {
		return mayDie(p) && slices.ContainsFunc(p.Attach.At(), func(at tree.Place) bool { return at.Module != "" })
	})
}

// mayDie reports whether a program has probes that each stand alone at functions of the kernel.
func mayDie(p *program) bool {
	return wayOf(p.Attach.Kind()).probes == kernelProbes && !p.multi && !p.session
}

// Renew attaches again what stood at functions of a module that has been unloaded and loaded again. It gives for each
// such probe how many points were attached. Where some cannot be attached the others are, and the error joins the
// reasons.
func (l *Loaded) Renew(module string) (renewed map[int]int, err error) {
	renewed = map[int]int{}
	for _, p := range slices.Clone(l.programs) {
		if !mayDie(p) {
			continue
		}
		dead := &program{Program: withPlaces(p.Program, nil), code: p.code}
		for _, pt := range p.points {
			if pt.module == module {
				dead.points = append(dead.points, pt)
			}
		}
		if len(dead.points) > 0 {
			n, failed := l.renew(p, dead, module)
			renewed[p.Probe] += n
			err = errors.Join(err, failed)
		}
	}
	return renewed, err
}

// renew replaces the dead points of p.
func (l *Loaded) renew(p, dead *program, module string) (int, error) {
	for _, at := range p.Attach.At() {
		if at.Module == module {
			dead.Attach.Functions().Add([]tree.Place{at})
		}
	}
	l.keepUnseen(p, dead.points)
	p.points = slices.DeleteFunc(p.points, func(pt spot) bool { return pt.module == module })
	err := l.releaseAll(dead.points)
	points, failed := l.openProbes(dead, true)
	p.points = append(p.points, points...)
	p.fewReturns = p.fewReturns || dead.fewReturns
	return len(points), errors.Join(err, failed)
}
