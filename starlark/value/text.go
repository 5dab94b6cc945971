package value

import (
	"errors"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/format"
)

// Text gives v as print writes it, without escapes: a string as it is, other
// values as str() gives them, and in both the marks of strings that were cut.
func Text(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok {
		return Printed(string(s))
	}
	return Printed(string(told(v)))
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
	return Text(v)
}

func wasCut(s string) bool { return len(cutsOf(s)) > 0 }

// Texts gives v as encoders of text show it: with the marks of cut strings written out, and bytes that are not UTF-8 as
// in all output.
func Texts(v starlark.Value) (starlark.Value, error) {
	if !holds(v, maxDepth, func(s string) bool { return wasCut(s) || !utf8.ValidString(s) }) {
		return v, nil
	}
	out, err := eachText(v, maxDepth, func(s string) starlark.Value {
		return starlark.String(format.ValidText(Printed(s)))
	})
	if errors.Is(err, errDeep) {
		return v, nil // the encoder says what is wrong with it
	}
	return out, err
}
