package infer

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// A trial is a walk that may come to nothing: what it learns about containers, and
// what it warns of, is forgotten then. It keeps what was known of each container
// that it uses, and of no others.
type trial struct {
	u                        *unit
	outer                    *trial
	before                   map[int]contState
	mistakes, warnings, uses int
	changed                  bool
}

// contState is what a round knows of a container.
type contState struct {
	t             *contType // nil: it was not there
	was           contType
	used, unknown bool
	written       plan.Pos // invalid: it is not written
}

// try begins a trial. Its end must be told.
func (u *unit) try() *trial {
	u.trial = &trial{
		u: u, outer: u.trial, before: map[int]contState{},
		mistakes: len(u.diags), warnings: len(u.warns), uses: len(u.useList), changed: u.changed,
	}
	return u.trial
}

// changing is called before something is learnt of container id.
func (u *unit) changing(id int) {
	if u.trial == nil {
		return
	}
	if _, kept := u.trial.before[id]; kept {
		return
	}
	s := contState{t: u.conts[id], used: u.used[id], unknown: u.unknown[id], written: u.written[id]}
	if s.t != nil {
		s.was = *s.t
		s.was.present = slices.Clone(s.t.present)
	}
	u.trial.before[id] = s
}

// end is the end of the trial, whatever has become of it. What was known before it
// belongs to the trial around it.
func (t *trial) end() {
	t.u.trial = t.outer
	if t.outer == nil {
		return
	}
	for id, s := range t.before {
		if _, kept := t.outer.before[id]; !kept {
			t.outer.before[id] = s
		}
	}
}

// undo forgets what the trial has learnt.
func (t *trial) undo() {
	u := t.u
	u.diags, u.warns, u.useList, u.changed = u.diags[:t.mistakes], u.warns[:t.warnings], u.useList[:t.uses], t.changed
	for id, s := range t.before {
		s.restore(u, id)
	}
	clear(t.before)
}

func (s *contState) restore(u *unit, id int) {
	delete(u.conts, id)
	delete(u.used, id)
	delete(u.unknown, id)
	delete(u.written, id)
	if s.t != nil {
		*s.t = s.was
		u.conts[id] = s.t
	}
	if s.used {
		u.used[id] = true
	}
	if s.unknown {
		u.unknown[id] = true
	}
	if s.written.IsValid() {
		u.written[id] = s.written
	}
}
