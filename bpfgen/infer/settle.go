package infer

import (
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
)

// settle gives a type to the values of tables that are read while no kernel half has
// told what they are, and reports whether there was one: that of the default of get,
// or an int. First are those that only user space sets: where a kernel half sets one,
// what it sets may follow from them in the next round. Of tables that only follow
// from each other a few are settled, and in each further round twice as many.
func (u *unit) settle(most *int) bool {
	var alone, following []int
	for _, id := range slices.Sorted(maps.Keys(u.unknown)) {
		_, written := u.written[id]
		switch {
		case u.conts[id].val.Kind != types.Bot:
			delete(u.unknown, id)
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
		t := u.conts[id]
		if t.val = t.other; t.val.Kind == types.Bot {
			t.val = types.I64
		}
	}
	return len(u.unknown) > 0
}
