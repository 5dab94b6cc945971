package script

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Messages about syntax: the word that is wrong, a bracket or string that is not closed, indentation.

// syntaxError puts a parse error at the word that is wrong, in words that need
// no grammar.
func (f *file) syntaxError(err error) error {
	var se syntax.Error
	if !errors.As(err, &se) {
		return err
	}
	return Errors{f.explainSyntax(se)}
}

func (f *file) explainSyntax(se syntax.Error) *Error {
	words := lex(f.text())
	at, got := f.culprit(words, se)
	if hint := foreignLine(f.line(int(at.line))); hint != "" {
		return &Error{Pos: f.pos(at), Msg: hint}
	}
	if e := f.notClosed(words, at, se.Msg); e != nil {
		return e
	}
	msg := plainSyntax(se.Msg, got)
	hint := ""
	if !strings.HasPrefix(se.Msg, "unexpected input") {
		hint = syntaxHint(words, at, got, se.Msg)
	}
	if hint == "" {
		hint = f.operatorHint(at)
	}
	if hint != "" {
		msg += " (" + hint + ")"
	}
	return &Error{Pos: f.pos(at), Msg: msg}
}

func (f *file) text() string { return strings.Join(f.lines, "\n") }

func (f *file) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

func (f *file) pos(at position) plan.Pos { return syntax.MakePosition(&f.name, at.line, at.col) }

// culprit gives the place and text of the word that the parser stumbled over.
// It tells the place behind the word, and for the end of a line that of the
// next one.
func (f *file) culprit(words []word, se syntax.Error) (position, string) {
	at := placeOf(se.Pos)
	if strings.HasPrefix(se.Msg, "got newline") || strings.HasPrefix(se.Msg, "got end of file") {
		for i := len(words) - 1; i >= 0; i-- {
			if words[i].to.before(at) || words[i].to == at {
				return words[i].to, ""
			}
		}
		return at, ""
	}
	if strings.HasPrefix(se.Msg, "got indent") || strings.HasPrefix(se.Msg, "got outdent") {
		return at, ""
	}
	if bracket, ok := strings.CutPrefix(se.Msg, "unexpected '"); ok {
		return at, strings.TrimSuffix(bracket, "'") // one that closes, at its own place
	}
	i, ok := wordAt(words, se.Pos)
	if !ok {
		return at, ""
	}
	if words[i].to == at || strings.HasPrefix(se.Msg, "got ") || strings.HasPrefix(se.Msg, "not an identifier") {
		return words[i].from, words[i].text
	}
	return at, words[i].text
}

// notClosed says which bracket is open where the parser found something that
// begins a statement, or the end.
func (f *file) notClosed(words []word, at position, msg string) *Error {
	if !strings.HasPrefix(msg, "got ") {
		return nil
	}
	open, ok := openAt(words, at)
	atEnd := strings.HasPrefix(msg, "got end of file")
	if !ok || open.from.line == at.line && !atEnd {
		return nil
	}
	first := strings.TrimSpace(string([]rune(f.line(int(at.line)))[:max(0,
		min(int(at.col)-1, utf8.RuneCountInString(f.line(int(at.line)))))]))
	if first != "" && !atEnd && !strings.HasPrefix(strings.TrimSpace(f.line(int(at.line))), "def ") &&
		!assigns(f.line(int(at.line))) {
		return nil
	}
	closing := map[string]string{"(": ")", "[": "]", "{": "}"}[open.text]
	return &Error{Pos: f.pos(open.from), Msg: fmt.Sprintf("this %s is not closed: a %s is missing", open.text, closing)}
}

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*[-+*/%&|^]?=[^=]`)
})

func assigns(line string) bool { return assignment().MatchString(line) }

// plainWords are the parser's names of things.
var plainWords = strings.NewReplacer(
	"got newline", "got the end of the line", "want newline", "want the end of the statement",
	"got end of file", "got the end of the file",
	"got indent, want primary expression", "this line is indented more than the one before, and no block begins here",
	"want indent", "want an indented block (or pass)", "got outdent", "got a line that is indented less",
	"want primary expression", "want an expression", "want in", "want 'in'",
	"unindent does not match any outer indentation level", "this line is indented like no line above it",
	"unexpected newline in string", "this string is not closed before the end of the line",
	"unexpected EOF in string", "this string is not closed before the end of the file",
	"stray backslash in program", "a backslash joins lines only as the last character of its line",
	"excessive nesting", "brackets or blocks are nested too deeply",
	"conditional expression without else clause", "a condition wants both values: A if CONDITION else B",
	"keyword argument must have form name=expr", "want NAME = VALUE here",
	"obsolete form of octal literal; use ", "octal numbers are written ",
	"first operand of load statement must be a string literal",
	"load wants the module as a string: load(\"std/NAME.star\", \"name\")",
	"load statement must import at least 1 symbol",
	"load wants the names that you need from the module: load(\"std/NAME.star\", \"name\")",
	"does not associate with", "cannot follow", "(use parens)", "without parentheses",
	"unexpected input character `\\u00a0`", "a space that is no plain space", "unexpected input character '\\u00a0'",
	"a space that is no plain space",
	"unexpected input character", "unexpected character", "invalid float literal", "this is no number",
	"not an identifier", "want a name here",
)

// plainSyntax is a message of the parser in plain words.
func plainSyntax(msg, got string) string {
	for _, kind := range []string{"identifier", "int literal", "float literal", "string literal", "bytes literal"} {
		if rest, ok := strings.CutPrefix(msg, "got "+kind); ok {
			msg = "got " + shorten(got) + rest
		}
	}
	if kind, ok := strings.CutPrefix(msg, "got "); ok && got != "" {
		if word, rest, ok := strings.Cut(kind, ","); ok && word == got {
			msg = "got '" + got + "'," + rest
		}
	}
	msg = plainWords.Replace(msg)
	return strings.Replace(msg, "want identifier", "want a name", 1)
}

// shorten keeps messages to a line.
func shorten(text string) string {
	const most = 60
	text, _, cut := strings.Cut(text, "\n")
	if r := []rune(text); len(r) > most {
		text, cut = string(r[:most]), true
	}
	if cut {
		text += "…"
	}
	return text
}

// checkText finds what the parser would pass over: it takes a NUL for the end
// of the file, and any bytes in strings.
func checkText(name, text string) error {
	l := lexer{rest: text, at: position{1, 1}}
	for l.rest != "" {
		c, n := utf8.DecodeRuneInString(l.rest)
		msg := ""
		switch {
		case c == utf8.RuneError && n == 1:
			msg = fmt.Sprintf("the byte 0x%02x is not UTF-8, and scripts are: write \\x%02x in a b\"…\" string",
				l.rest[0], l.rest[0])
		case c == 0:
			msg = "a NUL character: a script is text"
		}
		if msg != "" {
			return Errors{{Pos: syntax.MakePosition(&name, l.at.line, l.at.col), Msg: msg}}
		}
		l.skip(n)
	}
	return nil
}
