package value

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/format"
)

// What a script puts together of strings of which something is known (see marks)
// knows it, too. The host calls these functions in place of the interpreter's
// operators (starlark/script, instrument.go).

// Operate is x op y for +, % and *.
func Operate(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if err := checkOperands(op, x, y); err != nil {
		return nil, err
	}
	format, isText := x.(starlark.String)
	if isText && op == syntax.PERCENT {
		return through(func(list []starlark.Value) (starlark.Value, error) {
			return starlark.Binary(op, textVerbs(string(list[0].(starlark.String)), list[1]), list[1])
		}, format, y)
	}
	z, err := starlark.Binary(op, x, y)
	if s, ok := z.(starlark.String); ok && !noMarks() {
		return marked(string(s), sumOf(op, x, y)), err
	}
	return z, err
}

// sumOf is what is known of x + y, x * y, which are strings.
func sumOf(op syntax.Token, x, y starlark.Value) (m marks) {
	if op == syntax.PLUS {
		l, r := string(x.(starlark.String)), string(y.(starlark.String))
		return marksOf(l).plus(marksOf(r), len(l))
	}
	text, isText := starlark.AsString(x)
	times := y
	if !isText {
		text, _ = starlark.AsString(y)
		times = x
	}
	n, _ := starlark.AsInt32(times)
	if one := marksOf(text); !one.none() {
		for i := range n {
			m = m.plus(one, i*len(text))
		}
	}
	return m
}

// joined is sep.join(parts) of strings.
func joined(sep string, parts []string) starlark.String {
	text := strings.Join(parts, sep)
	if noMarks() {
		return starlark.String(text)
	}
	var m marks
	at := 0
	for i, part := range parts {
		if i > 0 {
			m = m.plus(marksOf(sep), at)
			at += len(sep)
		}
		m = m.plus(marksOf(part), at)
		at += len(part)
	}
	return marked(text, m)
}

// A Part says where in a formatted text a value stands, which is Of.
type Part struct {
	format.Stretch
	Of starlark.Value
}

// Placed is a formatted text that knows what its parts know.
func Placed(text string, parts []Part) starlark.String {
	if noMarks() {
		return starlark.String(text)
	}
	var m marks
	for _, p := range parts {
		s, isText := p.Of.(starlark.String)
		if !isText {
			s = told(p.Of)
		}
		known := marksOf(string(s))
		switch {
		case p.Plain:
			m = m.plus(known.within(p.Len), p.At)
		case p.Quoted:
			for _, at := range known.cuts {
				if quoted := len(strconv.Quote(string(s[:at]))) - 1; quoted < p.Len {
					m.cuts = append(m.cuts, p.At+quoted)
				}
			}
		}
	}
	return marked(text, m)
}

// Tags stand in strings while the interpreter makes a text of them, around each
// traced line feed or tab, and where a string was cut. They survive quoting, and no
// string from outside has them, for nobody can guess them. What they begin with is
// no verb of a format.
var (
	tagText  = "<" + strconv.FormatUint(rand.Uint64()|1<<63, 16) + strconv.FormatUint(rand.Uint64()|1<<63, 16)
	tagCut   = tagText + "c>"
	tagBegin = tagText + "b>"
	tagEnd   = tagText + "e>"
)

// through is what f makes of operands: a text of them, which knows what they know.
func through(f func([]starlark.Value) (starlark.Value, error), operands ...starlark.Value) (starlark.Value, error) {
	if noMarks() || !holds(starlark.Tuple(operands), maxDepth, hasMarks) {
		return f(operands)
	}
	list := make([]starlark.Value, len(operands))
	for i, v := range operands {
		if list[i] = tagged(v, maxDepth); list[i] == nil {
			return f(operands)
		}
	}
	v, err := f(list)
	if s, ok := v.(starlark.String); ok && err == nil {
		return untagged(string(s)), nil
	}
	v, err = f(operands) // what a tag has broken, as a name within a format
	if s, ok := v.(starlark.String); ok {
		return marked(string(s), marks{shapes: allShapes(string(s))}), err
	}
	return v, err
}

// tagged is v with tags in its strings, nil where that cannot be.
func tagged(v starlark.Value, depth int) starlark.Value {
	out, err := eachText(v, depth, func(s string) starlark.Value { return starlark.String(withTags(s, marksOf(s))) })
	if err != nil {
		return nil
	}
	if d, ok := v.(*starlark.Dict); ok {
		return taggedDict{out.(*starlark.Dict), d}
	}
	return out
}

// A taggedDict is a dict with tags that is found by the keys without.
type taggedDict struct {
	*starlark.Dict
	plain *starlark.Dict
}

// Get is for the names of a format.
func (d taggedDict) Get(k starlark.Value) (starlark.Value, bool, error) {
	v, found, err := d.plain.Get(k)
	if found && err == nil {
		if v = tagged(v, maxDepth); v == nil {
			found = false
		}
	}
	return v, found, err
}

func withTags(s string, m marks) string {
	if m.none() {
		return s
	}
	var b strings.Builder
	for i := range len(s) + 1 {
		if len(m.cuts) > 0 && m.cuts[0] == i {
			b.WriteString(tagCut)
			m.cuts = m.cuts[1:]
		}
		switch {
		case i == len(s):
		case len(m.shapes) > 0 && m.shapes[0] == i:
			b.WriteString(tagBegin + s[i:i+1] + tagEnd)
			m.shapes = m.shapes[1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// untagged is the string that a text with tags stands for.
func untagged(s string) starlark.String {
	var m marks
	var b strings.Builder
	for {
		i := strings.Index(s, tagText)
		if i < 0 {
			b.WriteString(s)
			return marked(b.String(), m)
		}
		b.WriteString(s[:i])
		switch tag := s[i : i+len(tagCut)]; {
		case tag == tagCut:
			m.cuts = append(m.cuts, b.Len())
		case tag == tagBegin && strings.IndexByte(shaping, s[i+len(tag)]) >= 0:
			m.shapes = append(m.shapes, b.Len())
		}
		s = s[i+len(tagCut):]
	}
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

// plainText is a string without tags.
func plainText(s starlark.String) string {
	if noMarks() {
		return string(s)
	}
	return string(untagged(string(s)))
}
