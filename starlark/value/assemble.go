package value

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// What a script puts together of strings that were cut knows where they end in
// it. The host calls these functions in place of the interpreter's operators
// (starlark/script, instrument.go).

// Operate is x op y for + and %.
func Operate(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if err := checkOperands(op, x, y); err != nil {
		return nil, err
	}
	z, err := starlark.Binary(op, x, y)
	s, isText := z.(starlark.String)
	if err != nil || !isText || cuts.count.Load() == 0 {
		return z, err
	}
	if op == syntax.PLUS {
		l, r := string(x.(starlark.String)), string(y.(starlark.String))
		return marked(string(s), appendShifted(cutsOf(l), cutsOf(r), len(l))), nil
	}
	return Assembled(string(s), x, y), nil
}

// OperateInPlace is x op= y for a variable: a list grows where it is.
func OperateInPlace(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if _, isText := x.(starlark.String); isText {
		return Operate(op, x, y)
	}
	return inPlace(op, x, y)
}

// Joined is what sep.join(parts) has given.
func Joined(text, sep string, parts starlark.Iterable) starlark.String {
	if cuts.count.Load() == 0 {
		return starlark.String(text)
	}
	var offsets []int
	at, between := 0, ""
	for e := range starlark.Elements(parts) {
		part, ok := starlark.AsString(e)
		if !ok {
			return starlark.String(text) // join fails then
		}
		offsets = appendShifted(offsets, cutsOf(between), at)
		at += len(between)
		offsets = appendShifted(offsets, cutsOf(part), at)
		at += len(part)
		between = sep
	}
	return marked(text, offsets)
}

func appendShifted(offsets, more []int, by int) []int {
	for _, off := range more {
		offsets = append(offsets, by+off)
	}
	return offsets
}

// Assembled is a text with the marks of what a format put into it: the strings
// of operands are looked for in their order. One that a precision or an escape
// has changed is not found, and has no mark there.
func Assembled(text string, operands ...starlark.Value) starlark.String {
	if cuts.count.Load() == 0 {
		return starlark.String(text)
	}
	var offsets []int
	at := 0
	for _, part := range textsOf(operands, maxDepth, nil) {
		i := strings.Index(text[at:], part)
		if i < 0 || part == "" {
			continue
		}
		offsets = appendShifted(offsets, cutsOf(part), at+i)
		at += i + len(part)
	}
	return marked(text, offsets)
}

// textsOf gives the strings in values, in order.
func textsOf(values []starlark.Value, depth int, out []string) []string {
	for _, v := range values {
		if s, ok := v.(starlark.String); ok {
			out = append(out, string(s))
		} else if depth > 0 {
			out = textsOf(partsOf(v), depth-1, out)
		}
	}
	return out
}
