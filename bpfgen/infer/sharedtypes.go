package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The types of containers that several units share, as at the prompt, and the message that one would become another
// type there.

// Room is how many containers the units that share Types can have. The tables
// of followed processes and of traced cgroups are the last, so that they are the same in all of them.
const Room = 512

// Add fixes the types of what a unit uses. It is called when the unit has been
// loaded.
func (t *Types) Add(r *Result) {
	r.conts.All(func(id int, c *contType) {
		if _, known := t.conts.Get(id); known || r.Tree.Containers[id] == nil {
			return
		}
		fixed := *c
		fixed.fixed = true
		fixed.fill(r.Tree.Containers[id].Key, r.Tree.Containers[id].Value)
		fixed.key, fixed.val = unmarked(fixed.key), unmarked(fixed.val) // their maps keep what they keep
		t.conts.Set(id, &fixed)
	})
	t.units = append(t.units, r)
	for _, o := range r.orders {
		if t.told == nil {
			t.told = map[order]bool{}
		}
		t.told[o] = true
	}
	if len(r.Tree.Names) > len(t.names) {
		t.names = r.Tree.Names
	}
}

// Remove says that the programs of a unit do not run any more: what they did
// with containers is no reason to refuse others. The types stay.
func (t *Types) Remove(r *Result) {
	for i, unit := range t.units {
		if unit == r {
			t.units = append(t.units[:i:i], t.units[i+1:]...)
			return
		}
	}
}

// fill gives t the types that finish has chosen for the tree, where no use told them.
func (t *contType) fill(key, val types.Type) {
	if t.key.Kind == types.Bot {
		t.key = key
	}
	if t.val.Kind == types.Bot {
		t.val = val
	}
	for _, at := range []*use{&t.keyAt, &t.valAt} {
		if !at.IsValid() {
			at.Pos = t.c.Pos
		}
	}
}

// containers gives the types for the rounds over another unit, which changes copies.
func (t *Types) containers() persistent.Map[int, *contType] {
	if t == nil {
		return persistent.Map[int, *contType]{}
	}
	return t.conts
}

// share makes u one of several units.
func (u *unit) share(t *Types) {
	u.followID, u.cgroupsID = len(u.plan.Containers), len(u.plan.Containers)+1
	if t == nil {
		return
	}
	u.followID, u.cgroupsID, u.res.Tree.Several = Room-2, Room-1, true
	for _, r := range t.units {
		u.userUsesBefore = append(u.userUsesBefore, r.userUses...)
		r.written.All(u.writtenBefore.Set)
		r.made.All(func(id int, list []maker) {
			u.madeBefore.Set(id, slices.Concat(u.madeBefore.At(id), list))
		})
		r.askers.All(func(id int, list []asker) {
			for _, a := range list {
				u.addAsker(id, a)
			}
		})
	}
	u.lateBefore, u.hiddenBefore, u.lateInUnits = t.unsaid(), t.unsaidHidden(), t.lateInUnits()
}

// unsaid are the changes of handlers in user space that no kernel half of the units so far reads: else that has been
// said. Their handlers are attached as they are.
func (t *Types) unsaid() (out []lateChange) {
	for _, r := range t.units {
		for _, l := range r.lateChanges {
			if !t.asked(l.c.ID, l.probe) {
				l.decided, l.can, l.before = true, false, true
				out = append(out, l)
			}
		}
	}
	return out
}

// unsaidHidden are the same of uses that may change a table or a cell.
func (t *Types) unsaidHidden() (out []userUse) {
	for _, r := range t.units {
		for _, use := range r.userUses {
			if !t.asked(use.c.ID, use.probe) {
				use.before = true
				out = append(out, use)
			}
		}
	}
	return out
}

// asked reports whether a kernel half of another probe of the units so far reads a container.
func (t *Types) asked(id, probe int) bool {
	return slices.ContainsFunc(t.units, func(r *Result) bool {
		return slices.ContainsFunc(r.askers.At(id), func(a asker) bool { return a.probe != probe })
	})
}

// mayChange refuses to change the type of a container whose map exists.
func (u *unit) mayChange(c *plan.Container, what, from, to string, at, pos plan.Pos) {
	if t := u.conts.At(c.ID); t == nil || !t.fixed {
		return
	}
	wrong(pos, "the %s of %s %s would become %s here, but it is %s since the probe of %s was attached: use a new %s",
		what, c.Kind, name(c), to, from, at, c.Kind)
}
