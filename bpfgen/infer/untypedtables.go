package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/types"
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
