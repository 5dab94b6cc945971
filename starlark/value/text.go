package value

import (
	"strings"
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
	if cuts.count.Load() == 0 || !holds(v, maxDepth, wasCut) {
		return v.String()
	}
	var b strings.Builder
	writeText(&b, v)
	return b.String()
}

// Quoted gives v as str() gives a part of a list, its strings in quotes, with the marks of strings that were cut.
func Quoted(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok {
		return syntax.Quote(Printed(string(s)), false)
	}
	return Text(v)
}

// maxDepth bounds the walk: a list may hold itself, which the interpreter's own
// text of it says.
const maxDepth = 20

// holds reports whether there is a string in v for which the test holds.
func holds(v starlark.Value, depth int, test func(string) bool) bool {
	if s, ok := v.(starlark.String); ok {
		return test(string(s))
	}
	found := false
	for _, e := range partsOf(v) {
		found = found || depth > 0 && holds(e, depth-1, test)
	}
	return found && depth > 0
}

func wasCut(s string) bool { return len(cutsOf(s)) > 0 }

// partsOf are the values that the text of v shows.
func partsOf(v starlark.Value) []starlark.Value {
	switch v := v.(type) {
	case starlark.Tuple:
		return v
	case *starlark.List, *starlark.Set:
		var out []starlark.Value
		for e := range starlark.Elements(v.(starlark.Iterable)) {
			out = append(out, e)
		}
		return out
	case *starlark.Dict:
		var out []starlark.Value
		for _, kv := range v.Items() {
			out = append(out, kv...)
		}
		return out
	case *Record:
		return v.vals
	}
	return nil
}

// writeText writes v as its String method does, with marks.
func writeText(b *strings.Builder, v starlark.Value) {
	list := func(begin string, parts []starlark.Value, end string) {
		b.WriteString(begin)
		for i, e := range parts {
			if i > 0 {
				b.WriteString(", ")
			}
			writeText(b, e)
		}
		b.WriteString(end)
	}
	switch v := v.(type) {
	case starlark.String:
		b.WriteString(syntax.Quote(Printed(string(v)), false))
	case starlark.Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		list("(", v, end)
	case *starlark.List:
		list("[", partsOf(v), "]")
	case *starlark.Set:
		list("set([", partsOf(v), "])")
	case *starlark.Dict:
		writePairs(b, "{", v.Items(), ": ", "}")
	case *Record:
		pairs := make([]starlark.Tuple, len(v.names))
		for i, name := range v.names {
			pairs[i] = starlark.Tuple{fieldName(name), v.vals[i]}
		}
		writePairs(b, "record(", pairs, " = ", ")")
	default:
		b.WriteString(v.String())
	}
}

// A fieldName is written without quotes.
type fieldName string

func (f fieldName) String() string      { return string(f) }
func (fieldName) Type() string          { return "name" }
func (fieldName) Freeze()               {}
func (fieldName) Truth() starlark.Bool  { return true }
func (fieldName) Hash() (uint32, error) { return 0, nil }

func writePairs(b *strings.Builder, begin string, pairs []starlark.Tuple, between, end string) {
	b.WriteString(begin)
	for i, kv := range pairs {
		if i > 0 {
			b.WriteString(", ")
		}
		writeText(b, kv[0])
		b.WriteString(between)
		writeText(b, kv[1])
	}
	b.WriteString(end)
}

// Texts gives v as encoders of text show it: with the marks of cut strings written out, and bytes that are not UTF-8 as
// in all output.
func Texts(v starlark.Value) (starlark.Value, error) {
	if !holds(v, maxDepth, func(s string) bool { return wasCut(s) || !utf8.ValidString(s) }) {
		return v, nil
	}
	switch v := v.(type) {
	case starlark.String:
		return starlark.String(format.ValidText(Printed(string(v)))), nil
	case starlark.Tuple, *starlark.List, *starlark.Set:
		parts, err := textsIn(partsOf(v))
		return starlark.NewList(parts), err
	case *Record:
		vals, err := textsIn(v.vals)
		return NewRecord(v.names, vals), err
	case *starlark.Dict:
		out := starlark.NewDict(v.Len())
		for _, kv := range v.Items() {
			pair, err := textsIn(kv)
			if err != nil {
				return nil, err
			}
			if err := out.SetKey(pair[0], pair[1]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func textsIn(vals []starlark.Value) ([]starlark.Value, error) {
	out := make([]starlark.Value, len(vals))
	for i, v := range vals {
		var err error
		if out[i], err = Texts(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
