package value

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Labels for parts of a stack that kernel halves send.

// view is what a label of a stack means: a frame of it ("frame:0"), a part of one ("frame.name:0"), or how many there
// are ("len"). A frame that the stack does not have is None. "" is the stack itself.
func (s Stack) view(label string) starlark.Value {
	switch label {
	case "":
		return s
	case "len":
		return starlark.MakeInt(s.Len())
	}
	what, number, _ := strings.Cut(label, ":")
	frames := s.Frames()
	n, err := strconv.Atoi(number)
	if err != nil || n >= len(frames) {
		return starlark.None
	}
	_, part, ok := strings.Cut(what, ".")
	if !ok {
		return frames[n]
	}
	v, err := frames[n].Attr(part)
	if v == nil || err != nil {
		return starlark.None
	}
	return v
}
