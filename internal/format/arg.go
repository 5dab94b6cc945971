package format

import (
	"cmp"
	"math/big"
	"strconv"
)

// Arguments of a format by kind: ints, floats, strings, None, FAULT (`FaultText`).

// ArgKind says which field of an Arg holds its value.
type ArgKind uint8

// The kinds.
const (
	None  ArgKind = iota
	Fault         // a read in the kernel that failed
	Bool          // Int: 0 or 1
	Int           // Int
	Uint          // Uint
	Big           // Big
	Float         // Float
	Str           // Str
	Bytes         // Str
	Other         // Str is the text of the value, Type its type
)

// An Arg is one argument of a format.
type Arg struct {
	// Kind says which of the other fields holds the value.
	Kind   ArgKind
	sample bool // it stands for all values of its kind: see Check
	// Int is the value of an Int or a Bool, Uint that of a Uint, Float that of a Float, and Big that of an int that has
	// more than 64 bits.
	Int   int64
	Uint  uint64
	Float float64
	// Str is the value of a Str or Bytes, the text of Other, and what a Fault prints as if not as others.
	Str string
	// Marked is Str with the marks of places where it was cut, for verbs that
	// show text; "": Str itself.
	Marked string
	// Shown is Marked with what must not reach a screen escaped already, for
	// verbs that do not quote; "": Marked.
	Shown string
	// Marks are the offsets in Str before which a mark of one character is printed, where the outcome gets these only
	// when it is printed: widths and precisions count them.
	Marks []int
	// Value is the value itself, of Other, for outputs that show its parts.
	Value any
	// Went says where the text of a string went, once it has been written.
	Went Stretch
	Big  *big.Int
	Type string // of Other and of samples, for messages
}

// A Stretch is a part of what a format has made.
type Stretch struct {
	// At is the byte of the result at which it begins, Len how many bytes it has.
	At, Len int
	// Marks is how many of the argument's marks belong to it.
	Marks int
	// Plain is the text as it is, Quoted the text in quotes; else it is something else, as its bytes in hex.
	Plain, Quoted bool
}

// FaultText is what FAULT prints as, unless Str of its Arg says more.
const FaultText = "<fault>"

// IntArg is the argument for a signed integer.
func IntArg(i int64) Arg { return Arg{Kind: Int, Int: i} }

// StrArg is the argument for a string.
func StrArg(s string) Arg { return Arg{Kind: Str, Str: s} }

// FloatArg is the argument for a float.
func FloatArg(f float64) Arg { return Arg{Kind: Float, Float: f} }

// Text is a string or bytes with marks; shown is what of it goes to a screen.
func (a *Arg) Text() string {
	if a.Marked != "" {
		return a.Marked
	}
	return a.Str
}

func (a *Arg) shown() string {
	if a.Shown != "" {
		return a.Shown
	}
	return a.Text()
}

// appendText appends the argument as str() gives it, without escaping.
func (a *Arg) appendText(dst []byte) []byte {
	switch a.Kind {
	case None:
		return append(dst, "None"...)
	case Fault:
		return append(dst, cmp.Or(a.Str, FaultText)...)
	case Bool:
		if a.Int != 0 {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case Int:
		return strconv.AppendInt(dst, a.Int, 10)
	case Uint:
		return strconv.AppendUint(dst, a.Uint, 10)
	case Big:
		return a.Big.Append(dst, 10)
	case Float:
		return AppendFloat(dst, a.Float)
	}
	return append(dst, a.shown()...)
}

// describe gives the argument for an error message: `string "x"`.
func (a *Arg) describe() string {
	if a.sample {
		return a.Type
	}
	switch a.Kind {
	case None:
		return "None"
	case Fault:
		return "FAULT"
	case Bool:
		return "bool " + string(a.appendText(nil))
	case Int, Uint, Big:
		return "int " + string(a.appendText(nil))
	case Float:
		return "float " + string(a.appendText(nil))
	case Str:
		return "string " + strconv.Quote(shorten(a.Str))
	case Bytes:
		return "bytes b" + strconv.Quote(shorten(a.Str))
	}
	return a.Type + " " + shorten(a.Str)
}

// shorten cuts long text for a message.
func shorten(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
