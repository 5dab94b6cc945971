package value

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/escape"
)

// How long the text of a value becomes, before it is written, and the refusal if there is no room.
//
// What writes values asks beforehand how long their text becomes. A string that stands in a list a thousand times is
// there once, and its text a thousand times; and a tuple that has a tuple twice, and so on, is small and has a text
// without bound. So each value is counted as often as it is written, and the room for the text is asked for while it
// is counted: the count ends where there is none.

// A writing is a way to write values.
type writing struct {
	// json: strings are those of JSON.
	json bool
	// expands: of all that has elements these are written, as of a range.
	expands bool
	// copies: the values are copied before they are written.
	copies bool
	// line is how many bytes the line of each value has more, and by those that are added for each value around it.
	line, by uint64
	// deepest is how deep values may be nested. Of what is deeper nothing is written where cuts is set, else it is an
	// error.
	deepest int
	cuts    bool
}

var (
	asText = writing{deepest: mostNested}
	asJSON = writing{json: true, expands: true, copies: true, deepest: mostNested}
	// asRows is how show() writes what has rows: the values become those of tables, which end at a depth.
	asRows = writing{json: true, expands: true, copies: true, deepest: deepestInRows, cuts: true}
)

const (
	// mostNested is how deep values in a text are nested: what writes them calls itself for each, and goes through
	// all around a list to see whether it is in itself. JSON that is read is not deeper either.
	mostNested = 10_000
	// deepestInRows is what package results shows.
	deepestInRows = 1000
	// textCopies is how often a text is there while it is made: in a buffer in its old and its new size, as a string,
	// and in the output.
	textCopies = 4
	// valuesBetween is how many values are counted before it is asked again whether the script may go on.
	valuesBetween = 1 << 14
	// ofValue is what stands around a value in a text: quotes and a comma.
	ofValue = 4
	// ofFloat is a float, True, False or None; ofInt is an int of 64 bits.
	ofFloat, ofInt = 24, 20
	// ofPart and ofEntry are what a value in a list and an entry of a dict take in a copy, besides strings.
	ofPart, ofEntry = 64, 200
	// ofSpecial is what a special character takes more, once it is escaped: \u0000.
	ofSpecial = 5
	// ofQuote is what a quote or a backslash takes more: \\\" in a text that is a string of JSON.
	ofQuote = 3
)

// A textSize is how much memory it takes to write values, as far as it has been counted.
type textSize struct {
	writing
	th *starlark.Thread
	// bytes of text were counted, and parts is what copies of the values take.
	bytes, parts uint64
	// special: there is a character that is escaped, or was cut: the values are copied.
	special bool
	// next is at how many bytes it is asked for room again.
	next uint64
	// values were counted.
	values uint64
	// depth is how many values are around the one that is counted. within are those of them that can be in themselves:
	// one that is, is not written again.
	depth  int
	within []starlark.Value
}

// CheckTextOf refuses to write values for whose text there is no room, or once the script is to end.
func CheckTextOf(th *starlark.Thread, list ...starlark.Value) error { return asText.check(th, list) }

// CheckJSONOf is CheckTextOf for JSON. Each value begins a line that has so many bytes more, and by for each value
// around it.
func CheckJSONOf(th *starlark.Thread, line, by uint64, list ...starlark.Value) error {
	w := asJSON
	w.line, w.by = line, by
	return w.check(th, list)
}

// CheckRowsOf is CheckTextOf for what show() prints of a value: rows, where it has some.
func CheckRowsOf(th *starlark.Thread, v starlark.Value) error {
	switch v := v.(type) {
	case *starlark.Dict:
		return asRows.check(th, []starlark.Value{v})
	case *Table:
		var list []starlark.Value
		for _, kv := range v.Items() {
			list = append(list, kv)
		}
		return asRows.check(th, list)
	case *Cell:
		held, err := v.Value()
		if err != nil {
			return err
		}
		return asRows.check(th, []starlark.Value{held})
	}
	return asText.check(th, []starlark.Value{v})
}

func (w writing) check(th *starlark.Thread, list []starlark.Value) error {
	if areShort(list) {
		return nil
	}
	return w.checkFilled(th, "", slices.Values(list))
}

// checkFilled refuses to write values into a text between their places.
func (w writing) checkFilled(th *starlark.Thread, text string, list iter.Seq[starlark.Value]) error {
	size := textSize{writing: w, th: th, next: largeResult / textCopies}
	size.string(text)
	for v := range list {
		if err := size.add(v); err != nil {
			return err
		}
	}
	return CheckRoom(th, size.needs())
}

// TextRoom refuses to write n bytes more of a text.
func TextRoom(th *starlark.Thread, n uint64) error { return CheckRoom(th, textCopies*n) }

// areShort reports whether values are short whatever is in them, as most of what is printed.
func areShort(list []starlark.Value) bool {
	bytes := 0
	for _, v := range list {
		switch v := v.(type) {
		case starlark.String:
			bytes += ofValue + (1+ofSpecial)*len(v)
		case Bytes:
			bytes += ofValue + (1+ofSpecial)*len(v)
		case starlark.Int:
			bytes += ofValue + ofFloat + wide(v)
		case starlark.Float, starlark.Bool, starlark.NoneType:
			bytes += ofValue + ofFloat
		case Stack, Frame, faultType:
			bytes += longestStack
		default:
			return false
		}
	}
	return bytes < largeResult/textCopies
}

