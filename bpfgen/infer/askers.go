package infer

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// Which probes read a container in kernel halves, and which handlers change one in user space, as latechanges.go needs
// it.

// An asker is a probe whose kernel half reads a container.
type asker struct {
	probe int
	pos   plan.Pos
}

// A maker is a probe whose handler in user space changes a container, where the kernel makes the change.
type maker struct {
	probe int
	// at is the place of the change, and pos that of the probe.
	at, pos plan.Pos
}

// A lateChange is a change of a table or cell by a handler in user space.
type lateChange struct {
	c     *plan.Container
	pos   plan.Pos
	probe int
	// at is the place of the probe. before is set where it was attached before this unit.
	at     plan.Pos
	before bool
	// form is the same change as kernel= has it.
	form string
	// decided: whether the kernel can make the change has been found out, since another probe is known to read the
	// container. can is set where it can, and only the place is in the way.
	decided, can bool
	// why says what is in the way at this place, "" where that is not known.
	why string
}

// asksOf notes that a kernel half of the probe that is walked reads a container.
func (u *unit) asksOf(c *plan.Container) {
	for _, p := range u.plan.Probes {
		if p.ID == u.probe {
			u.addAsker(c.ID, asker{p.ID, p.Pos})
		}
	}
}

func (u *unit) addAsker(id int, a asker) {
	if list := u.askers.At(id); !slices.Contains(list, a) {
		u.askers.Set(id, append(slices.Clip(list), a))
	}
}

// askedBy is a probe other than one whose kernel half reads a container; nil: there is none.
func (u *unit) askedBy(id, other int) *asker {
	list := u.askers.At(id)
	if i := slices.IndexFunc(list, func(a asker) bool { return a.probe != other }); i >= 0 {
		return &list[i]
	}
	return nil
}
