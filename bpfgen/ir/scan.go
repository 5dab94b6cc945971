package ir

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// Tokens of the text form of SSA.

// A tokKind is the kind of a token of the text form.
type tokKind uint8

const (
	tokEnd   tokKind = iota
	tokWord          // op, cond, likely, v1, b2, s3
	tokInt           // with or without a sign
	tokStr           // quoted
	tokPunct         // = , ( ) : { } ->
	tokPos           // a position, in pos
)

// A token is one piece of a line.
type token struct {
	kind tokKind
	text string // tokStr: unquoted
	num  int64
	pos  Pos
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// A scanner cuts a line into tokens.
type scanner struct {
	line  string
	files map[string]*string // so that equal names share one pointer
}

// all gives the tokens of the line and a tokEnd.
func (s *scanner) all() ([]token, error) {
	var toks []token
	for {
		s.line = strings.TrimLeft(s.line, " \t\r")
		if s.line == "" {
			return append(toks, token{}), nil
		}
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		toks = append(toks, t)
	}
}

func (s *scanner) next() (token, error) {
	c := s.line[0]
	switch {
	case c == '"':
		str, err := s.quoted()
		return token{kind: tokStr, text: str}, err
	case c == '@':
		return s.position()
	case strings.HasPrefix(s.line, "->"):
		return token{kind: tokPunct, text: s.take(2)}, nil
	case c == '+' || c == '-' || c >= '0' && c <= '9':
		return s.number()
	case strings.IndexByte("=,():{}", c) >= 0:
		return token{kind: tokPunct, text: s.take(1)}, nil
	case isWord(c):
		return token{kind: tokWord, text: s.take(s.span(isWord))}, nil
	}
	return token{}, fmt.Errorf("unexpected character %q", c)
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// span is the length of the prefix whose bytes satisfy ok.
func (s *scanner) span(ok func(byte) bool) int {
	n := 0
	for n < len(s.line) && ok(s.line[n]) {
		n++
	}
	return n
}

func (s *scanner) take(n int) string {
	t := s.line[:n]
	s.line = s.line[n:]
	return t
}

func (s *scanner) quoted() (string, error) {
	q, err := strconv.QuotedPrefix(s.line)
	if err != nil {
		return "", fmt.Errorf("bad string")
	}
	s.take(len(q))
	return strconv.Unquote(q)
}

func (s *scanner) number() (token, error) {
	n := 1
	for n < len(s.line) && s.line[n] >= '0' && s.line[n] <= '9' {
		n++
	}
	text := s.take(n)
	num, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return token{}, fmt.Errorf("bad number %q", text)
	}
	return token{kind: tokInt, text: text, num: num}, nil
}

// position reads @file:line:col.
func (s *scanner) position() (token, error) {
	s.take(1)
	var file string
	if strings.HasPrefix(s.line, `"`) {
		var err error
		if file, err = s.quoted(); err != nil {
			return token{}, err
		}
	} else {
		file = s.take(s.span(func(c byte) bool { return !notPlain(rune(c)) }))
		if file == "" {
			return token{}, fmt.Errorf("position without a file")
		}
	}
	line, err := s.colonInt()
	if err != nil {
		return token{}, err
	}
	col, err := s.colonInt()
	if err != nil {
		return token{}, err
	}
	p := s.files[file]
	if p == nil {
		p = &file
		s.files[file] = p
	}
	return token{kind: tokPos, pos: syntax.MakePosition(p, line, col)}, nil
}

func (s *scanner) colonInt() (int32, error) {
	if !strings.HasPrefix(s.line, ":") {
		return 0, fmt.Errorf("position without line and column")
	}
	s.take(1)
	text := s.take(s.span(func(c byte) bool { return c == '-' || c >= '0' && c <= '9' }))
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("bad position")
	}
	return int32(n), nil
}
