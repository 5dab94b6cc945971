package value

import (
	"slices"
	"sync/atomic"

	"go.starlark.net/starlark"
)

// Lists of events, as argv: a mark behind the last element says that a tuple is one, and whether it was cut.
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
//
// A list that was not cut has a mark of another kind there. The list is one part of a key, however many elements it
// has, and is shown as a list where it has only one. A tuple that a script makes is as many parts as it has elements.
// A part of a list is a list, too: its array ends with the mark.

// listMark lies behind the last element of a tuple that was cut.
var listMark starlark.Value = moreElements{}

// moreElements is a value that no script sees, but as text.
type moreElements struct{ starlark.NoneType }

func (moreElements) String() string { return cutMark }

// wholeMark lies behind the last element of a list that was not cut.
var wholeMark starlark.Value = noMoreElements{}

// noMoreElements is a value that no script sees.
type noMoreElements struct{ starlark.NoneType }

// anyCutList is whether there was one: most runs have none.
var anyCutList atomic.Bool

// AnyCutList reports whether there was a tuple that was cut since the program began.
func AnyCutList() bool { return anyCutList.Load() }

// CutTuple makes the tuple of elems that knows that there were more.
func CutTuple(elems []starlark.Value) starlark.Tuple {
	anyCutList.Store(true)
	return markedBy(listMark, elems)
}

// List makes the tuple of elems that knows that it is a list of the event.
func List(elems []starlark.Value) starlark.Tuple { return markedBy(wholeMark, elems) }

func markedBy(mark starlark.Value, elems []starlark.Value) starlark.Tuple {
	all := make(starlark.Tuple, len(elems)+1)
	copy(all, elems)
	all[len(elems)] = mark
	return all[:len(elems)]
}

// IsList reports whether t is a list of the event, or a part of one, and no tuple that a script has made.
func IsList(t starlark.Tuple) bool {
	all := t[:cap(t)]
	if len(all) == len(t) {
		return false
	}
	last := all[len(all)-1]
	return last == listMark || last == wholeMark
}

// isCutTuple reports whether there were more elements behind the last one of t.
func isCutTuple(t starlark.Tuple) bool {
	return anyCutList.Load() && cap(t) > len(t) && t[:len(t)+1][len(t)] == listMark
}

// likeList is elems, a list if t is one, and cut if t was: they stand for its elements.
func likeList(t starlark.Tuple, elems []starlark.Value) starlark.Tuple {
	switch {
	case isCutTuple(t):
		return CutTuple(elems)
	case IsList(t):
		return List(elems)
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
