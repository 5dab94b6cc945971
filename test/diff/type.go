// Package diff makes random functions of the part of Starlark that runs in the kernel.
//
// A Program is a typed tree. It prints as two texts with the same lines: the script that startrace compiles, and a
// reference for the Starlark interpreter, in which the exceptions of docs/semantics.md are spelt out as calls
// (_s(x + y): 64 bits, signed). The tests of this package run both on the same inputs and compare. A program that
// differs is made smaller (Shrink) as long as it still does.
//
// The types of this package are those that the documentation knows, not those of the compiler: whether an int can be
// negative, whether a value can be None.
package diff

import "slices"

// The types of expressions of random programs.

// Kind is the shape of a value.
type Kind uint8

// The kinds.
const (
	Int Kind = iota
	Bool
	Str
	Tuple
	Record
	Func
	Ptr   // to the struct of Members; it may be None, or lead nowhere
	Float // of 64 bits, or Narrow
	Bytes
	Label // an int that reads as text; Names[0] is the label
	Stack // at sites that have some
	Fault // FAULT, which the compiler knows
)

// Class is what the compiler must know of an int.
type Class uint8

// The classes of ints, and one of floats. Plain is a constant, or what could be one for a compiler that folds: its
// value is within int64, and it is unknown whether its type is signed.
const (
	Plain Class = iota
	Signed
	Unsigned
	Narrow // of a float: it has 32 bits
)

// A Type is the type of an expression.
type Type struct {
	// Kind is the shape. It decides which of the other fields count.
	Kind  Kind
	Class Class    // Int, Float
	Elems []Type   // Tuple, Record, parameters of a Func and then its result
	Names []string // Record
	Opt   bool     // may be None
}

// The plain types.
var (
	plainInt = Type{}
	signed   = Type{Class: Signed}
	unsigned = Type{Class: Unsigned}
	boolean  = Type{Kind: Bool}
	text     = Type{Kind: Str}
	floating = Type{Kind: Float}
	narrow   = Type{Kind: Float, Class: Narrow}
	pointer  = Type{Kind: Ptr}
	octets   = Type{Kind: Bytes}
	stack    = Type{Kind: Stack}
)

// Equal reports whether t and u are the same type.
func (t Type) Equal(u Type) bool {
	return t.Kind == u.Kind && t.Class == u.Class && t.Opt == u.Opt &&
		slices.Equal(t.Names, u.Names) && slices.EqualFunc(t.Elems, u.Elems, Type.Equal)
}

// isInt reports whether t is an int that is not None.
func (t Type) isInt() bool { return t.Kind == Int && !t.Opt }

func (t Type) opt() Type     { t.Opt = true; return t }
func (t Type) present() Type { t.Opt = false; return t }

// A wrap is what the reference does with a result that a kernel half keeps in 64 bits.
type wrap string

// The wraps. check is for ints of which the type is not known: it gives up where it would matter.
const (
	exact  wrap = ""
	asInt  wrap = "_s"
	asUint wrap = "_u"
	check  wrap = "_a"
)

// wrapTo is the wrap for a result of type t.
func wrapTo(t Type) wrap {
	switch {
	case t.Kind != Int:
		return exact
	case t.Class == Signed:
		return asInt
	case t.Class == Unsigned:
		return asUint
	}
	return check
}

// binaryClass is the class of x op y.
func binaryClass(op string, x, y Class) Class {
	both := func(c Class) bool { return x == c && y == c }
	switch op {
	case "+", "-", "*":
		if both(Plain) {
			return Plain
		}
		return Signed
	case "&":
		switch {
		case x == Unsigned || y == Unsigned:
			return Unsigned
		case both(Signed):
			return Signed
		}
		return Plain
	case "<<", ">>":
		return x
	}
	switch { // | ^ // %
	case both(Unsigned):
		return Unsigned
	case x == Signed || y == Signed:
		return Signed
	}
	return Plain
}

// joinClass is the class of one of two values, where a condition decides that may be known when compiling.
func joinClass(x, y Class) Class {
	if x == y {
		return x
	}
	return Plain
}
