package doctor

import (
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/point"
)

// Which kinds of points can be traced by what was tried, and why not.

// points says which kinds of points can be traced, by what was tried: one of the ways
// of a kind must be there, what all tracing needs, and what has the kind's points.
func (m *Machine) points() []Kind {
	out := []Kind{}
	for _, k := range point.Kinds() {
		out = append(out, Kind{k.Name, m.works(k)})
	}
	return out
}

// works reports whether a kind can be traced by a script that only counts. Programs of calls read the kernel's memory
// in any case: it says whose call it is.
func (m *Machine) works(k *point.Kind) bool {
	if !m.mayTrace() || m.Tried[kernel.WayMemory] != nil && k.Calls() || m.lists(k) != nil {
		return false
	}
	for _, w := range k.Ways {
		if err, tried := m.Tried[w.Name]; tried && err == nil && !(w.Name == kernel.WayFentry && m.fewTrampolines()) {
			return true
		}
	}
	return false
}

// fewTrampolines: before 5.17 trampolines do not take functions with certain pointers
// among their arguments (kernel.NoTrampoline), and single probes, which do, are
// refused. What is not there for all functions does not count as there.
func (m *Machine) fewTrampolines() bool {
	return !m.Version.AtLeast(5, 17) && m.notPermitted(kernel.WayKprobe)
}

// lists is why the list of a kind's points cannot be read.
func (m *Machine) lists(k *point.Kind) error {
	switch k.ListedBy {
	case point.Tracefs:
		return m.Tracefs
	case point.BTF:
		return m.BTF
	}
	return nil
}

// kinds are the findings of what can be traced.
func (m *Machine) kinds() (out []Finding) {
	if m.Tried == nil {
		return nil
	}
	var works, fails []string
	for _, p := range m.points() {
		if p.Works {
			works = append(works, p.Name)
		} else {
			fails = append(fails, p.Name)
		}
	}
	if len(works) > 0 {
		out = append(out, Finding{"points", OK, strings.Join(works, ", "), ""})
	}
	if len(fails) > 0 {
		out = append(out, Finding{"other points", No, strings.Join(fails, ", "), ""})
	}
	return out
}

// refusedPoints: the rights to trace are there, and the kernel wants more for some
// kinds of points. Where it refuses perf events at all, that is another problem.
func (m *Machine) refusedPoints() *Problem {
	if !m.mayTrace() || m.forbidden() != nil || m.paranoid() != nil || m.confidentiality() != nil {
		return nil
	}
	kinds := m.refusedKinds()
	if len(kinds) == 0 {
		return nil
	}
	p := m.forbiddenBy()
	p.Fatal = false
	if !m.has(capAdmin) {
		p = &Problem{ID: "admin", Remedy: "run it as root, or with CAP_SYS_ADMIN",
			Cause: "this kernel does not permit these to a process with CAP_BPF and CAP_PERFMON alone"}
	}
	p.Loss = strings.Join(kinds, ", ")
	return p
}

// refusedKinds are the kinds of points that the kernel refuses to this process, but for
// those that every refusal of perf events concerns (perfEvents).
func (m *Machine) refusedKinds() (kinds []string) {
	for _, p := range m.points() {
		k := point.Must(p.Name)
		perf := k.AttachedBy(kernel.WayTracepoint) || k.AttachedBy(kernel.WayProfile) ||
			k.AttachedBy(kernel.WayHardware)
		if !p.Works && !perf && m.lists(k) == nil && m.refuses(k) {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// refuses reports whether a way of a kind is there for who has more rights.
func (m *Machine) refuses(k *point.Kind) bool {
	for _, w := range k.Ways {
		if w.Forbidden == "" && m.notPermitted(w.Name) {
			return true
		}
	}
	return false
}
