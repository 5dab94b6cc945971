package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
)

// Records as keys, whose fields a script may write in any order (`inOrderOf`).

// inOrderOf is a key with the fields of each record in the order that the type of the container has: of two records the
// names decide which fields are the same.
func inOrderOf(v val, t types.Type) val {
	if !v.comp || len(v.elems) != len(t.Elems) {
		return v
	}
	out := v
	out.elems = slices.Clone(v.elems)
	if v.isRecord() && t.Kind == types.Record {
		for i, name := range t.Names {
			at := slices.Index(v.names, name)
			if at < 0 {
				return v
			}
			out.elems[i] = v.elems[at]
		}
		out.names = t.Names
	}
	for i, e := range out.elems {
		out.elems[i] = inOrderOf(e, t.Elems[i])
	}
	return out
}
