package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The type of a table that is read while no kernel half has told what its values are.

// untold are a unit's tables and cells that are read while no kernel half has told what their values are.
type untold struct{ *unit }

// settle gives a type to their values, and reports whether there was one: that of the
// default of get, of what the script itself has put there, of what they are compared
// with, or an int. First come the tables that only user space sets. What a kernel half
// sets a table to can be read from these, and then its type is known in the next round.
// Where tables are only set from each other, some of them get a type, in each further
// round twice as many: one alone may do, and there are few rounds.
func (u untold) settle(most *int) bool {
	var alone, following []int
	for _, id := range sorted(u.unknown) {
		_, written := u.written.Get(id)
		switch {
		case u.conts.At(id).told():
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
		u.tell(u.conts.At(id))
	}
	return u.unknown.Len() > 0
}

// tell gives a type to the values of a table or cell that no kernel half has told. A cell that begins as None stays
// that where nobody sets it.
func (u untold) tell(t *contType) {
	begun := t.val
	t.guessed = true
	if t.c.Kind == plan.Cell && !(u.stored[t.c.ID] || t.c.Filled || u.res.Tree.Several) {
		return
	}
	t.val = t.other
	if t.val.Kind == types.Bot && t.c.Holds != nil {
		t.val = usersType(constType(t.c.Holds), u.strMax)
	}
	if t.val.Kind == types.Bot {
		t.val = t.compared
	}
	if t.guessed = t.val.Kind == types.Bot; t.guessed {
		t.val = types.I64
	}
	t.val.MayNone = t.val.MayNone || begun.Kind == types.None
}

// guesses reports whether there are tables or cells that have ints only because nothing says what they have.
func (u *unit) guesses() (are bool) {
	u.conts.All(func(_ int, t *contType) { are = are || t.guessed })
	return are
}

// told reports whether the type of the values is known: a cell that begins as None can hold something else later.
func (t *contType) told() bool {
	return t.val.Kind != types.Bot && (t.val.Kind != types.None || t.c.Kind != plan.Cell || t.val.MayFault || t.guessed)
}

// value is what a table or cell holds that nothing has told of in this round: nothing can be said about a use of it.
func (u untold) value(c *plan.Container) val {
	u.unknown.Set(c.ID, true)
	return val{obj: poison{}, asked: c}
}

// usersType is the type of what user space puts into a table or cell, by a value that is like it: any int, and a string
// of any length.
func usersType(t types.Type, most int) types.Type {
	switch {
	case t.IsName() || t.Kind == types.Str:
		return storedAll(roomy(types.StrOf(1), most))
	case t.Kind == types.Bytes:
		return storedAll(roomy(t, most))
	case t.Kind == types.Tuple || t.Kind == types.Record:
		return ofElems(t.Present(), func(t types.Type) types.Type { return usersType(t, most) })
	case t.Kind == types.Bool:
		return types.Boolean
	}
	return types.I64
}

// likeText notes that v, if it is of a table or cell that nothing has told of, is used as a string.
func (u untold) likeText(v val) { u.like(v, types.StrOf(1)) }

// like notes that v is compared with a value of type t.
func (u untold) like(v val, t types.Type) {
	if v.asked == nil || t.Kind == types.Bot || t.Kind == types.None {
		return
	}
	if c := u.cont(v.asked); c.compared.Kind == types.Bot {
		c.compared = usersType(t, u.strMax)
	}
}

// compared is the comparison of x and y, of which one at least nothing has told of.
func (u untold) compared(b *body, x, y val, pos plan.Pos) cond {
	u.like(x, y.typ())
	u.like(y, x.typ())
	return unsaid(b, pos)
}

// unsaid is a test of a value of a table or cell that nothing has told of. Of this round only what it tells is kept:
// the rest of the function is walked, which may tell more.
func unsaid(b *body, pos plan.Pos) cond {
	return cond{expr: b.local(b.newLocal("", types.Boolean), pos)}
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

// unsaidSet is willSet of what x is, if r ended the walk of the value or the key without a mistake.
func (b tables) unsaidSet(r *refusal.Refusal, x, v val, pos plan.Pos) {
	if ref, ok := x.c.(plan.Ref); ok && r.Silent {
		b.willSet(ref.Container, v, pos)
	}
}

// willSet notes that a table is set to v, where the key, or v, depends on what nothing has told of in this round: so
// it is none that only user space sets.
func (b tables) willSet(c *plan.Container, v val, pos plan.Pos) {
	if c.Kind != plan.Table {
		return
	}
	b.wrote(c, pos)
	if t := b.u.cont(c); v.comp && t.other.Kind == types.Bot {
		t.other = b.guessed(v, pos)
	}
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
