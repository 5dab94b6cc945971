package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The type of a table that is read while no kernel half has told what its values are.

// settle gives a type to the values of tables that are read while no kernel half has
// told what they are, and reports whether there was one: that of the default of get,
// or an int. First come the tables that only user space sets. What a kernel half sets
// a table to can be read from these, and then its type is known in the next round.
// Where tables are only set from each other, some of them get a type, in each further
// round twice as many: one alone may do, and there are few rounds.
func (u *unit) settle(most *int) bool {
	var alone, following []int
	for _, id := range sorted(u.unknown) {
		_, written := u.written.Get(id)
		switch {
		case u.conts.At(id).val.Kind != types.Bot:
			u.unknown.Delete(id)
		case written:
			following = append(following, id)
		default:
			alone = append(alone, id)
		}
	}
	if len(alone) == 0 {
		alone = following[:min(len(following), *most)]
		*most *= 2
	}
	for _, id := range alone {
		t := u.conts.At(id)
		if t.val = t.other; t.val.Kind == types.Bot {
			t.val = types.I64
		}
	}
	return u.unknown.Len() > 0
}

// sorted are the numbers of a set of containers, in order.
func sorted(set persistent.Map[int, bool]) []int {
	var out []int
	set.All(func(id int, _ bool) { out = append(out, id) })
	slices.Sort(out)
	return out
}

// guess notes of which form v is, which c is to hold, where a part of it depends on what c holds and nothing has told
// that so far, as in t[k] = (t[k][0] + 1, e.cpu). Such a part is an int if nothing else tells what it is.
func (b tables) guess(c *plan.Container, v val, pos plan.Pos) {
	t := b.u.cont(c)
	if !v.hasPoison() {
		return
	}
	if v.comp && t.other.Kind == types.Bot {
		t.other = b.guessed(v, pos)
	}
	refusal.AfterMistake()
}

func (b tables) guessed(v val, pos plan.Pos) types.Type {
	switch {
	case v.obj == (poison{}):
		return types.I64
	case !v.hasPoison():
		return storedAll(b.rv(v, pos).Type)
	}
	t := types.Type{Kind: types.Tuple, Names: v.names}
	if v.isRecord() {
		t.Kind = types.Record
	}
	for _, e := range v.elems {
		t.Elems = append(t.Elems, b.guessed(e, pos))
	}
	return t
}

// hasPoison reports whether v is not known, or a part of it.
func (v val) hasPoison() bool {
	return v.obj == (poison{}) || slices.ContainsFunc(v.elems, val.hasPoison)
}
