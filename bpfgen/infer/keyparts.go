package infer

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// Parts of a container's key that are None when the script is compiled disappear.
//
// A part of a key that is None when the script is compiled, wherever the container is used, disappears:
// wait[e.pid if each else None]. That must not depend on where a handler runs, so user halves tell, too, which parts
// they give. Any other None is a part of the key as in Starlark.

// keyed notes the key that user code uses with a container.
func (u *userWalk) keyed(of, key uval, pos plan.Pos) {
	ref, ok := of.v.c.(plan.Ref)
	if !ok || !of.known {
		return
	}
	use := u.pr.u.userKeys[ref.ID]
	if use == nil {
		use = &keyUse{}
		u.pr.u.userKeys[ref.ID] = use
	}
	use.at = pos
	use.add(key)
}

// add notes one use.
func (k *keyUse) add(key uval) {
	parts := keyParts(key)
	switch {
	case parts == nil:
		k.any = true
		return
	case len(parts) < len(k.parts):
		k.bare = append(k.bare, len(parts))
		return
	case len(parts) > len(k.parts) && k.parts != nil:
		k.bare = append(k.bare, len(k.parts))
		fallthrough
	case k.parts == nil:
		k.parts = make([]bool, len(parts))
	}
	for i, none := range parts {
		k.parts[i] = k.parts[i] || !none
	}
}

// agree reports whether the keys with fewer parts can be those with more, without the parts that disappear: they must
// have as many parts as are left of these.
func (k *keyUse) agree() bool {
	left := 0
	for _, there := range k.parts {
		if there {
			left++
		}
	}
	return !slices.ContainsFunc(k.bare, func(n int) bool { return n != left })
}

// keyParts says of each part of a key whether it is None for certain; nil where the number of parts is not known.
func keyParts(key uval) []bool {
	if t, ok := key.v.c.(plan.Tuple); ok && key.known && len(t) != 1 {
		return noneParts(t, func(e plan.Value) bool { return e == plan.Value(plan.None{}) })
	}
	if key.typ == "tuple" && key.elems != nil && len(key.elems) != 1 {
		return noneParts(key.elems, func(e uval) bool { return e.known && e.v.isNone() })
	}
	if key.known && key.v.comp && !key.v.isRecord() && len(key.v.elems) != 1 {
		return noneParts(key.v.elems, val.isNone)
	}
	if !key.known && (key.typ == "" || key.typ == "tuple") {
		return nil
	}
	return []bool{key.known && key.v.isNone()}
}

func noneParts[E any](list []E, none func(E) bool) []bool {
	out := make([]bool, len(list))
	for i, e := range list {
		out[i] = none(e)
	}
	return out
}

// tableKey notes the key of a method of a table.
func (u *userWalk) tableKey(dot *syntax.DotExpr, args []syntax.Expr, vals []uval) {
	of := u.nameOf(dot.X)
	if c := containerIn(of); c == nil || c.Kind != plan.Table || len(vals) == 0 {
		return
	}
	switch dot.Name.Name {
	case "get", "pop", "set", "add", "remove":
		u.keyed(of, vals[0], start(argValue(args[0])))
	}
}

// joinKeys gives the keys of kernel halves the parts that they have in user halves only.
func (u *unit) joinKeys() {
	for _, id := range slices.Sorted(maps.Keys(u.userKeys)) {
		t, use := u.conts.At(id), u.userKeys[id]
		if t == nil || !u.used.At(id) || len(t.present) != len(use.parts) && !use.any {
			continue
		}
		for i := range t.present {
			if t.present[i] || !use.any && !use.parts[i] {
				continue
			}
			if r := refusal.Attempt(func() { u.partAppears(t, i, use.at) }); r != nil {
				u.diags = append(u.diags, r.Diag)
			}
		}
	}
}

// keyParts says of each part of a container's key whether some use of this unit has it; nil where nothing is known or
// all parts are there. A key of which only the run decides what it is does not count here: it is kept whole, but where
// it is None in the same places.
func (u *unit) keyParts(id int) []bool {
	use, t := u.userKeys[id], u.conts.At(id)
	switch {
	case t != nil && u.used.At(id):
		return t.present
	case use == nil || !use.agree():
		return nil
	}
	return use.parts
}
