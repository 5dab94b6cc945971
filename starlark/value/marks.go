package value

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/escape"
)

// What a string knows of itself: where it was cut, which special characters are the script's.

// marks are what a string knows of its own bytes besides what they are: where it
// was cut, and which of its special characters (escape.Offsets: line feeds, tabs,
// other control characters, bytes that are not UTF-8) the script itself wrote.
//
// A special character that nobody has claimed for the script is foreign, and is
// escaped where it reaches the user. So a mark that is lost, whatever has lost
// it, shows a line feed of the script as \n. It never lets a foreign one
// through, and no part of startrace has to remember what is foreign.
//
// A starlark.String has no place for marks, and a type of our own would be no
// string to the interpreter's builtins. So marks are known by the place in memory
// where the string lies (see noted), and all parts of a string that share its
// memory know theirs.
type marks struct {
	cuts []int // before these offsets there was more
	// all: each special character is the script's. It holds also where there is none.
	all bool
	own []int // where not all are: the offsets of those that are
}

// mostOwn bounds the offsets that one string keeps. Beyond it none is known to be
// the script's.
const mostOwn = 1 << 18

// plainMarks are those of most strings: not cut, no special characters.
var plainMarks = marks{all: true}

// marksOf gives what is known of s.
func marksOf(s string) marks {
	clean := !escape.Any(s)
	if clean && cutStrings.Load() == 0 {
		return plainMarks
	}
	m := noted.of(s)
	m.all = m.all || clean
	return m
}

// anyOwn reports whether there is a special character that is the script's. s is
// the string.
func (m marks) anyOwn(s string) bool { return len(m.own) > 0 || m.all && escape.Any(s) }

// owned are the offsets of the special characters of s that are the script's.
func (m marks) owned(s string) []int {
	if m.all {
		return escape.Offsets(s, mostOwn+1)
	}
	return m.own
}

// marked makes a string of which m is known.
func marked(text string, m marks) starlark.String {
	if len(m.cuts) == 0 && !m.anyOwn(text) {
		return starlark.String(text)
	}
	if len(m.own) > mostOwn {
		m.own = nil
	}
	return noted.note(text, m)
}

// Own is text that the script itself has written: each character in it is its own.
func Own(text string) starlark.String { return marked(text, plainMarks) }

// OwnAs is text that a builtin made by some strings: its line feeds and tabs are the
// script's, if all special characters of these are.
func OwnAs(text string, by ...string) starlark.String {
	for _, s := range by {
		if !marksOf(s).all {
			return starlark.String(text)
		}
	}
	m := marks{all: true}
	for at, size := escape.Next(text, 0); at >= 0 && len(m.own) <= mostOwn; at, size = escape.Next(text, at+size) {
		if isShaping(text[at]) {
			m.own = append(m.own, at)
		} else {
			m.all = false
		}
	}
	return marked(text, m)
}

// Shown is s as it goes to a screen: with marks where it was cut, its foreign line
// feeds and tabs escaped. The caller escapes what no text may have as it is.
func Shown(s string) string { return marksOf(s).shown(s, isShaping) }

// OfScript is s with all its foreign special characters escaped: what is left is the
// script's own, as the text of a format.
func OfScript(s string) string {
	return marksOf(s).shown(s, func(byte) bool { return true })
}

// isShaping are the characters by which scripts shape their output.
func isShaping(c byte) bool { return c == '\n' || c == '\t' }

// shown is s, of which m is known, with cuts marked and with escapes for the foreign
// special characters that begin with such a byte.
func (m marks) shown(s string, escaped func(byte) bool) string {
	if len(m.cuts) == 0 && m.all {
		return s
	}
	out := make([]byte, 0, len(s)+len(cutMark)*len(m.cuts))
	at := 0
	upTo := func(end int) {
		for ; len(m.cuts) > 0 && m.cuts[0] <= end; m.cuts = m.cuts[1:] {
			out = append(append(out, s[at:m.cuts[0]]...), cutMark...)
			at = m.cuts[0]
		}
		out = append(out, s[at:end]...)
		at = end
	}
	for !m.all {
		i, size := escape.Next(s, at)
		if i < 0 {
			break
		}
		upTo(i)
		for len(m.own) > 0 && m.own[0] < i {
			m.own = m.own[1:]
		}
		own := len(m.own) > 0 && m.own[0] == i
		if at += size; own || !escaped(s[i]) {
			out = append(out, s[i:at]...)
		} else {
			out = escape.Append(out, s[i:at], escape.OneLine)
		}
	}
	upTo(len(s))
	return string(out)
}

// An assembly is a string that is put together of others, with what they know.
type assembly struct {
	text []byte
	m    marks
}

func newAssembly(size int) *assembly { return &assembly{text: make([]byte, 0, size), m: plainMarks} }

// add adds a string.
func (a *assembly) add(s string) { a.addKnown(s, marksOf(s)) }

// addKnown adds a string of which m is known.
func (a *assembly) addKnown(s string, m marks) {
	at := len(a.text)
	m.all = m.all || !escape.Any(s)
	if a.m.all && !m.all {
		a.m.own, a.m.all = a.m.owned(string(a.text)), false
	}
	if !a.m.all && len(a.m.own) <= mostOwn {
		a.m.own = appendShifted(a.m.own, m.owned(s), at)
	}
	a.m.cuts = slices.Compact(appendShifted(a.m.cuts, m.cuts, at)) // no byte is between two at one offset
	a.text = append(a.text, s...)
}

func (a *assembly) string() starlark.String { return marked(string(a.text), a.m) }

func appendShifted(offsets, more []int, by int) []int {
	for _, off := range more {
		offsets = append(offsets, by+off)
	}
	return offsets
}

// within are the marks of the first n bytes of s.
func (m marks) within(n int) marks {
	return marks{before(m.cuts, n+1), m.all, before(m.own, n)}
}

// first are the first n offsets.
func first(n int, offsets []int) []int {
	n = min(n, len(offsets))
	return offsets[:n:n]
}

func before(offsets []int, end int) []int {
	i, _ := slices.BinarySearch(offsets, end)
	return offsets[:i:i]
}
