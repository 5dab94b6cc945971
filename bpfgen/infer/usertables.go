package infer

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// Messages when a kernel half and a user half both use a table or cell.
//
// A handler that runs in user space comes some milliseconds after its event. With a table that kernel halves write it
// finds what is there by then: reading that is warned about, and changing it refused, where the author has not said by
// kernel= which part of the work is the kernel's.

// partUses puts the uses by handlers with kernel= or keep= apart.
func (u sides) partUses() {
	for _, t := range u.userUses {
		if t.own {
			u.ownUses = append(u.ownUses, t)
		}
	}
	u.userUses = slices.DeleteFunc(u.userUses, func(t userUse) bool { return t.own })
}

// checkBothSides says once of each handler and container what it means that both sides use it.
func (u *unit) checkBothSides() {
	type use struct{ probe, container int }
	list := slices.Concat(u.userUsesBefore, u.userUses)
	changed, said := map[use]bool{}, map[use]bool{}
	list = slices.DeleteFunc(list, func(t userUse) bool { return t.timed && !t.reads }) // of a time of its own
	for _, t := range list {
		if !t.reads && !t.among {
			changed[use{t.probe, t.c.ID}] = true
		}
	}
	for _, t := range list {
		at, ok := u.whereWritten(t)
		of := use{t.probe, t.c.ID}
		if !ok || said[of] || (t.reads || t.among) && changed[of] {
			continue
		}
		said[of] = true
		if t.reads || t.among {
			what := "read"
			if t.among {
				what = "may be read or changed"
			}
			u.warnf(t.pos, "%s %s is written by a kernel half (%s) and %s here in user space (%s), "+
				"some milliseconds after the event: what it held at the moment of the event can be read in kernel=",
				t.c.Kind, name(t.c), at, what, t.why)
			continue
		}
		u.errorf(t.pos, "%s %s is also written by a kernel half (%s), but this handler, which may change it, "+
			"runs in user space (%s): give the kernel's part as kernel=, or keep the handler to what "+
			"the kernel can run", t.c.Kind, name(t.c), at, t.why)
	}
}

// whereWritten says where a kernel half writes what a handler in user space
// uses; at least one of both is of this unit.
func (u *unit) whereWritten(t userUse) (plan.Pos, bool) {
	if at, ok := u.written.Get(t.c.ID); ok {
		return at, true
	}
	if at, ok := u.writtenBefore.Get(t.c.ID); ok {
		return at, true
	}
	return whereMade(t, slices.Concat(u.made.At(t.c.ID), u.madeBefore.At(t.c.ID)))
}

// whereMade says where the kernel makes a change, for a handler in user space, of what another one reads. What a timer
// reads is of a time of its own.
func whereMade(t userUse, made []maker) (plan.Pos, bool) {
	own := func(m maker) bool { return m.probe == t.probe }
	if len(made) == 0 || !t.reads && !t.among || t.timed || slices.ContainsFunc(made, own) {
		return plan.Pos{}, false
	}
	return made[0].at, true
}

// reading walks a function before the handler, and notes which tables and cells it asks.
func (pr *probe) reading(f func()) {
	was := pr.u.reading
	pr.u.reading = true
	defer func() { pr.u.reading = was }()
	f()
}

// asked reports whether what runs before the handler asks a container.
func (pr *probe) asked(id int) bool { return pr.u.asked.At(containerUse{pr.p.ID, id}) }
