package value

import (
	"slices"

	"go.starlark.net/starlark"
)

// Parts of keys that disappeared because they are None when the script is compiled.
//
// A part of a key that is None when the script is compiled, wherever the container is used, disappears; the compiler
// says which (infer.Result.KeyParts). Any other None is a part of the key, here as in the kernel.

// SetKeyParts says which parts of the key are there. Several units can say so, of which each sees its own uses.
func (b *base) SetKeyParts(parts []bool) { b.joinParts(parts) }

func (b *base) joinParts(parts []bool) {
	if len(b.parts) != len(parts) {
		b.parts = slices.Clone(parts)
		return
	}
	for i, there := range parts {
		b.parts[i] = b.parts[i] || there
	}
}

// KeyNames are the names that by= gives, of those parts of the key that did not disappear.
func (b *base) KeyNames() []string {
	by := b.decl.By
	if len(by) == 0 || len(b.parts) != len(by) {
		return by
	}
	names := []string{}
	for i, name := range by {
		if b.parts[i] {
			names = append(names, name)
		}
	}
	return names
}

// foldKey is a key without the parts that disappear; nil: nothing is left. A key that has something there after all is
// another one, and stays as it is.
func foldKey(k starlark.Value, parts []bool) starlark.Value {
	list := starlark.Tuple{k}
	if t, ok := k.(starlark.Tuple); ok && len(t) != 1 && !IsList(t) {
		list = t
	}
	if k == nil || len(list) != len(parts) {
		return k
	}
	var kept starlark.Tuple
	for i, v := range list {
		switch {
		case parts[i]:
			kept = append(kept, v)
		case v != starlark.None:
			return k
		}
	}
	switch len(kept) {
	case 0:
		return nil
	case len(list):
		return k
	case 1:
		return kept[0]
	}
	return kept
}

// unfoldKey is the opposite of foldKey.
func unfoldKey(k starlark.Value, parts []bool) starlark.Value {
	kept := 0
	for _, there := range parts {
		if there {
			kept++
		}
	}
	if kept == len(parts) {
		return k
	}
	var list starlark.Tuple
	if t, ok := k.(starlark.Tuple); ok && kept > 1 && !IsList(t) {
		list = t
	} else if k != nil {
		list = starlark.Tuple{k}
	}
	if len(list) != kept {
		return k
	}
	out := make(starlark.Tuple, 0, len(parts))
	for _, there := range parts {
		if !there {
			out = append(out, starlark.None)
			continue
		}
		out, list = append(out, list[0]), list[1:]
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// SetKeyParts gives what user code has added so far the keys that it has now.
func (a *Agg) SetKeyParts(parts []bool) {
	before := slices.Clone(a.parts)
	a.joinParts(parts)
	old := a.local
	a.local = a.newSnapshot()
	for _, e := range old.entries {
		key := e.Key
		if before != nil || key != nil {
			key = foldKey(unfoldKey(key, before), a.parts)
		}
		// The key was one of a snapshot before, so that it can be one again.
		_ = a.local.merge(key, e.States)
	}
}

// SetKeyParts gives what user code has written so far the keys that it has now.
func (t *Table) SetKeyParts(parts []bool) {
	before := slices.Clone(t.parts)
	t.joinParts(parts)
	if t.be != nil {
		return
	}
	items := t.local.Items()
	_ = t.local.Clear() // nobody goes over it
	for _, kv := range items {
		k := t.foldKey(unfoldKey(t.shownKey(kv[0]), before))
		_ = t.local.SetKey(indexKey(k), kv[1]) // it was a key before
	}
}

// foldKey is foldKey for a table, whose entries all have keys.
func (t *Table) foldKey(k starlark.Value) starlark.Value {
	if folded := foldKey(k, t.parts); folded != nil {
		return folded
	}
	return k
}
