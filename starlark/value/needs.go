package value

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"
)

// How much memory a builtin or method needs for its result, and the refusal if there is none.

// What builtins of the interpreter take is not bounded by it, and what watches the memory hears of it when it is there.
// So it is estimated before they are called, from how many elements their arguments have.
const (
	// slot is the place of a value in a list or tuple.
	slot = 16
	// grown is the most that one takes in a list that grows with each: the list in its old and its new size.
	grown = 36
	// tupled is a tuple of some values, without these.
	tupled = 24
	// hashed is an element of a set or dict that grows: buckets of eight, half empty, beside those from before.
	hashed = 160
	// ofText is a string that shares the bytes of another.
	ofText = 16
	// ofNumber is an int of more than 32 bits.
	ofNumber = 64
)

// CheckNeeds refuses a call of a builtin of the interpreter for whose result there is no room.
func CheckNeeds(th *starlark.Thread, builtin string, args starlark.Tuple) error {
	return CheckRoom(th, needs(builtin, args))
}

// needs is about how many bytes a builtin has at the most while it makes its result.
func needs(builtin string, args starlark.Tuple) uint64 {
	if len(args) == 0 {
		return 0
	}
	n, each := most(args[0]), madeOf(args[0])
	switch builtin {
	case "list", "tuple", "reversed":
		if starlark.Len(args[0]) >= 0 {
			return n * (slot + each)
		}
		return n * (grown + each)
	case "sorted":
		return n * (2*slot + each) // keys, too
	case "set", "dict":
		return n * (hashed + each)
	case "enumerate":
		return n * (grown + tupled + 2*slot + each)
	case "zip":
		return needsOfZip(args)
	}
	return 0
}

func needsOfZip(args starlark.Tuple) uint64 {
	rows, each := most(args[0]), uint64(0)
	for _, v := range args {
		rows = min(rows, most(v))
		each += slot + madeOf(v)
	}
	return rows * (grown + tupled + each)
}

// CheckGrowth refuses a method of list, set or dict that adds elements for which there is no room.
func CheckGrowth(th *starlark.Thread, receiver starlark.Value, args starlark.Tuple) error {
	var n, added uint64
	for _, v := range args {
		n += most(v)
		added += most(v) * madeOf(v)
	}
	if list, ok := receiver.(*starlark.List); ok {
		if err := checkLonger(list, n); err != nil {
			return err
		}
	}
	if n*hashed < largeResult {
		return nil // the receiver grows by little, and seldom: what watches the memory sees that in time
	}
	switch receiver := receiver.(type) {
	case *starlark.List: // which has its old and its new size for a moment
		return CheckRoom(th, (uint64(receiver.Len())+n)*slot*5/4+added)
	case *starlark.Set:
		return CheckRoom(th, (uint64(receiver.Len())+n)*hashed/2+n*hashed/2+added)
	case *starlark.Dict:
		return CheckRoom(th, (uint64(receiver.Len())+n)*hashed/2+n*hashed/2+added)
	}
	return nil
}

// CheckEach refuses a list of something for each element of v, if there is no room for it.
func CheckEach(th *starlark.Thread, v starlark.Value) error {
	return CheckRoom(th, most(v)*(grown+madeOf(v)))
}

// boundedElements is something of whose elements only is known how many they are at the most.
type boundedElements interface{ most() int }

// most is how many elements v has at the most, 0 where that is not known.
func most(v starlark.Value) uint64 {
	if b, ok := v.(boundedElements); ok {
		return uint64(b.most())
	}
	return uint64(max(starlark.Len(v), 0))
}

// madeOf is how many bytes each element of v takes that is made when it is asked for.
func madeOf(v starlark.Value) uint64 {
	switch v := v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
		return 0 // they are there
	case starlark.Indexable:
		if n := v.Len(); n > 0 && !(isWord(v.Index(0)) && isWord(v.Index(n-1))) {
			return ofNumber
		}
		return 0
	}
	return ofText
}

// isWord reports whether a value is an int that takes no memory of its own.
func isWord(v starlark.Value) bool {
	i, ok := v.(starlark.Int)
	if !ok {
		return false
	}
	n, ok := i.Int64()
	return ok && n == int64(int32(n))
}

// countedElements are elements of a text of which only is known that they are no more than its bytes.
type countedElements struct {
	starlark.Value // the interpreter's
	bytes          int
}

var _ starlark.Iterable = countedElements{}

func (c countedElements) most() int { return c.bytes }

// Iterate is the interpreter's.
func (c countedElements) Iterate() starlark.Iterator { return c.Value.(starlark.Iterable).Iterate() }

// countedMethod is a method of strings that gives their elements.
func countedMethod(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	v, err := interpreters(th, b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return countedElements{v, len(s)}, nil
}

// splitting is a method of strings that cuts them at what its first argument says, or where blanks are.
func splitting(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	if err := checkParts(th, b.Name(), s, args); err != nil {
		return nil, err
	}
	v, err := interpreters(th, b, args, kwargs)
	list, ok := v.(*starlark.List)
	if err != nil || !ok || list.Len() == 0 {
		return v, err
	}
	by := separator(args)
	switch {
	case by == "":
		return v, nil
	case b.Name() == "rsplit": // the first part, which that makes new, is the beginning
		err = list.SetIndex(0, starlark.String(s[:list.Index(0).(starlark.String).Len()]))
	}
	return v, errors.Join(err, placedParts(s, by, list))
}

// checkParts refuses to cut a string into more parts than there is room for.
func checkParts(th *starlark.Thread, method, s string, args starlark.Tuple) error {
	parts := uint64(len(s)/2 + 1) // between blanks
	by, ok := "", false
	if len(args) > 0 {
		by, ok = starlark.AsString(args[0])
	}
	switch {
	case method == "splitlines":
		parts = uint64(strings.Count(s, "\n") + strings.Count(s, "\r") + 1)
	case ok && by != "":
		parts = uint64(strings.Count(s, by) + 1)
	case len(s) > largeResult/grown:
		parts = fields(s)
	}
	return CheckRoom(th, parts*(2*grown+ofText))
}

// fields is how many words a text has.
func fields(s string) (n uint64) {
	blank := true
	for i := range len(s) {
		is := s[i] <= ' '
		if blank && !is {
			n++
		}
		blank = is
	}
	return n
}
