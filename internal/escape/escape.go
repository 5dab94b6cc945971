// Package escape makes text harmless to what reads it. What a tracer prints comes from
// strangers: the name of a file or a function can hold line feeds that forge lines, and the
// sequences that retitle a terminal or paint over lines.
//
// Text for people has escapes as in a string literal. JSON has those of JSON. Formats that
// have text only get bytes in a form from which they can be had back (Bytes). A name that is
// part of a line, or of a message, is escaped where the line is made, since later nobody can
// tell it from the rest.
package escape

import "unicode/utf8"

// What becomes of control characters and others in output: Raw, Screen, OneLine.

// How says what becomes of special characters: control characters, those that change the
// direction of text or break lines, and bytes that are not UTF-8.
type How uint8

// The ways to escape.
const (
	Raw     How = iota // nothing is changed
	Screen             // all but tab and line feed become \x1b, \r …
	OneLine            // all
)

// Append appends s with its special characters escaped as in a string literal.
func Append(dst []byte, s string, how How) []byte {
	if how == Raw || clean(s) {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = appendByteEscape(dst, s[i])
		case how == Screen && (r == '\n' || r == '\t'):
			dst = append(dst, s[i])
		case r < 0x20 || r == 0x7f:
			dst = appendByteEscape(dst, s[i])
		case isFormatting(r):
			dst = append(dst, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				dst = append(dst, hexDigits[r>>shift&15])
			}
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// Line is Append for one line.
func Line(s string) string {
	if clean(s) {
		return s
	}
	return string(Append(nil, s, OneLine))
}

// Next gives where in s, from an offset on, the first character stands that
// Append escapes, and its size in bytes; -1 where there is none.
func Next(s string, from int) (at, size int) {
	for at = from; at < len(s); at += size {
		if c := s[at]; c >= 0x20 && c < 0x7f {
			size = 1
			continue
		}
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n == 1 || r < 0x20 || r == 0x7f || isFormatting(r) {
			return at, n
		}
		size = n
	}
	return -1, 0
}

// Any reports whether Append escapes something of s.
func Any(s string) bool {
	at, _ := Next(s, 0)
	return at >= 0
}

// Offsets are the offsets in s of what Append escapes, no more of them than a
// number.
func Offsets(s string, most int) (offsets []int) {
	for at, size := Next(s, 0); at >= 0 && len(offsets) < most; at, size = Next(s, at+size) {
		offsets = append(offsets, at)
	}
	return offsets
}

// isFormatting reports whether r acts on the text around it: the C1 controls
// (U+009b begins a terminal sequence), line breaks and changes of direction.
func isFormatting(r rune) bool {
	return r >= 0x80 && r <= 0x9f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// clean reports whether s is printable ASCII, the usual case.
func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

func appendByteEscape(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}
