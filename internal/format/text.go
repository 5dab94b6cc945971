package format

import (
	"strconv"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/escape"
)

// appendString applies %s and %v. The precision counts characters of the
// value, an escape sequence as the one that it stands for, the width those of
// the outcome.
func (f *Format) appendString(dst []byte, p *part, a *Arg) []byte {
	start := len(dst)
	if a.Kind == Str || a.Kind == Bytes {
		shown := a.shown()
		if a.Shown == "" {
			shown = cut(shown, p.prec)
		} else if p.prec >= 0 {
			shown = shown[:escapedLen(shown, cut(a.Text(), p.prec))]
		}
		return p.place(escape.Append(dst, shown, f.Escape), start, a)
	}
	dst = f.appendOther(dst, a)
	if p.prec >= 0 {
		dst = dst[:start+cutLen(dst[start:], p.prec)]
	}
	return p.place(dst, start, a)
}

// appendOther appends what is no string: of other values than numbers the text is
// escaped, too, which has the names of fields and functions.
func (f *Format) appendOther(dst []byte, a *Arg) []byte {
	if a.Kind == Other {
		return escape.Append(dst, a.shown(), f.Escape)
	}
	return a.appendText(dst)
}

// place pads what has been written of the text of a, and notes where it stands.
func (p *part) place(dst []byte, start int, a *Arg) []byte {
	n := len(dst) - start
	dst = p.pad(dst, start)
	a.Went = Stretch{At: start, Len: n, Plain: true}
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
			return p.place(append(dst, c...), start, a), nil
		}
		return p.pad(escape.Append(dst, string(c), escape.OneLine), start), nil // nobody wrote it
	case a.Kind == Str && utf8.RuneCountInString(a.Str) == 1:
		return p.place(escape.Append(dst, a.shown(), f.Escape), start, a), nil
	}
	return dst, p.wants("a character or its number", a)
}

// appendQuoted applies %q, which wants a string, and %r, which takes all.
func (f *Format) appendQuoted(dst []byte, p *part, a *Arg) ([]byte, error) {
	start := len(dst)
	switch {
	case a.Kind == Str:
		dst = strconv.AppendQuote(dst, cut(a.Text(), p.prec))
	case a.Kind == Bytes:
		dst = strconv.AppendQuote(append(dst, 'b'), cut(a.Str, p.prec))
	case p.verb == 'r':
		dst = f.appendOther(dst, a)
	default:
		return dst, p.wants("a string", a)
	}
	dst = p.place(dst, start, a)
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
func (p *part) pad(dst []byte, start int) []byte {
	have := len(dst) - start
	if p.width == 0 || p.width <= have && p.width <= utf8.RuneCount(dst[start:]) {
		return dst
	}
	missing := p.width - utf8.RuneCount(dst[start:])
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

// cut gives the first n characters of s; all of it where n is negative.
func cut(s string, n int) string {
	if n < 0 || len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
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

// cutLen is how many bytes the first n characters of a value's text take. An
// escape sequence in it is one.
func cutLen(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		if size := escapeLen(b[i:]); size > 0 {
			i += size
			continue
		}
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return i
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
