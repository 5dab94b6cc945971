// Package types describes the values of kernel halves.
//
// A type says what a value means (an unsigned 16-bit field, a string of at
// most 256 bytes, a record) and how it can be absent: MayNone values can be
// None, MayFault values can be FAULT, the outcome of a read that failed.
// Arithmetic is done in 64 bits whatever Bits says; Bits is the width that a
// value is known to fit and is stored in.
//
// Types are values: compare with Equal, combine with Join.
package types

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// Type and Kind, the types of values in kernel halves.

// Kind is the shape of a value.
type Kind uint8

// The kinds. Bot is the type of a container element that nothing has set
// yet, the neutral element of Join.
const (
	Bot    Kind = iota
	None        // only ever None
	Bool        // 0 or 1
	Int         // Bits, Signed
	Str         // Cap
	Bytes       // Cap
	Tuple       // Elems
	Record      // Elems, Names
	Ptr         // a kernel pointer to BTF; 0 is None, so it needs no tag for that
	Mem         // a struct, union or array in memory: an address and BTF
	Stack       // an id of the stack table
	Float       // Bits: 32 or 64, the bits of IEEE 754; kernel halves keep and compare it
)

// A Type is the type of a value in a kernel half.
type Type struct {
	// Kind is the shape of the value. It decides which of the other fields the type has.
	Kind   Kind
	Bits   uint8 // Int: 8, 16, 32 or 64; Float: 32 or 64
	Signed bool  // Int
	// Cap is the room of a Str or Bytes in bytes, with the NUL of a Str.
	Cap   int
	Elems []Type   // Tuple, Record
	Names []string // Record
	// BTF is the kernel's type of what a Ptr points to, if that is a struct or a union, or of what a Mem is. Of an Int
	// it is a program's type of what lies at that address: pointers of programs are numbers.
	BTF kernel.TypeID
	// Elem is the type of what a Ptr points to, if that is an int, an enum or a pointer; also of an Int.
	Elem  kernel.TypeID
	Label string // Int whose readers see text: "syscall_name", "ksym" …
	// MayNone: the value can be None.
	MayNone bool
	// MayFault: the value can be FAULT, because it was read and the read may have failed.
	MayFault bool
	// Literal marks a Str of a container that only constants have been put into so far, and an Int that is one of
	// several constants, none of them negative: it takes the sign of what it is joined with.
	Literal bool
	// Constant marks a Str or Bytes that can only be one of several constants: no event says how long it can be. Types
	// that differ in nothing else are equal.
	Constant bool
	// Trusted marks a Ptr that is known to be a kernel address: one that the
	// kernel itself handed over, not one read from memory.
	Trusted bool
	// Narrow marks a Ptr to memory of a program of 32 bits.
	Narrow bool
}

// The plain types.
var (
	I64     = Type{Kind: Int, Bits: 64, Signed: true}
	U64     = Type{Kind: Int, Bits: 64}
	U32     = Type{Kind: Int, Bits: 32}
	S32     = Type{Kind: Int, Bits: 32, Signed: true}
	Boolean = Type{Kind: Bool}
	NoneT   = Type{Kind: None}
	Comm    = Type{Kind: Str, Cap: 16}
	Name    = Type{Kind: Int, Bits: 64, Signed: true, Label: "name"} // of a function or point
)

// StrOf is the type of a string of at most room bytes, NUL included.
func StrOf(room int) Type { return Type{Kind: Str, Cap: room} }

// IntOf is the type of an integer of the given width.
func IntOf(bits uint8, signed bool) Type { return Type{Kind: Int, Bits: bits, Signed: signed} }

// LiteralOf is the type of one of several constants of at most so many bits, none of them negative.
func LiteralOf(bits uint8) Type { return Type{Kind: Int, Bits: bits, Literal: true} }

// FloatOf is the type of a floating-point number of the given width.
func FloatOf(bits uint8) Type { return Type{Kind: Float, Bits: bits} }

// TupleOf is the type of a tuple.
func TupleOf(elems ...Type) Type { return Type{Kind: Tuple, Elems: elems} }

