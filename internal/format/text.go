package format

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/escape"
)

// The verbs for strings: %s, %q, %c, %r and %x of bytes; padding and cutting by width and precision.

// appendString applies %s and %v. The precision counts characters of the
// value, an escape sequence as the one that it stands for, the width those of
// the outcome.
func (f *Format) appendString(dst []byte, p *part, a *Arg) []byte {
	start := len(dst)
	if a.Kind == Str || a.Kind == Bytes {
		shown, marks := a.shown(), len(a.Marks)
		if a.Shown == "" {
			shown, marks = cut(shown, p.prec, a.Marks)
		} else if p.prec >= 0 {
			text, _ := cut(a.Text(), p.prec, nil)
			shown = shown[:escapedLen(shown, text)]
		}
		return p.place(escape.Append(dst, shown, f.Escape), start, marks, a)
	}
	dst, marks := f.appendOther(dst, a), len(a.Marks)
	if p.prec >= 0 {
		var n int
		n, marks = cutLen(dst[start:], p.prec, a.Marks)
		dst = dst[:start+n]
	}
	return p.place(dst, start, marks, a)
}

// appendOther appends what is no string: of other values than numbers the text is
// escaped, too, which has the names of fields and functions.
func (f *Format) appendOther(dst []byte, a *Arg) []byte {
	if a.Kind == Other {
		return escape.Append(dst, a.shown(), f.Escape)
	}
	return a.appendText(dst)
}

// place pads what has been written of the text of a, with some of its marks, and notes where it stands.
func (p *part) place(dst []byte, start, marks int, a *Arg) []byte {
	n := len(dst) - start
	dst = p.padMarked(dst, start, marks)
	a.Went = Stretch{At: start, Len: n, Marks: marks, Plain: true}
	if !p.minus {
		a.Went.At = len(dst) - n
	}
	return dst
}

// appendChar applies %c: the character of a code point, or a string of one.
func (f *Format) appendChar(dst []byte, p *part, a *Arg) ([]byte, error) {
	start := len(dst)
	switch {
	case a.Kind == Int && a.Int >= 0 && a.Int <= utf8.MaxRune:
		var room [utf8.UTFMax]byte
		c := utf8.AppendRune(room[:0], rune(a.Int))
		if f.Escape == escape.Raw || a.Int >= 0x20 && (a.Int < 0x7f || a.Int > 0x9f) {
			return p.place(append(dst, c...), start, 0, a), nil
		}
		return p.pad(escape.Append(dst, string(c), escape.OneLine), start), nil // nobody wrote it
	case a.Kind == Str && utf8.RuneCountInString(a.Str) == 1:
		return p.place(escape.Append(dst, a.shown(), f.Escape), start, len(a.Marks), a), nil
	}
	return dst, p.wants("a character or its number", a)
}

// appendQuoted applies %q, which wants a string, and %r, which takes all.
func (f *Format) appendQuoted(dst []byte, p *part, a *Arg) ([]byte, error) {
	start, marks := len(dst), len(a.Marks)
	switch {
	case a.Kind == Str:
		var text string
		text, marks = cut(a.Text(), p.prec, a.Marks)
		dst = strconv.AppendQuote(dst, text)
	case a.Kind == Bytes:
		text, _ := cut(a.Str, p.prec, nil)
		dst = strconv.AppendQuote(append(dst, 'b'), text)
		if text == a.Str { // behind the quote, as of bytes in a list
			dst = append(dst, strings.TrimPrefix(a.Text(), a.Str)...)
		}
	case p.verb == 'r':
		dst = f.appendOther(dst, a)
	default:
		return dst, p.wants("a string", a)
	}
	dst = p.place(dst, start, marks, a)
	a.Went.Plain, a.Went.Quoted = a.Kind == Other, a.Kind == Str
	return dst, nil
}

// appendHex applies %x to the bytes of a string.
func appendHex(dst []byte, p *part, s string) []byte {
	start, digits := len(dst), "0123456789abcdef"
	if p.verb == 'X' {
		digits = "0123456789ABCDEF"
	}
	for i := 0; i < len(s) && (p.prec < 0 || i < p.prec); i++ {
		if p.space && i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, digits[s[i]>>4], digits[s[i]&15])
	}
	return p.pad(dst, start)
}

// pad fills dst[start:] with spaces to the width, counted in characters.
func (p *part) pad(dst []byte, start int) []byte { return p.padMarked(dst, start, 0) }

// padMarked is pad of a text that gets some marks when it is printed.
func (p *part) padMarked(dst []byte, start, marks int) []byte {
	have := len(dst) - start
	if p.width == 0 || p.width <= have && p.width <= utf8.RuneCount(dst[start:]) {
		return dst
	}
	missing := p.width - marks - utf8.RuneCount(dst[start:])
	if p.minus {
		for ; missing > 0; missing-- {
			dst = append(dst, ' ')
		}
		return dst
	}
	return insert(dst, start, ' ', missing)
}

// insert puts n copies of c at position at.
func insert(dst []byte, at int, c byte, n int) []byte {
	if n <= 0 {
		return dst
	}
	old := len(dst)
	for range n {
		dst = append(dst, c)
	}
	copy(dst[at+n:], dst[at:old])
	for i := range n {
		dst[at+i] = c
	}
	return dst
}

// cut gives the first n characters of s, marks among them, and how many of these are marks; all of it where n is
// negative.
func cut(s string, n int, marks []int) (text string, marked int) {
	if n < 0 || len(s)+len(marks) <= n {
		return s, len(marks)
	}
	for i := range s {
		if marked, n = upTo(i, marks, marked, n); n == 0 {
			return s[:i], marked
		}
		n--
	}
	marked, _ = upTo(len(s), marks, marked, n)
	return s, marked
}

// upTo counts the marks at an offset, and takes them from the n characters that are left.
func upTo(offset int, marks []int, marked, n int) (now, left int) {
	for ; n > 0 && marked < len(marks) && marks[marked] <= offset; n-- {
		marked++
	}
	return marked, n
}

// escapedLen is how much of shown, in which some control characters are escaped, the text that it begins with takes.
func escapedLen(shown, text string) int {
	at := 0
	for i := range len(text) {
		if shown[at] != text[i] {
			at++ // the backslash before its letter
		}
		at++
	}
	return at
}

// cutLen is how many bytes the first n characters of a value's text take, marks among them, and how many of these are
// marks. An escape sequence in it is one.
func cutLen(b []byte, n int, marks []int) (size, marked int) {
	i := 0
	for ; i < len(b); n-- {
		if marked, n = upTo(i, marks, marked, n); n == 0 {
			return i, marked
		}
		if size := escapeLen(b[i:]); size > 0 {
			i += size
			continue
		}
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	marked, _ = upTo(i, marks, marked, n)
	return i, marked
}

// escapeLen is the length of the escape sequence that b begins with, as strings are quoted with them; 0 where there is
// none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	size := 2
	switch b[1] {
	case 'x':
		size = 4
	case 'u':
		size = 6
	case 'U':
		size = 10
	}
	return min(size, len(b))
}
