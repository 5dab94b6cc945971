package repl

import "strings"

// Tokens of a text that need not be complete.

// A token is a word of a text that need not be complete.
type token struct {
	kind       tokenKind
	text       string
	start, end int
	// unclosed: a string that the text ends in.
	unclosed bool
}

type tokenKind uint8

const (
	nameToken tokenKind = iota
	numberToken
	stringToken
	otherToken
	newlineToken
	commentToken
	continueToken // a backslash at the end of a line
)

// lex splits a text into tokens; blanks are none.
func lex(text string) (out []token) {
	for at := 0; at < len(text); {
		n, kind, unclosed := next(text[at:])
		if kind != otherToken || strings.TrimSpace(text[at:at+n]) != "" {
			out = append(out, token{kind, text[at : at+n], at, at + n, unclosed})
		}
		at += n
	}
	return out
}

func next(s string) (n int, kind tokenKind, unclosed bool) {
	c := s[0]
	switch {
	case c == '\n':
		return 1, newlineToken, false
	case c == '#':
		return length(s, func(c byte) bool { return c != '\n' }), commentToken, false
	case c == '\\' && (len(s) == 1 || s[1] == '\n'):
		return min(2, len(s)), continueToken, false
	case c == '"' || c == '\'':
		n, unclosed = stringLength(s)
		return n, stringToken, unclosed
	case c >= '0' && c <= '9':
		return length(s, inName), numberToken, false
	case inName(c):
		n = length(s, inName)
		if n <= 2 && n < len(s) && (s[n] == '"' || s[n] == '\'') && strings.Trim(s[:n], "rb") == "" {
			m, unclosed := stringLength(s[n:])
			return n + m, stringToken, unclosed
		}
		return n, nameToken, false
	}
	return 1, otherToken, false
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func length(s string, f func(byte) bool) int {
	n := 0
	for n < len(s) && f(s[n]) {
		n++
	}
	return n
}

// stringLength is the length of the literal at the beginning of s. One with
// single quotes ends with its line.
func stringLength(s string) (n int, unclosed bool) {
	quote := s[:1]
	if strings.HasPrefix(s, strings.Repeat(quote, 3)) {
		quote = s[:3]
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\n' && len(quote) == 1:
			return i, false
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote), false
		}
	}
	return len(s), true
}

// content is where the text of a string token begins.
func (t token) content() int {
	at := strings.IndexAny(t.text, `"'`)
	if strings.HasPrefix(t.text[at:], strings.Repeat(t.text[at:at+1], 3)) {
		return t.start + at + 3
	}
	return t.start + at + 1
}
