package infer

import "github.com/startrace/startrace/internal/plan"

// For tests, handlers that run on both sides: which containers can be compared then.
//
// For tests a handler can be placed on both sides (plan.InBoth). The kernel's containers are then changed by the
// kernel half, those of the script by the user half, and in the end they must hold the same. A container that is also
// changed by what runs on one side only is not compared, nor one that is changed by a handler which reads such a
// container.

// noteUse notes that a half uses a container.
func (u *unit) noteUse(id int, writes bool) {
	if u.plan.Placement == plan.InBoth {
		u.sideUses = append(u.sideUses, sideUse{u.probe, id, u.both, writes})
	}
}

// onBoth walks the kernel half of a handler that is placed on both sides.
func (u *unit) onBoth(f func()) {
	was := u.both
	u.both = u.plan.Placement == plan.InBoth
	defer func() { u.both = was }()
	f()
}

// alone gives the containers that are not the same on both sides, by their numbers.
func (u *unit) alone() map[int]bool {
	out := map[int]bool{}
	for _, x := range u.sideUses {
		if !x.both && x.writes {
			out[x.id] = true
		}
	}
	for grown := true; grown; {
		grown = false
		lost := map[int]bool{} // probes
		for _, x := range u.sideUses {
			lost[x.probe] = lost[x.probe] || x.both && out[x.id]
		}
		for _, x := range u.sideUses {
			if x.both && lost[x.probe] && !out[x.id] {
				out[x.id], grown = true, true
			}
		}
	}
	return out
}
