package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Keys with strings or lists that were cut.

// A cutKey is a key that holds strings or lists that were cut, in containers that live
// in user space: it is another key than that of whole ones of the same
// bytes or elements, as in the kernel's maps (docs/semantics.md). Scripts never see one.
type cutKey struct {
	starlark.Value
	where string // which of its parts were cut
}

var _ starlark.Comparable = cutKey{}

// Type is none that a script's value has, so that a cutKey equals no plain key.
func (cutKey) Type() string { return "key of a cut string" }

// CompareSameType is for the containers' look-up: only == and != are asked for.
func (k cutKey) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	l := y.(cutKey)
	same := k.where == l.where
	if same {
		var err error
		if same, err = starlark.EqualDepth(k.Value, l.Value, depth-1); err != nil {
			return false, err
		}
	}
	return equality(op, same, "key", "their strings")
}

// indexKey gives the key under which a container of user space keeps the entry
// of k.
func indexKey(k starlark.Value) starlark.Value {
	k = signedKey(k)
	if cutStrings.Load() == 0 && !anyCutList.Load() || k == nil {
		return k
	}
	if where := cutLeaves(k, ""); where != "" {
		return cutKey{k, where}
	}
	return k
}

// scriptKey is the opposite of indexKey.
func scriptKey(k starlark.Value) starlark.Value {
	if c, ok := k.(cutKey); ok {
		return c.Value
	}
	return k
}

// cutLeaves names the parts of a key that were cut: "/0" for the first of a
// tuple, "/name" for a field. Records are equal in any order of fields.
func cutLeaves(k starlark.Value, at string) string {
	switch k := k.(type) {
	case starlark.String:
		if IsCut(string(k)) {
			return at + ";"
		}
	case Bytes:
		return cutLeaves(starlark.String(k), at)
	case starlark.Tuple:
		out := ""
		if isCutTuple(k) {
			out = at + ";"
		}
		for i, v := range k {
			out += cutLeaves(v, fmt.Sprintf("%s/%d", at, i))
		}
		return out
	case *Record:
		out := ""
		for _, name := range k.AttrNames() {
			out += cutLeaves(k.Get(name), at+"/"+name)
		}
		return out
	}
	return ""
}
