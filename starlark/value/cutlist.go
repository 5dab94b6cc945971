package value

import (
	"slices"
	"sync/atomic"

	"go.starlark.net/starlark"
)

// Lists that were cut, as argv: the mark behind the last element.
//
// A list that a kernel half read and that was longer than its room is a tuple
// of the elements that were read, to scripts: its length, ==, `in`, hashes,
// indices and loops are those of these elements. That it was cut is only
// printed, as a mark behind the last one.
//
// A type of our own would be no tuple to the interpreter: Compare, +, *args and
// % ask for starlark.Tuple. So, as a string that was cut, it is known by where it
// lies: its array has one more element, which no script can reach.
//
//	(0, -1, -2), cut:
//
//	0  -1  -2  listMark
//	^ t: len(t) 3, cap(t) 4
//
// A part of a tuple shares its array: t[1:] of one that was cut ends in front of
// the same mark, and t[:2] does not.

// listMark lies behind the last element of a tuple that was cut.
var listMark starlark.Value = moreElements{}

// moreElements is a value that no script sees, but as text.
type moreElements struct{ starlark.NoneType }

func (moreElements) String() string { return cutMark }

// anyCutList is whether there was one: most runs have none.
var anyCutList atomic.Bool

// AnyCutList reports whether there was a tuple that was cut since the program began.
func AnyCutList() bool { return anyCutList.Load() }

// CutTuple makes the tuple of elems that knows that there were more.
func CutTuple(elems []starlark.Value) starlark.Tuple {
	anyCutList.Store(true)
	all := make(starlark.Tuple, len(elems)+1)
	copy(all, elems)
	all[len(elems)] = listMark
	return all[:len(elems)]
}

// isCutTuple reports whether there were more elements behind the last one of t.
func isCutTuple(t starlark.Tuple) bool {
	return anyCutList.Load() && cap(t) > len(t) && t[:len(t)+1][len(t)] == listMark
}

// likeCut is elems, cut if t was: they stand for its elements.
func likeCut(t starlark.Tuple, elems []starlark.Value) starlark.Tuple {
	if isCutTuple(t) {
		return CutTuple(elems)
	}
	return elems
}

// Marked are the elements of t as people see them: a mark is behind those of one that was cut.
func Marked(t starlark.Tuple) []starlark.Value {
	if isCutTuple(t) {
		return append(slices.Clone([]starlark.Value(t)), starlark.String(cutMark))
	}
	return t
}

// listsMarked are operands as texts show them: each tuple in them that was cut has its mark as an element.
func listsMarked(operands []starlark.Value) []starlark.Value {
	if !anyCutList.Load() || !holdsCutList(starlark.Tuple(operands), maxDepth) {
		return operands
	}
	asIs := func(s string) starlark.Value { return starlark.String(s) }
	same := func(v starlark.Value) starlark.Value { return v }
	out := slices.Clone(operands)
	for i, v := range operands {
		marked, err := texts{asIs, same, listMark}.of(v, maxDepth)
		if err != nil {
			return operands // too deep: shown as the interpreter shows it
		}
		if d, ok := v.(*starlark.Dict); ok {
			marked = taggedDict{marked.(*starlark.Dict), d}
		}
		out[i] = marked
	}
	return out
}

func holdsCutList(v starlark.Value, depth int) bool {
	if t, ok := v.(starlark.Tuple); ok && isCutTuple(t) {
		return true
	}
	return depth > 0 && slices.ContainsFunc(partsOf(v), func(e starlark.Value) bool { return holdsCutList(e, depth-1) })
}

// CutLen is how many elements were read of a tuple that was cut; false of what is none.
func CutLen(v starlark.Value) (n int, ok bool) {
	t, isTuple := v.(starlark.Tuple)
	return len(t), isTuple && isCutTuple(t)
}
