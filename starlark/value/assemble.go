package value

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
)

// What is known of strings that a script puts together by `+`, `%` and `*`: where they were cut.
//
// What a script puts together of strings of which something is known (see marks)
// knows it, too. The host calls these functions in place of the interpreter's
// operators (starlark/script, instrument.go).

// Operate is x op y for +, % and *.
func Operate(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if err := checkOperands(op, x, y); err != nil {
		return nil, err
	}
	if by, isText := x.(starlark.String); isText && op == syntax.PERCENT {
		if list, isTuple := y.(starlark.Tuple); isTuple && isCutTuple(list) {
			y = slices.Clip(slices.Clone(list)) // its elements are what is shown
		}
		made := through
		if strings.Contains(string(by), "%c") || strings.Contains(string(by), ")c") {
			made = throughTags // of a number %c makes a character that nobody wrote
		}
		return made(func(list []starlark.Value) (starlark.Value, error) {
			return starlark.Binary(op, textVerbs(string(list[0].(starlark.String)), list[1]), list[1])
		}, by, y)
	}
	z, err := starlark.Binary(op, x, y)
	if made, isTuple := z.(starlark.Tuple); isTuple {
		if err == nil {
			err = CheckNested(made)
		}
		return endingAsLast(x, y, made), err
	}
	if s, ok := z.(starlark.String); ok && !isNothing(string(s)) {
		return boxed(sumOf(op, x, y)), err
	}
	return z, err
}

// endingAsLast is x + y or x * y, which is a tuple: a list if one of them is, and cut if its last elements are those of
// one that was.
func endingAsLast(x, y starlark.Value, made starlark.Tuple) starlark.Tuple {
	for _, v := range []starlark.Value{y, x} {
		t, ok := v.(starlark.Tuple)
		if ok && isCutTuple(t) && len(made) >= len(t) { // else it is t * 0
			return CutTuple(made)
		}
		if ok && len(t) > 0 {
			break
		}
	}
	if isListValue(x) || isListValue(y) {
		return List(made)
	}
	return made
}

func isListValue(v starlark.Value) bool {
	t, ok := v.(starlark.Tuple)
	return ok && IsList(t)
}

// isNothing reports whether nothing can be known of what is made as s.
func isNothing(s string) bool { return cutStrings.Load() == 0 && !escape.Any(s) }

// sumOf is x + y or x * y, which are strings, with what is known of them.
func sumOf(op syntax.Token, x, y starlark.Value) starlark.String {
	if op == syntax.PLUS {
		l, r := string(x.(starlark.String)), string(y.(starlark.String))
		a := newAssembly(len(l) + len(r))
		a.add(l)
		a.add(r)
		return a.string()
	}
	text, isText := starlark.AsString(x)
	times := y
	if !isText {
		text, _ = starlark.AsString(y)
		times = x
	}
	n, _ := starlark.AsInt32(times)
	known := marksOf(text)
	a := newAssembly(max(n, 0) * len(text))
	for range n {
		a.addKnown(text, known)
	}
	return a.string()
}

// joined is sep.join(parts) of strings.
func joined(sep string, parts []string) starlark.String {
	if text := strings.Join(parts, sep); isNothing(text) {
		return starlark.String(text)
	}
	known := marksOf(sep)
	a := newAssembly(0)
	for i, part := range parts {
		if i > 0 {
			a.addKnown(sep, known)
		}
		a.add(part)
	}
	return a.string()
}

// A Part says where in a formatted text a value stands, which is Of.
type Part struct {
	format.Stretch
	Of starlark.Value
}

// Placed is a text made by a format that knows what its parts know, and the format.
func Placed(text, by string, parts []Part) starlark.Value {
	if isNothing(text) {
		return starlark.String(text)
	}
	rest := marks{all: marksOf(by).all}
	a := newAssembly(len(text))
	for _, p := range parts {
		switch {
		case p.Len == 0 && p.Marks == 0:
			continue
		case p.At < len(a.text):
			return starlark.String(text) // whose is what cannot be told
		}
		a.addKnown(text[len(a.text):p.At], rest)
		a.addKnown(text[p.At:p.At+p.Len], p.known())
	}
	a.addKnown(text[len(a.text):], rest)
	return boxed(a.string())
}

// known is what is known of the part's text.
func (p Part) known() marks {
	var s starlark.String
	switch of := p.Of.(type) {
	case starlark.String:
		s = of
	case starlark.Int:
		return marks{} // a character by its number
	default:
		s = told(p.Of)
	}
	known := marksOf(string(s))
	switch {
	case p.Plain:
		known = known.within(p.Len)
		known.cuts = first(p.Marks, known.cuts)
		return known
	case p.Quoted:
		m := marks{}
		for _, at := range first(p.Marks, known.cuts) {
			if quoted := len(strconv.Quote(string(s[:at]))) - 1; quoted < p.Len {
				m.cuts = append(m.cuts, quoted)
			}
		}
		return m
	}
	return marks{}
}

// textVerbs is a format with %s for each %c of a string that is one character, or a
// byte that is none: the interpreter would make another one of that.
func textVerbs(format string, operands starlark.Value) starlark.String {
	if !strings.Contains(format, "%") || !strings.Contains(format, "c") {
		return starlark.String(format)
	}
	out := []byte(format)
	list, isTuple := operands.(starlark.Tuple)
	if !isTuple {
		list = starlark.Tuple{operands}
	}
	for i, index := strings.IndexByte(format, '%'), 0; i >= 0 && i+1 < len(format); index++ {
		i++
		var v starlark.Value
		if names, ok := operands.(starlark.Mapping); ok && format[i] == '(' {
			name, _, found := strings.Cut(format[i+1:], ")")
			if i += len(name) + 2; !found || i >= len(format) {
				break
			}
			v, _, _ = names.Get(starlark.String(name))
		} else if index < len(list) {
			v = list[index]
		}
		if s, ok := v.(starlark.String); ok && format[i] == 'c' && utf8.RuneCountInString(plainText(s)) == 1 {
			out[i] = 's'
		}
		if format[i] == '%' {
			index--
		}
		next := strings.IndexByte(format[i+1:], '%')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return starlark.String(out)
}
