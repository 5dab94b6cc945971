// Package ctypes reads declarations in the language C. The types that a script declares (Read) are laid out as the C
// compilers of amd64 and arm64 do. Of functions (Prototypes) the names and the words for their types are read.
package ctypes

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words of C, and mistakes in a text of types().

// An Error is a mistake in a text.
type Error struct {
	// Line and Column are its place in the text, both counted from 1.
	Line, Column int
	// Text says what was found, and what was wanted.
	Text string
}

func (e *Error) Error() string { return e.Text }

// A lexeme is a word, a number, a sign, or, with the text "", the end.
type lexeme struct {
	text         string
	line, column int
}

// word reports whether a lexeme is a name or a keyword.
func (t lexeme) word() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return r == '_' || unicode.IsLetter(r)
}

func (t lexeme) number() bool { return t.text != "" && t.text[0] >= '0' && t.text[0] <= '9' }

// describe names a lexeme in a message.
func (t lexeme) describe() string {
	if t.text == "" {
		return "the end of the text"
	}
	return t.text
}

// fail ends the reading of a text.
func (t lexeme) fail(format string, args ...any) {
	panic(&Error{t.line, t.column, fmt.Sprintf(format, args...)})
}

// signs are those of more than one character.
var signs = []string{"...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}

// tokens splits a text; comments and space are left out.
func tokens(text string) (out []lexeme) {
	line, column := 1, 1
	for text != "" {
		n := lengthOf(text, lexeme{line: line, column: column})
		if n > 0 && !strings.ContainsAny(text[:1], " \t\r\n\f\v") && !isComment(text) {
			out = append(out, lexeme{text[:n], line, column})
		}
		for _, r := range text[:n] {
			if column++; r == '\n' {
				line, column = line+1, 1
			}
		}
		text = text[n:]
	}
	return append(out, lexeme{"", line, column})
}

func isComment(text string) bool {
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "#pragma D ")
}

// lengthOf is how many bytes the lexeme, comment or space has with which a text begins.
func lengthOf(text string, at lexeme) int {
	if isComment(text) && text[1] != '*' {
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			return n
		}
		return len(text)
	}
	if strings.HasPrefix(text, "/*") {
		n := strings.Index(text, "*/")
		if n < 0 {
			at.fail("this comment has no end: */ is missing")
		}
		return n + 2
	}
	n := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		return len(text)
	}
	if n > 0 {
		return n
	}
	for _, s := range signs {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	if text[0] == '#' {
		at.fail("a preprocessor line; want the types as the compiler sees them, without #include and #define")
	}
	_, n = utf8.DecodeRuneInString(text)
	return n
}
