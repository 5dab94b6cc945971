package infer

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// All changes of one table or cell are made on one side, the kernel's or user space's.
//
// All changes of one table or cell are made on one side, those of several handlers, too. Where one handler changes it
// late, the kernel would make the change of another's later event before that, and the late one would overwrite it for
// good; and a handler that reads it would find what a later event has set. So then the changes of the others are late
// as well, and a warning says so of each. What a probe's own filter reads the kernel changes all the same: other
// changes of it are refused (checkBothSides). What the programs of an earlier unit change they go on changing, as they
// are attached: a warning says of a late change beside them that the order is not kept.

// sides are a unit as far as it decides on which side changes of containers are made.
type sides struct{ *unit }

// alsoLate notes which containers are changed late in this round that the kernel also changes, for the next round. It
// reports whether there are any.
func (u sides) alsoLate() bool {
	before := len(u.allLate)
	note := func(c *plan.Container, probe int) {
		if slices.ContainsFunc(u.made.At(c.ID), func(m maker) bool {
			return m.probe != probe && !u.asked.At(containerUse{m.probe, c.ID})
		}) {
			u.allLate[c.ID] = true
		}
	}
	for _, l := range u.lateChanges {
		note(l.c, l.probe)
	}
	for _, t := range u.userUses {
		if !t.reads && !t.timed {
			note(t.c, t.probe)
		}
	}
	for _, c := range u.lateInUnits {
		note(c, -1) // the earlier unit may be of the same probe
	}
	return len(u.allLate) > before
}

// lateInUnits are the containers that handlers of the units so far change in user space, or may change there.
func (t *Types) lateInUnits() (out []*plan.Container) {
	for _, r := range t.units {
		for _, l := range r.lateChanges {
			out = append(out, l.c)
		}
		for _, use := range r.userUses {
			if !use.reads && !use.timed {
				out = append(out, use.c)
			}
		}
	}
	return out
}

// checkOrder warns of late changes of what the kernel changes for a probe of an earlier unit, once in a session: a
// probe that is entered again at the prompt has no more to say.
func (u sides) checkOrder() {
	u.res.orders = nil
	check := func(c *plan.Container, pos plan.Pos, how string) {
		if made := u.madeBefore.At(c.ID); len(made) > 0 {
			this := order{c.ID, made[0].pos.String()}
			if u.res.orders = append(u.res.orders, this); u.earlier != nil && u.earlier.told[this] {
				return
			}
			u.warnf(pos, "%s %s %s here in user space, some milliseconds after the event, and in the kernel by the "+
				"probe of %s, which is attached already: the changes are not made in the order of their events. "+
				"Detach that probe and enter it again, so that its change is made in user space, too",
				c.Kind, name(c), how, made[0].pos)
		}
	}
	said := map[int]bool{}
	for _, l := range u.lateChanges {
		said[l.c.ID] = true
		check(l.c, l.pos, "is changed")
	}
	for _, t := range u.userUses {
		if !t.reads && !t.timed && !said[t.c.ID] {
			said[t.c.ID] = true
			check(t.c, t.pos, "may be changed")
		}
	}
}

// late reports whether the changes of a container are made in user space because another handler's are.
func (l *laterPart) late(id int) bool { return l.pr.u.allLate[id] && !l.pr.asked(id) }
