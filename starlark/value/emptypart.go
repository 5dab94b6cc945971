package value

import (
	"reflect"
	"slices"
	"sync"

	"go.starlark.net/starlark"
)

// The last, empty part of a string that was cut.
//
// The last part of a string that was cut can be empty: of "/usr/" read of "/usr/share", split("/")[-1] is. It is cut,
// as other last parts are, or it would say that the path ends there. Go has no place in memory for what is empty: a
// slice s[len(s):] begins where s does, and in an interface all empty strings are the same. So there is one value for
// it, made once, which keeps its place; and who makes parts of strings says where they were (partOf).

// emptyCut is the empty string of which there was more.
var emptyCut = sync.OnceValue(func() starlark.Value {
	s := noted.note("", marks{cuts: []int{0}, all: true})
	return reflect.ValueOf(&s).Elem().Interface().(starlark.Value) // as it is: a conversion would forget its place
})

// text is the interpreter's string, under a name that is none of its methods.
type text = starlark.String

// boxed is s as a value of a script, cut if s was.
func boxed(s starlark.String) starlark.Value {
	if len(s) == 0 && IsCut(string(s)) {
		return emptyCut()
	}
	return s
}

// partOf is s[from:to], cut where s is cut before its end.
func partOf(s string, from, to int) starlark.Value {
	if from < to {
		return starlark.String(s[from:to])
	}
	return emptyAt(cutsOf(s), from)
}

// emptyAt is an empty part of a string that is cut at some offsets.
func emptyAt(cuts []int, at int) starlark.Value {
	if slices.Contains(cuts, at) {
		return emptyCut()
	}
	return starlark.String("")
}

// A sliced is a string that was cut before it is sliced.
type sliced struct {
	text
	cuts []int
}

// Sliced is a value before it is sliced.
func Sliced(v starlark.Value) starlark.Value {
	if s, ok := v.(starlark.String); ok && wasCut(string(s)) {
		return sliced{s, cutsOf(string(s))}
	}
	return v
}

// Slice is s[start:end].
func (s sliced) Slice(start, end, _ int) starlark.Value {
	if start < end {
		return s.text[start:end]
	}
	return emptyAt(s.cuts, start)
}
