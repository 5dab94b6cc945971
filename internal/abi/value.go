package abi

// Value, Scalar, Group and Place: what the ABI is asked about, and what it answers.

// A Class is what a scalar is to the ABI.
type Class uint8

// The kinds.
const (
	Int    Class = iota // integers, pointers, bools, enums
	Float               // float, double, and what goes where they go
	Long                // long double of amd64 (x87), 16 bytes
	Quad                // long double of arm64, _Float128 of amd64: 16 bytes
	Vector              // vectors of the machine, of 8 or 16 bytes
)

// A Scalar is a part of a value that has no parts. Off is where it begins in the value and Size how long it is, in
// bytes; Kind says which registers it may go to.
type Scalar struct {
	Off, Size int
	Kind      Class
}

// A Value is an argument or a result as its type describes it. The value of a
// scalar type has one Scalar, that of void none and no size.
type Value struct {
	// Size and Align are in bytes.
	Size, Align int
	// Composite: a struct, a union or an array.
	Composite bool
	// ByAddress: the language passes the address of a copy (a class of C++ with a
	// copy constructor or a destructor of its own).
	ByAddress bool
	// Apart: its two words are passed as if they were two values, as clang before 18 does with an __int128 on amd64.
	Apart bool
	// Scalars are the parts of it that have no parts.
	Scalars []Scalar
	// Groups are the structs and unions within it, each behind those that are within it. They matter where members of
	// unions lie over a long double: amd64 classifies from the inside to the outside, and that is not the same as all
	// scalars in a row.
	Groups []Group
}

// A Group is a struct or a union within a Value: Scalars[From:To] are those that it has.
type Group struct{ From, To int }

// Scalar gives a value of a scalar type of a size.
func (k Class) Value(size int) Value {
	return Value{Size: size, Align: size, Scalars: []Scalar{{0, size, k}}}
}

// BitField adds one: the bytes that it is in, which need not be aligned. (gcc and clang do not agree about structs of
// bit-fields within packed structs, where these are not at a multiple of their size.)
func (v *Value) BitField(first, bits, off int) {
	for b := first / 8; b < (first+bits+7)/8; b++ {
		v.Scalars = append(v.Scalars, Scalar{Off: off + b, Size: 1})
	}
}

// words is how many words of 8 bytes the value has.
func (v *Value) words() int { return (v.Size + 7) / 8 }

// Where is the kind of place that a part of a value is in.
type Where uint8

// The kinds of places.
const (
	Nowhere  Where = iota // padding, which is passed in nothing
	Register              // an integer register, that struct pt_regs has
	Other                 // a floating-point register, that eBPF cannot read
	Stack                 // memory from the stack pointer
)

// A Place is where 8 bytes of a value are, or fewer at its end.
type Place struct {
	// Where is the kind of place.
	Where Where
	Name  string // of the register: as struct pt_regs has it, or as manuals do
	Off   int    // Stack: bytes from the stack pointer at the entry
	// Bytes: how many bytes of the value are there. Of arm64's arrays of floats it
	// can be fewer than 8, each in a register of its own.
	Bytes int
}

// A Location is where a value is: its bytes in order, in Places, or, if Indirect, the one place that holds its address.
type Location struct {
	Places   []Place
	Indirect bool
}

// InMemory reports whether the value lies on the stack, whole.
func (l *Location) InMemory() bool {
	return !l.Indirect && len(l.Places) > 0 && l.Places[0].Where == Stack
}
