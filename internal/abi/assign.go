package abi

// The registers and places on the stack of arguments and results, one after the other.

// A Call is where everything of a function is: Params at its entry, Result when it
// returns. A result in memory is Indirect, by the register that then holds its
// address; on arm64 none is promised to, and its place is Nowhere.
type Call struct {
	Params []Location
	Result Location
}

// Assign gives the places of a function's parameters and of its result.
func (c *Convention) Assign(params []Value, result Value) *Call {
	a := &assigner{c: c, stack: c.Base}
	call := &Call{Result: c.result(&result)}
	if call.Result.Indirect && c.Address == "" {
		a.ints++ // the caller says where the result goes
	}
	for i := range params {
		call.Params = append(call.Params, a.next(&params[i]))
	}
	return call
}

// result gives the place of what is returned.
func (c *Convention) result(v *Value) Location {
	k := c.classify(v)
	switch {
	case k.how == nothing:
		return Location{}
	case k.how == inMemory && onX87(v):
		return Location{Places: []Place{{Where: Other, Name: "st0", Bytes: v.Size}}}
	case k.how != inRegisters && c.Address != "":
		return Location{Places: []Place{{Where: Nowhere, Bytes: 8}}, Indirect: true}
	case k.how != inRegisters:
		return Location{Places: []Place{{Where: Register, Name: c.Results[0], Bytes: 8}}, Indirect: true}
	}
	a := &assigner{c: &Convention{Ints: c.Results, Floats: c.FloatResults}}
	return Location{Places: a.take(k.parts)}
}

// onX87 reports whether a result of amd64 is returned on the stack of its old
// floating-point unit: a long double, alone in a struct or a union or not, or a complex one.
func onX87(v *Value) bool {
	if v.Composite && v.Size > 16 {
		return false
	}
	for _, s := range v.Scalars {
		if s.Kind != Long || v.Composite && s.Off != 0 {
			return false
		}
	}
	return true
}

// An assigner gives out registers and the stack, from the first parameter on.
type assigner struct {
	c            *Convention
	ints, floats int // registers that are taken
	stack        int
}

func (a *assigner) next(v *Value) Location {
	if v.Apart {
		low, high := Int.Value(8), Int.Value(8)
		return Location{Places: append(a.next(&low).Places, a.next(&high).Places...)}
	}
	k := a.c.classify(v)
	switch k.how {
	case nothing:
		return Location{}
	case byAddress:
		address := Int.Value(8)
		return Location{Places: a.next(&address).Places, Indirect: true}
	case inMemory:
		return a.onStack(v)
	}
	if a.c.evens && v.Align >= 16 && !k.parts[0].float {
		a.ints += a.ints % 2
	}
	ints, floats := count(k.parts)
	if a.ints+ints <= len(a.c.Ints) && a.floats+floats <= len(a.c.Floats) {
		return Location{Places: a.take(k.parts)}
	}
	if a.c.exhausts && ints > 0 {
		a.ints = len(a.c.Ints)
	}
	if a.c.exhausts && floats > 0 {
		a.floats = len(a.c.Floats)
	}
	return a.onStack(v)
}

func count(parts []part) (ints, floats int) {
	for _, p := range parts {
		switch {
		case p.none:
		case p.float:
			floats++
		default:
			ints++
		}
	}
	return ints, floats
}

// take gives the next registers, which are there.
func (a *assigner) take(parts []part) []Place {
	var out []Place
	for _, p := range parts {
		switch {
		case p.none:
			out = append(out, Place{Where: Nowhere, Bytes: p.bytes})
		case p.float:
			out = append(out, Place{Where: Other, Name: a.c.Floats[a.floats], Bytes: p.bytes})
			a.floats++
		default:
			out = append(out, Place{Where: Register, Name: a.c.Ints[a.ints], Bytes: p.bytes})
			a.ints++
		}
	}
	return out
}

// onStack gives the next place on the stack, of whole words; what is aligned to 16 bytes or more begins at a multiple
// of these from the first.
func (a *assigner) onStack(v *Value) Location {
	if v.Align >= 16 {
		a.stack = (a.stack-a.c.Base+v.Align-1)/v.Align*v.Align + a.c.Base
	}
	var out []Place
	for i := range v.words() {
		out = append(out, Place{Where: Stack, Off: a.stack, Bytes: min(8, v.Size-8*i)})
		a.stack += 8
	}
	return Location{Places: out}
}
