// Package fold computes with what is known when a script is compiled, as the interpreter computes. Both halves of
// a handler ask here, so what folds in one folds in the other: a condition on constants decides which branch is looked
// at. There is nothing of either walk in it; values are those of a plan.
//
//	Binary, Unary, Call, Method   an operator, a builtin or a method of a string, of constants
//	Truth, Equal, Same            what a condition asks
//	Works, Partial, Fails         which operators types have, and when one is an error
//	Range                         what range(…) of constants gives
//
// Only what is the same for ever is known (Unchanging): a list or a dict that user space has captured may be another
// one when the event comes. What would be an error is not computed, but left to the half that meets it.
package fold

import (
	"math"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/plan"
)

// The constants of the compiler: FAULT, truth, which may change, which are the same, the names of their types.

// Fault is the constant FAULT of scripts.
const Fault = plan.Builtin("FAULT")

// IsFault reports whether c is FAULT.
func IsFault(c plan.Value) bool { return c == plan.Value(Fault) }

// Unchanging reports whether a constant is the same for ever.
func Unchanging(c plan.Value) bool {
	switch c := c.(type) {
	case plan.None, plan.Bool, plan.Int, plan.Float, plan.String, plan.Bytes:
		return true
	case plan.Tuple:
		return !slices.ContainsFunc(c, func(e plan.Value) bool { return !Unchanging(e) })
	case plan.Record:
		return !slices.ContainsFunc(c, func(f plan.RecordField) bool { return !Unchanging(f.Value) })
	}
	return false
}

// MayChange reports whether c is a list or a dict, or a tuple of some.
func MayChange(c plan.Value) bool {
	switch c := c.(type) {
	case plan.List, plan.Dict:
		return true
	case plan.Tuple:
		return slices.ContainsFunc(c, MayChange)
	}
	return false
}

// Lasting reports whether the truth of c stays what it is now: that of a table is whether it has entries, and that of
// what only user space has, as a set, is not known here.
func Lasting(c plan.Value) bool {
	switch c := c.(type) {
	case plan.Ref:
		return c.Kind != plan.Table
	case plan.Opaque:
		return false
	}
	return true
}

// Truth is bool(c), of what is Lasting.
func Truth(c plan.Value) bool {
	switch c := c.(type) {
	case plan.None:
		return false
	case plan.Bool:
		return bool(c)
	case plan.Int:
		return c.Big.Sign() != 0
	case plan.Float:
		return c != 0
	case plan.String:
		return c != ""
	case plan.Bytes:
		return c != ""
	case plan.Tuple:
		return len(c) > 0
	case plan.List:
		return len(c) > 0
	case plan.Range:
		return len(c) > 0
	case plan.Dict:
		return len(c) > 0
	}
	return true
}

// Same reports whether two constants are certainly one, functions and containers among them. Unlike Equal it keeps an
// int and a float apart.
func Same(x, y plan.Value) bool {
	switch x := x.(type) {
	case plan.Int:
		yi, ok := y.(plan.Int)
		return ok && x.Big.Cmp(yi.Big) == 0
	case plan.String, plan.Bool, plan.None, plan.Builtin, plan.Bytes:
		return x == y
	case plan.Float: // 0.0 is not -0.0
		yf, ok := y.(plan.Float)
		return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(yf))
	case *plan.Func:
		return plan.Value(x) == y
	case plan.Ref:
		yr, ok := y.(plan.Ref)
		return ok && x.Container == yr.Container
	}
	return false
}

// HasNUL reports whether a constant is or has a string with a NUL.
func HasNUL(c plan.Value) bool {
	switch c := c.(type) {
	case plan.String:
		return strings.IndexByte(string(c), 0) >= 0
	case plan.Tuple:
		return slices.ContainsFunc(c, HasNUL)
	case plan.Record:
		return slices.ContainsFunc(c, func(f plan.RecordField) bool { return HasNUL(f.Value) })
	}
	return false
}

// TypeName is the interpreter's name for the type of c, "" where it has none that matters.
func TypeName(c plan.Value) string {
	switch c := c.(type) {
	case plan.Bool:
		return "bool"
	case plan.Int:
		return "int"
	case plan.Float:
		return "float"
	case plan.String:
		return "string"
	case plan.Bytes:
		return "bytes"
	case plan.Tuple:
		return "tuple"
	case plan.List:
		return "list"
	case plan.Dict:
		return "dict"
	case plan.Record:
		return "record"
	case plan.Ref:
		return c.Kind.String()
	}
	return ""
}
