package value

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/wire"
)

// Stack, the value of e.stack(): frames, length, slices, folded, why it is short.

// A StackSource gives what is known of a stack, from the table that keeps each
// stack once.
type StackSource interface {
	// Frames are the leaf first.
	Frames(id uint64) []Frame
	// Short says why there are no frames, or why there may be more: "" for a
	// stack that is whole.
	Short(id uint64) string
	// Unfinished reports whether a stack has callers that nobody could find.
	Unfinished(id uint64) bool
	// Merged gives the id of the stack as reports show it: stacks of the same functions have one.
	Merged(id uint64) uint64
	// MergedFrame is a frame as reports show it.
	MergedFrame(f Frame) Frame
}

// A Stack is a sequence of frames, the leaf first, known by its id in the table
// of stacks until somebody wants to see the frames. Two stacks are equal if
// their ids are: if they have the same addresses, user stacks also the same
// process.
type Stack struct {
	// ID is the stack's in the table of its unit; the lowest ones say why there is none (wire.NoStack).
	ID  uint64
	src StackSource
}

var (
	_ starlark.HasAttrs   = Stack{}
	_ starlark.Comparable = Stack{}
	_ starlark.Sliceable  = Stack{}
	_ starlark.Sequence   = Stack{}
	_ starlark.Container  = Stack{}
)

// Frames gives the frames, leaf first; none where there is no source.
func (s Stack) Frames() []Frame {
	if s.src == nil {
		return nil
	}
	return s.src.Frames(s.ID)
}

// Short says why the stack has no frames, or may lack some; "" if it is whole.
func (s Stack) Short() string {
	if s.src == nil {
		return ""
	}
	return s.src.Short(s.ID)
}

// Unfinished reports whether the stack has callers that nobody could find, not those beyond the frames that were
// wanted.
func (s Stack) Unfinished() bool { return s.src != nil && s.src.Unfinished(s.ID) }

// Merged is the stack as reports show it. Two of the same functions are equal.
func (s Stack) Merged() Stack {
	if s.src == nil {
		return s
	}
	return Stack{s.src.Merged(s.ID), s.src}
}

// IsMerged reports whether it is made of another one, as reports show it: no program knows it.
func (s Stack) IsMerged() bool { return s.ID >= wire.FirstMerged && s.ID%2 == 0 }

// String has a line for each frame, and one that says why there are no more. Names of
// functions come from programs, and are escaped.
func (s Stack) String() string {
	if s.src == nil {
		return fmt.Sprintf("<stack %#x>", s.ID)
	}
	var b strings.Builder
	for _, f := range s.Frames() {
		fmt.Fprintf(&b, "    %s\n", escape.Line(f.Text()))
	}
	switch why := s.Short(); {
	case why != "" && b.Len() > 0:
		fmt.Fprintf(&b, "    … %s\n", why)
	case why != "":
		fmt.Fprintf(&b, "    (%s)\n", why)
	}
	return b.String()
}

func (s Stack) Type() string { return "stack" }

// Freeze has nothing to do: a stack never changes.
func (s Stack) Freeze() {}

// Truth is whether there are frames, as in kernel halves.
func (s Stack) Truth() starlark.Bool  { return s.ID >= wire.FirstStack }
func (s Stack) Hash() (uint32, error) { return uint32(s.ID ^ s.ID>>32), nil }
func (s Stack) Len() int              { return len(s.Frames()) }

// Index gives a frame.
func (s Stack) Index(i int) starlark.Value { return s.Frames()[i] }

// Slice gives frames as a tuple: part of a stack has no id.
func (s Stack) Slice(start, end, step int) starlark.Value { return s.tuple().Slice(start, end, step) }

// Iterate goes from the leaf to the root.
func (s Stack) Iterate() starlark.Iterator { return s.tuple().Iterate() }

func (s Stack) tuple() starlark.Tuple {
	frames := s.Frames()
	out := make(starlark.Tuple, len(frames))
	for i, f := range frames {
		out[i] = f
	}
	return out
}

// Has makes `"vfs_write" in stack` ask for the name of a function, and finds
// frames.
func (s Stack) Has(v starlark.Value) (bool, error) {
	for _, f := range s.Frames() {
		switch v := v.(type) {
		case starlark.String:
			if f.Name == string(v) {
				return true, nil
			}
		case Frame:
			if f.plain() == v.plain() {
				return true, nil
			}
		default:
			return false, fmt.Errorf("'in <stack>' wants a function's name or a frame, got %s", v.Type())
		}
	}
	return false, nil
}

func (s Stack) AttrNames() []string { return []string{"folded", "merged"} }

// Attr has the methods folded, names from the root to the leaf, as flame
// graphs want them, and merged, the stack as reports show it.
func (s Stack) Attr(name string) (starlark.Value, error) {
	switch name {
	case "folded":
		return s.method(name, func() starlark.Value { return starlark.String(s.folded()) }), nil
	case "merged":
		return s.method(name, func() starlark.Value { return s.Merged() }), nil
	}
	return nil, nil
}

// method is a method without arguments.
func (s Stack) method(name string, gives func() starlark.Value) starlark.Value {
	return method(name, s, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
		error) {
		if err := starlark.UnpackArgs(name, args, kwargs); err != nil {
			return nil, err
		}
		return gives(), nil
	})
}

func (s Stack) folded() string {
	frames := s.Frames()
	names := make([]string, len(frames))
	for i, f := range frames {
		names[len(frames)-1-i] = escape.Folded(f.Name)
	}
	if s.Unfinished() {
		names = slices.Insert(names, 0, escape.Unfinished)
	}
	return strings.Join(names, ";")
}

// CompareSameType knows == and !=.
func (s Stack) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(op, s.ID == y.(Stack).ID, "stack", "their lengths, or the .name of their frames")
}

// method makes a bound method.
func method(name string, recv starlark.Value, f func(*starlark.Thread, starlark.Tuple,
	[]starlark.Tuple) (starlark.Value, error)) starlark.Value {
	fn := func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
		error) {
		return f(th, args, kwargs)
	}
	return starlark.NewBuiltin(name, fn).BindReceiver(recv)
}
