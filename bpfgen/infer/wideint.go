package infer

import "github.com/startrace/startrace/internal/plan"

// The refusal of ints that do not fit into 64 bits, and of cells that begin with such.
//
// Mistakes in numbers that can be seen when a handler is compiled.

// mustHaveWords refuses ints in v that do not fit in 64 bits.
func mustHaveWords(pos plan.Pos, v val) {
	if i, ok := v.c.(plan.Int); ok {
		mustBeWord(pos, i)
	}
	for _, e := range v.elems {
		mustHaveWords(pos, e)
	}
}

// mustKnowAll is mustKnow of v and of what it is made of.
func (v val) mustKnowAll() {
	v.mustKnow()
	for _, e := range v.elems {
		e.mustKnowAll()
	}
}

// checkCells refuses cells that begin with more than their values can be: one that is read as signed with 2**63.
func (u *unit) checkCells() {
	u.used.All(func(id int, _ bool) {
		t := u.conts.At(id)
		i, ok := t.c.Init.(plan.Int)
		if t.c.Kind == plan.Cell && ok && t.val.Signed && !i.Big.IsInt64() {
			u.errorf(t.c.Pos, "%s begins with %s, but what a kernel half does to it makes its values signed ints of "+
				"64 bits, at most 9223372036854775807", name(t.c), i.Big)
		}
	})
}
