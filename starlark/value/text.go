package value

import (
	"errors"
	"math"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
)

// str() and print of a value: escapes, marks of what was cut.

// Text gives v as print writes it, without escapes: a string as it is, other
// values as str() gives them, and in both the marks of strings that were cut.
func Text(v starlark.Value) string { return Printed(string(textOf(v))) }

// Screen gives v as print writes it to a screen: Text in which all special characters
// are escaped but for line feeds and tabs of the script's own.
func Screen(v starlark.Value) string {
	s := Shown(string(textOf(v)))
	if !escape.Any(s) {
		return s
	}
	return string(escape.Append(nil, s, escape.Screen))
}

// Str is str(v), which knows by itself what strings in it were cut.
func Str(v starlark.Value) string { return string(textOf(v)) }

// textOf is str(v).
func textOf(v starlark.Value) starlark.String {
	if s, ok := v.(starlark.String); ok {
		return s
	}
	return told(v)
}

// told is str(v) of what is no string.
func told(v starlark.Value) starlark.String {
	out, _ := through(func(list []starlark.Value) (starlark.Value, error) {
		return starlark.String(list[0].String()), nil
	}, v)
	return out.(starlark.String)
}

// Quoted gives v as str() gives a part of a list, its strings in quotes, with the marks of strings that were cut.
func Quoted(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok {
		return syntax.Quote(Printed(string(s)), false)
	}
	return Screen(v)
}

// Texts gives v as encoders of text show it: with the marks of cut strings written out,
// and bytes that are not UTF-8 as in all JSON (escape.Bytes).
func Texts(v starlark.Value) (starlark.Value, error) {
	out, err := texts{func(s string) starlark.Value {
		return starlark.String(escape.Bytes(Printed(s)))
	}, encodedLeaf, starlark.String(cutMark)}.of(v, maxDepth)
	if errors.Is(err, errDeep) {
		return v, nil // the encoder says what is wrong with it
	}
	return out, err
}

// encodedLeaf has the frames of stacks as records, whose names are strings as others, and what is no number, or has no
// end, as text: JSON has no number for it.
func encodedLeaf(v starlark.Value) starlark.Value {
	var out starlark.Value
	var err error
	switch v := v.(type) {
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return starlark.String(v.String())
		}
		return v
	case Bytes:
		if !IsCut(string(v)) {
			return v
		}
		return append(starlark.Tuple(slices.Collect(starlark.Elements(v))), starlark.String(cutMark))
	case Stack:
		out, err = Texts(v.tuple())
	case Frame:
		fields := make([]starlark.Value, len(v.AttrNames()))
		for i, name := range v.AttrNames() {
			if fields[i], err = v.Attr(name); err != nil {
				return v
			}
		}
		out, err = Texts(NewRecord(v.AttrNames(), fields))
	default:
		return v
	}
	if err != nil {
		return v
	}
	return out
}
