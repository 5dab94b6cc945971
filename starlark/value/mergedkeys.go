package value

import (
	"slices"

	"go.starlark.net/starlark"
)

// Keys with stacks that are equal for reports are one.

// Merged is the snapshot with the stacks of its keys as reports show them (StackSource.Merged): entries whose keys are
// equal then are one, in which all of their values are. Without stacks it is the snapshot itself.
func (s *Snapshot) Merged(stacks StackSource) (*Snapshot, error) {
	out, any := newSnapshot(s.decl, s.parts), false
	out.keyed, out.of = s.keyed, s.of
	for i := range s.entries {
		key, changed := mergedKey(s.entries[i].Key, stacks, deepestStack)
		any = any || changed
		if err := out.merge(key, s.entries[i].States); err != nil {
			return nil, err
		}
	}
	if !any {
		return s, nil
	}
	return out, nil
}

// deepestStack is how deep in a key stacks are looked for. Keys can be nested as deep as a script likes, and shared
// parts of them are there many times.
const deepestStack = 16

// mergedKey is a key with its stacks and frames, down to a depth, as reports show them. changed says that there are
// some.
func mergedKey(key starlark.Value, stacks StackSource, depth int) (merged starlark.Value, changed bool) {
	if depth == 0 {
		return key, false
	}
	switch key := key.(type) {
	case Stack:
		return key.Merged(), true
	case Frame:
		return stacks.MergedFrame(key), true
	case starlark.Tuple:
		if parts, changed := mergedParts(key, stacks, depth-1); changed {
			return likeList(key, parts), true
		}
	case *Record:
		if parts, changed := mergedParts(key.vals, stacks, depth-1); changed {
			return NewRecord(key.names, parts), true
		}
	}
	return key, false
}

func mergedParts(parts []starlark.Value, stacks StackSource, depth int) (merged []starlark.Value, changed bool) {
	merged = slices.Clone(parts)
	for i, v := range merged {
		part, one := mergedKey(v, stacks, depth)
		merged[i], changed = part, changed || one
	}
	return merged, changed
}
