package value

import (
	"errors"
	"slices"

	"go.starlark.net/starlark"
)

// A value with each string in it replaced.

// maxDepth bounds the walk: a list may hold itself, which the interpreter's own
// text of it says.
const maxDepth = 20

// holds reports whether there is a string in v for which the test holds.
func holds(v starlark.Value, depth int, test func(string) bool) bool {
	if s, ok := v.(starlark.String); ok {
		return test(string(s))
	}
	found := false
	for _, e := range partsOf(v) {
		found = found || depth > 0 && holds(e, depth-1, test)
	}
	return found && depth > 0
}

// partsOf are the values that the text of v shows.
func partsOf(v starlark.Value) []starlark.Value {
	switch v := v.(type) {
	case starlark.Tuple:
		return v
	case *starlark.List, *starlark.Set:
		var out []starlark.Value
		for e := range starlark.Elements(v.(starlark.Iterable)) {
			out = append(out, e)
		}
		return out
	case *starlark.Dict:
		var out []starlark.Value
		for _, kv := range v.Items() {
			out = append(out, kv...)
		}
		return out
	case *Record:
		return v.vals
	}
	return nil
}

// texts says what becomes of the parts of a value.
type texts struct {
	str  func(string) starlark.Value
	leaf func(starlark.Value) starlark.Value // of what is neither a string nor has parts
	more starlark.Value                      // stands behind the elements of a tuple that was cut; nil: nothing does
}

// of is v with each string in it, and each leaf, replaced. A value that holds itself, or
// is too deep, has none.
func (t texts) of(v starlark.Value, depth int) (starlark.Value, error) {
	if depth == 0 {
		return nil, errDeep
	}
	if s, ok := v.(starlark.String); ok {
		return t.str(string(s)), nil
	}
	parts := slices.Clone(partsOf(v))
	for i, e := range parts {
		var err error
		if parts[i], err = t.of(e, depth-1); err != nil {
			return nil, err
		}
	}
	switch v := v.(type) {
	case starlark.Tuple:
		if t.more != nil && isCutTuple(v) {
			parts = append(parts, t.more)
		}
		return starlark.Tuple(parts), nil
	case *starlark.List:
		return starlark.NewList(parts), nil
	case *starlark.Set:
		return setOf(parts)
	case *starlark.Dict:
		return dictOf(parts)
	case *Record:
		return NewRecord(v.names, parts), nil
	}
	return t.leaf(v), nil
}

var errDeep = errors.New("values are too deep in one another")

func setOf(elems []starlark.Value) (starlark.Value, error) {
	out := starlark.NewSet(len(elems))
	for _, e := range elems {
		if err := out.Insert(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dictOf is a dict of keys, each followed by its value.
func dictOf(pairs []starlark.Value) (starlark.Value, error) {
	out := starlark.NewDict(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		if err := out.SetKey(pairs[i], pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