// Tagged reports whether a value of type t carries a tag beside its value:
// None and FAULT of pointers and strings are encoded in the value.
func (t Type) Tagged() bool {
	switch t.Kind {
	case None: // FAULT by itself
		return t.MayFault
	case Bot:
		return false
	case Ptr, Mem:
		return t.MayFault
	}
	return t.MayNone || t.MayFault
}

// IsName reports whether t is the name of a function or a point as a number, in
// the range that all have in common ("name"), of the points of one probe ("func:PROBE",
// "point:PROBE") or of a system call.
func (t Type) IsName() bool {
	kind, _, _ := strings.Cut(t.Label, ":")
	return t.Kind == Int && (kind == Name.Label || kind == "func" || kind == "point" || kind == "syscall_name" ||
		kind == "syscall_point")
}

// Leads reports whether a value of type t is an address at which something of a known type lies, or a kernel pointer.
func (t Type) Leads() bool { return t.Kind == Ptr || t.Kind == Int && t.BTF|t.Elem != 0 }

// Present is t without the possibility to be None or FAULT.
func (t Type) Present() Type {
	t.MayNone, t.MayFault = false, false
	return t
}

// Kept is t where containers keep it: constants of ints count as signed there.
func (t Type) Kept() Type {
	if t.Kind == Int && t.Literal {
		t.Bits, t.Signed, t.Literal = 64, true, false
	}
	return t
}

// OrNone is t that may also be None.
func (t Type) OrNone() Type { t.MayNone = true; return t }

// OrFault is t that may also be FAULT.
func (t Type) OrFault() Type { t.MayFault = true; return t }

// Unsigned64 reports whether values of t can exceed the range of an int64.
func (t Type) Unsigned64() bool { return t.Kind == Int && t.Bits == 64 && !t.Signed || t.Kind == Ptr }

// Equal reports whether t and u are the same type.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.Bits != u.Bits || t.Signed != u.Signed || t.Cap != u.Cap ||
		t.BTF != u.BTF || t.Elem != u.Elem || t.Trusted != u.Trusted || t.Narrow != u.Narrow || t.Label != u.Label ||
		t.Literal != u.Literal || t.MayNone != u.MayNone || t.MayFault != u.MayFault ||
		len(t.Elems) != len(u.Elems) || len(t.Names) != len(u.Names) {
		return false
	}
	for i := range t.Elems {
		if !t.Elems[i].Equal(u.Elems[i]) {
			return false
		}
	}
	for i := range t.Names {
		if t.Names[i] != u.Names[i] {
			return false
		}
	}
	return true
}

// String gives the type as `explain --types` shows it: u32, str[256],
// (u32, str[16]), record(tid=u32), with `?` for MayNone and `!` for MayFault.
func (t Type) String() string {
	s := t.base()
	if t.Label != "" {
		s += "~" + t.Label
	}
	if t.MayNone {
		s += "?"
	}
	if t.MayFault {
		s += "!"
	}
	return s
}

func (t Type) base() string {
	switch t.Kind {
	case Bot:
		return "unset"
	case None:
		return "None"
	case Bool:
		return "bool"
	case Int:
		return fmt.Sprintf("%c%d", "us"[b2i(t.Signed)], t.Bits)
	case Str:
		return fmt.Sprintf("str[%d]", t.Cap)
	case Bytes:
		return fmt.Sprintf("bytes[%d]", t.Cap)
	case Tuple:
		return "(" + t.list() + ")"
	case Record:
		return "record(" + t.list() + ")"
	case Ptr:
		return fmt.Sprintf("ptr<%d>", t.BTF)
	case Mem:
		return fmt.Sprintf("mem<%d>", t.BTF)
	case Stack:
		return "stack"
	case Float:
		return fmt.Sprintf("f%d", t.Bits)
	}
	panic("types: bad kind")
}

func (t Type) list() string {
	var parts []string
	for i, e := range t.Elems {
		if t.Kind == Record {
			parts = append(parts, t.Names[i]+"="+e.String())
		} else {
			parts = append(parts, e.String())
		}
	}
	return strings.Join(parts, ", ")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
