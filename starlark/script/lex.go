package script

import (
	"strings"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/plan"
)

// Words of a text that cannot be parsed, for messages about syntax.

// A word is a token as messages need it: the parser tells of a token only its
// kind and where it ends.
type word struct {
	text     string
	from, to position // to is behind it
}

// lex splits a text into words, also one that cannot be parsed. Blanks and
// comments are none.
func lex(text string) []word {
	l := lexer{rest: text, at: position{1, 1}}
	var out []word
	for l.rest != "" {
		n := l.next()
		from, piece := l.at, l.rest[:n]
		l.skip(n)
		if piece[0] != '#' && strings.Trim(piece, " \t\r\n") != "" {
			out = append(out, word{piece, from, l.at})
		}
	}
	return out
}

type lexer struct {
	rest string
	at   position
}

// skip counts columns as the parser does: in characters.
func (l *lexer) skip(n int) {
	for _, c := range l.rest[:n] {
		l.at.col++
		if c == '\n' {
			l.at = position{l.at.line + 1, 1}
		}
	}
	l.rest = l.rest[n:]
}

// next is the length of the next word, comment or blank.
func (l *lexer) next() int {
	switch c := l.rest[0]; {
	case c == '#':
		return span(l.rest, func(c byte) bool { return c != '\n' })
	case c == '"' || c == '\'':
		return stringLen(l.rest)
	case c >= '0' && c <= '9' && !strings.HasPrefix(l.rest, "0"):
		return span(l.rest, func(c byte) bool { return c >= '0' && c <= '9' }) // 100ms is two words to the parser
	case isWord(c):
		n := span(l.rest, isWord)
		if n < len(l.rest) && n <= 2 && (l.rest[n] == '"' || l.rest[n] == '\'') &&
			strings.Trim(l.rest[:n], "rbRBfFuU") == "" {
			return n + stringLen(l.rest[n:])
		}
		return n
	}
	for _, op := range []string{"//=", "<<=", ">>=", "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=",
		"/=", "%=", "&=", "|=", "^="} {
		if strings.HasPrefix(l.rest, op) {
			return len(op)
		}
	}
	_, n := utf8.DecodeRuneInString(l.rest)
	return n
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func span(s string, f func(byte) bool) int {
	n := 0
	for n < len(s) && f(s[n]) {
		n++
	}
	return n
}

// stringLen is the length of the string literal at the beginning of s; one
// that is not closed ends with its line, or with the text.
func stringLen(s string) int {
	quote, many := s[:1], strings.HasPrefix(s, strings.Repeat(s[:1], 3))
	if many {
		quote = s[:3]
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\n' && !many:
			return i
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		}
	}
	return len(s)
}

// before reports whether p is a place before q.
func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.col < q.col
}

// wordAt gives the word that ends at pos or begins there.
func wordAt(words []word, pos plan.Pos) (int, bool) {
	at := placeOf(pos)
	for i, w := range words {
		if w.to == at || w.from == at {
			return i, true
		}
		if at.before(w.from) {
			break
		}
	}
	return 0, false
}

// openAt gives the innermost bracket that is open at a place.
func openAt(words []word, at position) (word, bool) {
	var open []word
	for _, w := range words {
		if !w.from.before(at) {
			break
		}
		switch w.text {
		case "(", "[", "{":
			open = append(open, w)
		case ")", "]", "}":
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return word{}, false
	}
	return open[len(open)-1], true
}
