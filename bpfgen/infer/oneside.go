package infer

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// All changes of one table or cell are made on one side, those of several handlers, too. Where one handler changes it
// late, the kernel would make the change of another's later event before that, and the late one would overwrite it for
// good; and a handler that reads it would find what a later event has set. So then the changes of the others are late
// as well, and a warning says so of each. What a probe's own filter reads the kernel changes all the same: other
// changes of it are refused (checkBothSides). So it is with what an earlier unit's programs change, which are attached.

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
	for _, l := range slices.Concat(u.lateBefore, u.lateChanges) {
		note(l.c, l.probe)
	}
	for _, t := range slices.Concat(u.hiddenBefore, u.userUses) {
		if !t.reads && !t.timed {
			note(t.c, t.probe)
		}
	}
	return len(u.allLate) > before
}

// late reports whether the changes of a container are made in user space because another handler's are.
func (l *laterPart) late(id int) bool { return l.pr.u.allLate[id] && !l.pr.asked(id) }
