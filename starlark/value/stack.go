package value

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A Frame is one entry of a stack.
type Frame struct {
	Name   string // function, or the address in hex
	Offset uint64 // into the function
	Module string
	Addr   uint64
}

// String gives `vfs_read+0x1b`, or `vfs_read` at its beginning.
func (f Frame) String() string {
	if f.Offset == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s+%#x", f.Name, f.Offset)
}

// A StackSource gives the frames of a stack, the leaf first, from the table
// that keeps each stack once.
type StackSource interface {
	Frames(id uint64) []Frame
}

// A Stack is a list of frames, known by its id in the table of stacks until
// somebody wants to see the frames.
type Stack struct {
	ID  uint64
	src StackSource
}

var (
	_ starlark.HasAttrs   = Stack{}
	_ starlark.Comparable = Stack{}
)

// Frames gives the frames, leaf first; none where there is no source.
func (s Stack) Frames() []Frame {
	if s.src == nil {
		return nil
	}
	return s.src.Frames(s.ID)
}

// String has one line a frame.
func (s Stack) String() string {
	frames := s.Frames()
	if frames == nil {
		return fmt.Sprintf("<stack %#x>", s.ID)
	}
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "    %s\n", f)
	}
	return b.String()
}

func (s Stack) Type() string          { return "stack" }
func (s Stack) Freeze()               {}
func (s Stack) Truth() starlark.Bool  { return s.ID != 0 }
func (s Stack) Hash() (uint32, error) { return uint32(s.ID ^ s.ID>>32), nil }
func (s Stack) AttrNames() []string   { return []string{"folded"} }

// Attr has the method folded: names from the root to the leaf, as flame
// graphs want them.
func (s Stack) Attr(name string) (starlark.Value, error) {
	if name != "folded" {
		return nil, nil
	}
	return method("folded", s, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("folded", args, kwargs); err != nil {
			return nil, err
		}
		return starlark.String(s.folded()), nil
	}), nil
}

func (s Stack) folded() string {
	frames := s.Frames()
	names := make([]string, len(frames))
	for i, f := range frames {
		names[len(frames)-1-i] = f.Name
	}
	return strings.Join(names, ";")
}

func (s Stack) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	same := s.ID == y.(Stack).ID
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("stack %s stack not implemented", op)
}

// method makes a bound method.
func method(name string, recv starlark.Value, f func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)) starlark.Value {
	fn := func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(th, args, kwargs)
	}
	return starlark.NewBuiltin(name, fn).BindReceiver(recv)
}
