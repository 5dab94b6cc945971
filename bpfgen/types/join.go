package types

import "slices"

// The type that holds values of two types: wider ints, pointers with ints, None and FAULT.

// Join is the smallest type that holds the values of t and of u. It fails
// where a value would change its meaning: an int and a string have no join.
func Join(t, u Type) (Type, bool) {
	if t.Kind == Bot {
		return u, true
	}
	if u.Kind == Bot {
		return t, true
	}
	none := t.MayNone || u.MayNone || t.Kind == None || u.Kind == None
	fault := t.MayFault || u.MayFault
	j, ok := joinPresent(t.Present(), u.Present())
	if j.Kind != None {
		j.MayNone = none
	}
	j.MayFault = fault
	return j, ok
}

func joinPresent(t, u Type) (Type, bool) {
	switch {
	case t.Kind == None:
		return u, true
	case u.Kind == None:
		return t, true
	case isAddress(t) && isAddress(u) && (t.Kind != u.Kind || t.Label != u.Label):
		return Type{Kind: Bytes, Cap: max(t.Cap, u.Cap, 4), Label: "inet"}, true
	case t.IsName() && u.IsName() && t.Label != u.Label,
		t.IsName() && u.isText(), t.isText() && u.IsName():
		return Name, true
	case t.Kind != u.Kind && t.Label+u.Label != "":
		return t, false
	case t.Kind != u.Kind:
		return joinPointers(t, u)
	}
	if t.Label != u.Label {
		if t.Kind == Int || t.Kind == Stack {
			return t, false // the text of the one is not that of the other
		}
		t.Label = ""
	}
	switch t.Kind {
	case Int:
		return joinInts(t, u), true
	case Str, Bytes:
		t.Cap = max(t.Cap, u.Cap)
		t.Literal, t.Constant = t.Literal && u.Literal, t.Constant && u.Constant
		return t, true
	case Float:
		return t, t.Bits == u.Bits
	case Tuple, Record:
		return joinElems(t, u)
	case Ptr, Mem:
		if t.BTF != u.BTF {
			return U64, t.Kind == Ptr
		}
		if t.Elem != u.Elem {
			t.Elem = 0
		}
		t.Trusted = t.Trusted && u.Trusted
	}
	return t, true
}

// isText reports whether t is a constant string, or one of several.
func (t Type) isText() bool { return t.Kind == Str && t.Literal }

// isAddress reports whether t is what inet() gives: the 4 bytes of an IPv4
// address as an int, or the bytes of either. Of two kinds it is the bytes, whose
// number tells.
func isAddress(t Type) bool {
	return t.Label == "inet4" && t.Kind == Int && t.Bits == 32 ||
		t.Kind == Bytes && (t.Label == "inet" || t.Label == "inet4" || t.Label == "inet6")
}

// joinPointers joins a pointer with an int: both are then plain addresses. The int may have been joined with others
// before. Beside a constant a pointer has a sign, since it can be an error of the kernel, which is a negative number.
func joinPointers(t, u Type) (Type, bool) {
	switch {
	case t.Kind == Ptr && u.Kind == Int:
		return joinInts(U64, u.Kept()), true
	case t.Kind == Int && u.Kind == Ptr:
		return joinInts(t.Kept(), U64), true
	}
	return t, false
}

// joinInts widens: an unsigned value needs one more bit in a signed type.
// Unsigned 64 with signed has no common 64-bit type; the bits are kept and
// read as signed, which docs/semantics.md names.
func joinInts(t, u Type) Type {
	if t.BTF != u.BTF || t.Elem != u.Elem {
		t.BTF, t.Elem, u.BTF, u.Elem = 0, 0, 0, 0
	}
	if t.Signed == u.Signed {
		t.Bits = max(t.Bits, u.Bits)
		t.Literal = t.Literal && u.Literal
		return t
	}
	s, un := t, u
	if !s.Signed {
		s, un = u, t
	}
	if un.Bits >= s.Bits {
		s.Bits = min(64, un.Bits*2)
	}
	s.Label = t.Label
	return s
}

func joinElems(t, u Type) (Type, bool) {
	if len(t.Elems) != len(u.Elems) || !slices.Equal(t.Names, u.Names) {
		return t, false
	}
	out := t
	out.Elems = make([]Type, len(t.Elems))
	for i := range t.Elems {
		var ok bool
		if out.Elems[i], ok = Join(t.Elems[i], u.Elems[i]); !ok {
			return t, false
		}
	}
	return out, true
}