// wide is how many characters an int of more than 64 bits has at the most.
func wide(i starlark.Int) int {
	if _, ok := i.Int64(); ok {
		return 0
	}
	if _, ok := i.Uint64(); ok {
		return 0
	}
	return i.BigInt().BitLen()
}

// longestStack is more than the text of most stacks.
const longestStack = 16 << 10

func (s *textSize) needs() uint64 {
	if s.special || s.copies {
		return textCopies*s.bytes + s.parts
	}
	return textCopies * s.bytes
}

func (s *textSize) add(v starlark.Value) error {
	s.bytes += ofValue + s.line + uint64(s.depth)*s.by
	s.parts += ofPart
	if s.values++; s.values%valuesBetween == 0 || s.bytes >= s.next {
		if err := s.ask(); err != nil {
			return err
		}
	}
	switch v := v.(type) {
	case starlark.String:
		s.string(string(v))
	case Bytes:
		s.string(string(v))
		if s.expands { // as a list of ints
			s.bytes += 4 * uint64(len(v))
		}
	case starlark.Int:
		s.bytes += digits(v)
	case starlark.Float, starlark.Bool, starlark.NoneType:
		s.bytes += ofFloat
	case starlark.Tuple, *starlark.List, *starlark.Dict, *starlark.Set, *Record:
		s.bytes += s.line + uint64(s.depth)*s.by // of the bracket at its end
		return s.inside(v)
	case Stack: // has elements, too
		s.leaf(v)
	case starlark.Sequence:
		if s.expands {
			return s.inside(v)
		}
		s.leaf(v)
	default:
		s.leaf(v)
	}
	return nil
}

// leaf counts what has a text of its own. That of a stack is another one in JSON, of its frames.
func (s *textSize) leaf(v starlark.Value) {
	text := v.String()
	if s.string(text); s.expands {
		s.bytes += 4 * uint64(len(text))
	}
}

// string counts a string with what is escaped in it.
func (s *textSize) string(text string) {
	s.bytes += uint64(len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			s.bytes += ofQuote
		case s.json && (c == '<' || c == '>' || c == '&'):
			s.bytes += ofSpecial
		}
	}
	for at, size := escape.Next(text, 0); at >= 0; at, size = escape.Next(text, at+size) {
		s.bytes += ofSpecial
		s.special = true
	}
	if n := len(cutsOf(text)); n > 0 {
		s.bytes += uint64(n * len(cutMark))
		s.special = true
	}
}

// digits is at least how many characters an int has.
func digits(i starlark.Int) uint64 {
	if n, ok := i.Int64(); ok {
		return uint64(bits.Len64(uint64(max(n, -(n+1))))*5/16) + 2
	}
	return uint64(i.BigInt().BitLen())*5/16 + 2
}

// inside counts what is in a value, unless that is in itself.
func (s *textSize) inside(v starlark.Value) error {
	switch v.(type) {
	case *starlark.List, *starlark.Dict:
		if slices.Contains(s.within, v) {
			return nil
		}
		s.within = append(s.within, v)
		defer func() { s.within = s.within[:len(s.within)-1] }()
	}
	if s.depth++; s.depth > s.deepest {
		if s.depth--; s.cuts {
			return nil
		}
		return fmt.Errorf("the values are nested more than %d deep in one another: no text is made of them; want "+
			"them less deep", s.deepest)
	}
	for part := range s.partsOf(v) {
		if err := s.add(part); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

// partsOf are the values that the text of v shows.
func (s *textSize) partsOf(v starlark.Value) iter.Seq[starlark.Value] {
	switch v := v.(type) {
	case starlark.Tuple:
		return slices.Values(v)
	case *Record:
		for _, name := range v.names {
			s.string(name)
		}
		return slices.Values(v.vals)
	case *starlark.Dict:
		s.parts += ofEntry * uint64(v.Len())
		return func(yield func(starlark.Value) bool) {
			for key, elem := range v.Entries() {
				if !yield(key) || !yield(elem) {
					return
				}
			}
		}
	}
	return starlark.Elements(v.(starlark.Iterable))
}

// ask asks whether the script may go on, and for room whenever as much again has been counted.
func (s *textSize) ask() error {
	if err := checkGoing(s.th); err != nil {
		return err
	}
	if s.bytes < s.next {
		return nil
	}
	s.next = 2 * s.bytes
	if s.bytes > MostText {
		return fmt.Errorf("this would be a text of more than %d bytes, and no longer one is made at once", MostText)
	}
	return CheckRoom(s.th, s.needs())
}

// goingKey is where a thread has what SetGoing was given.
const goingKey = "going"

// SetGoing says what builtins ask that take long: it gives an error once the script is to end.
func SetGoing(th *starlark.Thread, going func() error) { th.SetLocal(goingKey, going) }

func checkGoing(th *starlark.Thread) error {
	if going, ok := th.Local(goingKey).(func() error); ok {
		return going()
	}
	return nil
}
