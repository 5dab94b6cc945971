package value

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Bytes as scripts have them: elements are ints, slices, text, comparison.

// Bytes are bytes as the specification has them: an element is an int, and so
// is what a loop goes over. (Those of go.starlark.net have elements that are
// bytes of length 1.) All bytes of scripts are these: what is read, literals
// and what bytes() gives (starlark/script, instrument.go), so that the
// interpreter never compares one kind with the other.
type Bytes string

var (
	_ starlark.Comparable = Bytes("")
	_ starlark.Sliceable  = Bytes("")
	_ starlark.Sequence   = Bytes("")
	_ starlark.HasBinary  = Bytes("")
	_ starlark.HasAttrs   = Bytes("")
	_ starlark.Container  = Bytes("")
)

func (Bytes) Type() string                 { return "bytes" }
func (Bytes) Freeze()                      {}
func (b Bytes) Truth() starlark.Bool       { return len(b) > 0 }
func (b Bytes) Hash() (uint32, error)      { return starlark.String(b).Hash() }
func (b Bytes) Len() int                   { return len(b) }
func (b Bytes) Index(i int) starlark.Value { return starlark.MakeInt(int(b[i])) }
func (b Bytes) Iterate() starlark.Iterator { return &bytesIterator{b} }

// String is the literal that gives the bytes, with a mark behind it where there were more.
func (b Bytes) String() string {
	out := syntax.Quote(string(b), true)
	if IsCut(string(b)) {
		out += cutMark
	}
	return out
}

// Slice is b[start:end:step].
func (b Bytes) Slice(start, end, step int) starlark.Value {
	return Bytes(starlark.Bytes(b).Slice(start, end, step).(starlark.Bytes))
}

// CompareSameType orders by the bytes. Bytes of the interpreter's own kind are
// the same type to it; they come from no script.
func (b Bytes) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return starlark.String(b).CompareSameType(op, starlark.String(OwnBytes(y).(Bytes)), depth)
}

// Has is y in b: a byte, or bytes one behind the other.
func (b Bytes) Has(y starlark.Value) (bool, error) {
	if part, ok := y.(Bytes); ok {
		y = starlark.Bytes(part)
	}
	return starlark.Bytes(b).Has(y)
}

// Binary is b + b and b * n.
func (b Bytes) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	var out starlark.Value
	var err error
	switch other := y.(type) {
	case Bytes:
		if op != syntax.PLUS {
			return nil, nil
		}
		return b + other, nil
	case starlark.Int:
		if op != syntax.STAR {
			return nil, nil
		}
		out, err = starlark.Binary(op, starlark.Bytes(b), other)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Bytes(out.(starlark.Bytes)), nil
}

// Attr gives b.elems, the only method.
func (b Bytes) Attr(name string) (starlark.Value, error) {
	return starlark.Bytes(b).Attr(name)
}

// AttrNames names the methods.
func (b Bytes) AttrNames() []string { return starlark.Bytes(b).AttrNames() }

type bytesIterator struct{ left Bytes }

func (it *bytesIterator) Next(p *starlark.Value) bool {
	if it.left == "" {
		return false
	}
	*p = it.left.Index(0)
	it.left = it.left[1:]
	return true
}

func (*bytesIterator) Done() {}

// OwnBytes gives bytes of the interpreter's own kind as ours; other values stay
// as they are.
func OwnBytes(v starlark.Value) starlark.Value {
	if b, ok := v.(starlark.Bytes); ok {
		return Bytes(b)
	}
	return v
}

// plainBytes gives bytes as the interpreter's own builtins know them; other
// values stay as they are.
func plainBytes(v starlark.Value) starlark.Value {
	if b, ok := v.(Bytes); ok {
		return starlark.Bytes(b)
	}
	return v
}
