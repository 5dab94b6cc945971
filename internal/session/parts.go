package session

import (
	"iter"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/plan"
)

// parts are those that are loaded, each from its loading to the end of the run,
// or until the prompt has replaced all that is in it.
type parts struct{ list []*part }

func (s *parts) add(p *part) { s.list = append(s.list, p) }

func (s *parts) remove(p *part) {
	s.list = slices.DeleteFunc(s.list, func(other *part) bool { return other == p })
}

// of gives the parts that have a probe: one, and those of its points in modules
// that were loaded later.
func (s *parts) of(probe int) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		for _, p := range s.list {
			if p.has(probe) && !yield(p) {
				return
			}
		}
	}
}

// have reports whether a probe is loaded.
func (s *parts) have(probe int) bool {
	return slices.ContainsFunc(s.list, func(p *part) bool { return p.has(probe) })
}

// points is how many points a probe has.
func (s *parts) points(probe int) (n int) {
	for p := range s.of(probe) {
		n += p.points(probe)
	}
	return n
}

// attached reports whether programs of a probe run.
func (s *parts) attached(probe int) bool {
	for p := range s.of(probe) {
		if p.loaded.Attached(probe) {
			return true
		}
	}
	return false
}

// lost sums the losses of one probe, and the runs that the kernel skipped: -1
// if it does not count these.
func (s *parts) lost(probe int) (lost, missed int64, err error) {
	counted := true
	for p := range s.of(probe) {
		losses, complete, err := loss.Of(p.plan, p.loaded)
		if err != nil {
			return 0, 0, err
		}
		counted = counted && complete
		for _, l := range losses {
			switch {
			case l.Probe != probe:
			case l.Kind == attach.LossMissed:
				missed += int64(l.Count)
			default:
				lost += int64(l.Count)
			}
		}
	}
	if !counted {
		missed = -1
	}
	return lost, missed, nil
}

// onlyLists reports whether nothing can happen any more: all programs are those of iterators, which have run when they
// are attached, and no probe waits for its points.
func (s *parts) onlyLists(growing bool) bool {
	for _, part := range s.list {
		if growing && len(part.result.Waits) > 0 {
			return false
		}
		for _, p := range part.unit.Tree.Programs {
			if p.Attach.Kind() != tree.AttachIter && p.Probe >= 0 {
				return false
			}
		}
	}
	return true
}

// empty reports whether no program has sent anything that was not read.
func (s *parts) empty() bool {
	return !slices.ContainsFunc(s.list, func(p *part) bool { return p.reader != nil && !p.reader.Empty() })
}

// keyed reports whether kernel halves use a container, and if so whether it has
// keys.
func (s *parts) keyed(decl *plan.Container) (keyed, used bool) {
	for _, p := range s.list {
		if all := p.unit.Tree.Containers; decl.ID < len(all) && all[decl.ID] != nil {
			return all[decl.ID].KeyLayout != nil, true
		}
	}
	return false, false
}

// written is how many entries programs have put into a container.
func (s *parts) written(container int) (n uint64) {
	for _, p := range s.list {
		n += p.loaded.Entries(container)
	}
	return n
}
