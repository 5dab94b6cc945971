package parts

import (
	"iter"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/plan"
)

// Parts, all that is loaded: which have a probe, what they lose.

// Parts are the parts that are loaded, each from its loading to the end of the run, or until the prompt has replaced
// all that is in it.
type Parts struct {
	// All are the parts in the order in which they were loaded.
	All []*Part
}

// Add puts a part behind the others.
func (l *Parts) Add(p *Part) { l.All = append(l.All, p) }

// Remove takes a part out.
func (l *Parts) Remove(p *Part) {
	l.All = slices.DeleteFunc(l.All, func(other *Part) bool { return other == p })
}

// Of gives the parts that have a probe: one, and those of its points in modules
// that were loaded later.
func (l *Parts) Of(probe int) iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		for _, p := range l.All {
			if p.has(probe) && !yield(p) {
				return
			}
		}
	}
}

// Have reports whether a probe is loaded.
func (l *Parts) Have(probe int) bool {
	return slices.ContainsFunc(l.All, func(p *Part) bool { return p.has(probe) })
}

// Points is how many points a probe has.
func (l *Parts) Points(probe int) (n int) {
	for p := range l.Of(probe) {
		n += p.Points(probe)
	}
	return n
}

// Attached reports whether programs of a probe run.
func (l *Parts) Attached(probe int) bool {
	for p := range l.Of(probe) {
		if p.Loaded.Attached(probe) {
			return true
		}
	}
	return false
}

// Lost sums the losses of one probe, and the runs that the kernel skipped: -1
// if it does not count these.
func (l *Parts) Lost(probe int) (lost, missed int64, err error) {
	counted := true
	for p := range l.Of(probe) {
		losses, complete, err := loss.Of(p.Plan, p.Loaded)
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

// OnlyLists reports whether nothing can happen any more: all programs are those of iterators, which have run when they
// are attached, and no probe waits for its points.
func (l *Parts) OnlyLists(growing bool) bool {
	for _, part := range l.All {
		if growing && len(part.Result.Waits) > 0 {
			return false
		}
		for _, p := range part.Unit.Tree.Programs {
			if p.Attach.Kind() != tree.AttachIter && p.Probe >= 0 {
				return false
			}
		}
	}
	return true
}

// Empty reports whether no program has sent anything that was not read.
func (l *Parts) Empty() bool {
	return !slices.ContainsFunc(l.All, func(p *Part) bool { return p.Reader != nil && !p.Reader.Empty() })
}

// Keyed reports whether kernel halves use a container, and if so whether it has
// keys.
func (l *Parts) Keyed(decl *plan.Container) (keyed, used bool) {
	for _, p := range l.All {
		if all := p.Unit.Tree.Containers; decl.ID < len(all) && all[decl.ID] != nil {
			return all[decl.ID].KeyLayout != nil, true
		}
	}
	return false, false
}

// Written is how many entries programs have put into a container.
func (l *Parts) Written(container int) (n uint64) {
	for _, p := range l.All {
		n += p.Loaded.Entries(container)
	}
	return n
}

// Ahead reports whether records of a part would have to wait for those that another ring still holds.
func (l *Parts) Ahead(p *Part) bool { return slices.ContainsFunc(l.All, p.aheadOf) }

// Behind reports whether the last take has left records in some ring, for which there was no room.
func (l *Parts) Behind() bool {
	return slices.ContainsFunc(l.All, func(p *Part) bool { return p.behind })
}
