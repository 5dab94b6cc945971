package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/internal/plan"
)

// Parts of the event that user halves keep in lists, dicts and records are values by then; the refusal to ask for a
// field of a struct that was kept.
//
// Parts of the event that user space keeps in lists, dicts and records, or of which it chooses one, are values by then:
// a struct is its address. The kernel cannot read there any more, so a script that wants it is refused:
//
//	for p in sorted([e.args[0], e.args[1]]):
//	    print(cstr(p))
//
// To know that, each value of user space says what it holds.

// holds is what x is, or has in it.
func (x uval) holds() keeping {
	out := x.held
	if x.part {
		out |= heldValues
		if x.needsKernel() {
			out |= heldStructs
		}
	}
	entries := make([]uval, len(x.entries))
	for i, e := range x.entries {
		entries[i] = e.v
	}
	return out | holdsOf(x.elems...) | holdsOf(entries...)
}

// holdsOf is what values hold that are kept together. Where one of them may be a record, nothing is said of structs: a
// field can be one of the record.
func holdsOf(list ...uval) (out keeping) {
	for _, v := range list {
		out |= v.holds()
	}
	if slices.ContainsFunc(list, uval.mayBeRecord) {
		out &^= heldStructs
	}
	return out
}

// mayBeRecord reports whether x may be a record, or may have one in it.
func (x uval) mayBeRecord() bool {
	if x.known || x.part || x.held&heldStructs != 0 {
		return x.known && typeName(x) == "record"
	}
	if x.typ == "tuple" || x.typ == "list" {
		return x.elems == nil || slices.ContainsFunc(x.elems, uval.mayBeRecord)
	}
	return !slices.Contains([]string{"string", "bytes", "bool", "int", "float"}, x.typ)
}

// inRecord is what a record of values holds.
func inRecord(list []uval) keeping { return (holdsOf(list...) & (heldValues | heldStructs)) << 2 }

// ofField is what a field of a value holds.
func (h keeping) ofField() keeping { return h >> 2 }

// heldBy is what a builtin gives holds, of values that it was given.
func heldBy(f *builtin, vals []uval) keeping {
	switch f.name {
	case "record":
		return inRecord(vals)
	case "sorted", "reversed", "list", "tuple", "dict", "zip", "enumerate", "min", "max", "getattr":
		return holdsOf(vals...)
	}
	return 0
}

// keeps notes that a variable has more in it from here on: a list that gets an element, or a dict.
func (u *userWalk) keeps(of syntax.Expr, v ...uval) {
	id, ok := unparen(of).(*syntax.Ident)
	if !ok {
		return
	}
	more := holdsOf(v...)
	old, ok := u.frame.Lookup(id, captured)
	bind, local := id.Binding.(*resolve.Binding)
	if ok && local && more|old.held != old.held && !old.known {
		old.held |= more
		u.bind(bind, old)
	}
}

// fieldOfHeld refuses a field of a struct that user space has chosen: it has the address.
func (u *userWalk) fieldOfHeld(x *syntax.DotExpr, recv uval) {
	if !recv.part && recv.held&heldStructs != 0 && !attrs.Any(x.Name.Name) {
		u.frame.chooses(&chosenArg{field: x})
	}
}

// elementHeld is what an element of x holds.
func (x uval) elementHeld(i uval) keeping {
	if s, ok := i.v.constStr(); ok && i.known && !i.part {
		for _, e := range x.entries {
			if e.key == s {
				return e.v.holds()
			}
		}
	}
	return x.holds()
}

// comparing is what the result of an operator does not hold: of lists + and * make others, and | of dicts.
func comparing(op syntax.Token) keeping {
	switch op {
	case syntax.PLUS, syntax.STAR, syntax.PIPE:
		return 0
	}
	return ^keeping(0)
}

// anyHeld reports whether a value is given that user space has made of parts of the event, or that has some in it.
func (g givenList) anyHeld() bool {
	return g.held != 0 || slices.ContainsFunc(g.list, func(a given) bool { return a.v.holds() != 0 })
}

// readAtHeld reports whether a function may read memory, or where a value leads that user space has chosen.
func (g givenList) readAtHeld(fn *plan.Func) bool {
	structs := slices.ContainsFunc(g.list, func(a given) bool { return a.v.holds()&heldStructs != 0 })
	return structs || g.held&heldStructs != 0 || readsIn(fn, map[*plan.Func]bool{})
}
