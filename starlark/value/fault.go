package value

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// FAULT and its kinds (Unreadable, Lost, Unshown), and the error of using it.

// FAULT is the outcome of a read of memory that failed. It is true, equal to
// itself, may be stored and printed; anything else with it is an error, which
// ends the handler for that event.
const FAULT = faultType(0)

// Unreadable is the FAULT of what lies where eBPF cannot read, as a double in its
// register. It is equal to FAULT, and prints another text.
const Unreadable = faultType(1)

// Lost is the FAULT of a value that the compiler of a program has optimized out. It is equal to FAULT, and prints
// another text.
const Lost = faultType(2)

// Unshown is the FAULT of what is no value where a whole is shown, such as e.args. It is equal to FAULT, and prints
// another text.
const Unshown = faultType(3)

// IsFault reports whether v is FAULT, of whatever kind.
func IsFault(v starlark.Value) bool {
	_, fault := v.(faultType)
	return fault
}

// faultType is a number, not a struct, so that FAULT can be constant.
type faultType byte

var (
	_ starlark.HasBinary  = FAULT
	_ starlark.HasUnary   = FAULT
	_ starlark.HasAttrs   = FAULT
	_ starlark.Comparable = FAULT
)

func (f faultType) String() string {
	switch f {
	case Unreadable:
		return "<float>"
	case Lost:
		return "<optimized out>"
	case Unshown:
		return "<not shown>"
	}
	return "<fault>"
}

// MarshalJSON is what json.encode writes: the same as --format json, so that no string can be taken for it.
func (faultType) MarshalJSON() ([]byte, error) { return []byte(`{"fault":true}`), nil }

func (faultType) Type() string          { return "fault" }
func (faultType) Freeze()               {}
func (faultType) Truth() starlark.Bool  { return starlark.True }
func (faultType) Hash() (uint32, error) { return 0xfa017, nil }
func (faultType) AttrNames() []string   { return nil }

func (f faultType) CompareSameType(op syntax.Token, _ starlark.Value, _ int) (bool, error) {
	switch op {
	case syntax.EQL:
		return true, nil
	case syntax.NEQ:
		return false, nil
	}
	return false, f.fails("compare " + op.String())
}

// Binary refuses all operators but membership in a list, which is the other
// operand's business and compares only.
func (f faultType) Binary(op syntax.Token, _ starlark.Value, _ starlark.Side) (starlark.Value, error) {
	if op == syntax.IN || op == syntax.NOT_IN {
		return nil, nil
	}
	return nil, f.fails("apply " + op.String() + " to")
}

func (f faultType) Unary(op syntax.Token) (starlark.Value, error) {
	return nil, f.fails("apply " + op.String() + " to")
}

func (f faultType) Attr(name string) (starlark.Value, error) {
	return nil, f.fails("read ." + name + " of")
}

// ErrFault is wrapped by all errors that come from using FAULT as a value.
var ErrFault = errors.New("a read of memory failed")

// errFloat is the ErrFault of Unreadable.
var errFloat = errors.New("a floating-point number is in a register that eBPF programs cannot read")

// errLost is the ErrFault of Lost.
var errLost = errors.New("the compiler has optimized it out")

// errUnshown is the ErrFault of Unshown.
var errUnshown = errors.New("it is no value as a part of a whole; a script that names it is told why")

func (f faultType) fails(what string) error {
	why := ErrFault
	switch f {
	case Unreadable:
		why = errFloat
	case Lost:
		why = errLost
	case Unshown:
		why = errUnshown
	}
	return fmt.Errorf("cannot %s %s: %w (test it before: x == FAULT)", what, f, why)
}
