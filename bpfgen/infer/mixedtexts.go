package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What scripts see of labels is text, and texts of all kinds may be in one container: n[errno(e.ret)] beside n[e.comm].
// But a kernel half has the number of a label alone, and its map keeps numbers of one label, or strings. So where texts
// of two kinds come together user space makes them:
//
//   - An aggregation has keys of both sides anyway, so the handlers with the second kind run in user space. Those with
//     the first stay in the kernel.
//   - Of a table and of a cell what one handler writes is what others read. So all handlers that use it run in user
//     space: the container is noted in unit.mixed, and the round over the plan begins anew.
//
// Names of functions and points are an exception: see nametext.go.

// areTexts reports whether scripts see a text in t and in other, of two kinds; in tuples of some of their elements,
// with the others of one kind.
func areTexts(t, other types.Type) bool {
	if isTextual(t) && isTextual(other) {
		return true
	}
	if t.Kind != other.Kind || len(t.Elems) != len(other.Elems) {
		return false
	}
	found := false
	for i, e := range t.Elems {
		if _, ok := types.Join(e, other.Elems[i]); ok {
			continue
		}
		if !areTexts(e, other.Elems[i]) {
			return false
		}
		found = true
	}
	return found
}

// mixedTexts refuses a use of a container that has texts of another kind so far.
func mixedTexts(u *unit, have, t types.Type, at use, pos plan.Pos, what string, c *plan.Container) {
	if fixed := u.conts.At(c.ID); fixed != nil && fixed.fixed || !areTexts(have, t) {
		return
	}
	here, there := at.beside(pos, u.point)
	if here = strings.TrimPrefix(here, " at "); here == "" {
		here = pos.String()
	}
	why := fmt.Sprintf("the %s of %s %s is %s at %s, and %s at %s: texts of different kinds come together in user "+
		"space; a second %[2]s keeps them apart in the kernel",
		what, c.Kind, name(c), inWords(have), there, inWords(t), here)
	if c.Kind == plan.Table || c.Kind == plan.Cell {
		u.mixed[c.ID] = why
	}
	refuse(pos, "%s", why)
}

// unmixed refuses a table or a cell that has texts of different kinds.
func unmixed(u *unit, c *plan.Container, pos plan.Pos) {
	if why := u.mixed[c.ID]; why != "" {
		refuse(pos, "%s", why)
	}
}
