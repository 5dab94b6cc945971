package printfmt

import (
	"fmt"
	"strconv"
	"strings"
)

// Tokens of C in formats.

type tokenKind int

const (
	end    tokenKind = iota
	name             // an identifier
	number           // val
	text             // a string, unquoted
	sign             // an operator, a bracket, or a character that no expression has
)

type token struct {
	kind tokenKind
	text string
	val  uint64
	wide bool // a number of type long
	neg  bool // a number whose type has a sign
}

// operators of two characters; all others have one.
var pairs = []string{"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}

// lex cuts an expression of C into tokens.
func lex(s string) ([]token, error) {
	var out []token
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		t, n, err := first(s)
		if err != nil {
			return nil, err
		}
		out, s = append(out, t), s[n:]
	}
	return append(out, token{kind: end}), nil
}

// first is the token at the beginning of a text, and its length.
func first(s string) (token, int, error) {
	switch c := s[0]; {
	case c == '"':
		return quoted(s)
	case c == '\'' && len(s) > 2 && s[1] != '\\' && s[2] == '\'':
		return token{kind: number, val: uint64(s[1]), neg: true}, 3, nil
	case c >= '0' && c <= '9':
		return constant(s)
	case letter(c):
		n := 1
		for n < len(s) && (letter(s[n]) || s[n] >= '0' && s[n] <= '9') {
			n++
		}
		return token{kind: name, text: s[:n]}, n, nil
	}
	for _, pair := range pairs {
		if strings.HasPrefix(s, pair) {
			return token{kind: sign, text: pair}, len(pair), nil
		}
	}
	return token{kind: sign, text: s[:1]}, 1, nil
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func quoted(s string) (token, int, error) {
	for n := 1; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case '"':
			// The kernel writes characters as they are that stand as \n in its source.
			plain, err := strconv.Unquote(strings.NewReplacer("\n", `\n`, "\t", "\\t").Replace(s[:n+1]))
			return token{kind: text, text: plain}, n + 1, err
		}
	}
	return token{}, 0, fmt.Errorf("a string without its end")
}

// constant is an integer: 31, 0x1f, 037, with a suffix of U, L in any order.
func constant(s string) (token, int, error) {
	n := 0
	for n < len(s) && (letter(s[n]) || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	digits := strings.TrimRight(s[:n], "uUlL")
	v, err := strconv.ParseUint(digits, 0, 64)
	suffix := strings.ToUpper(s[len(digits):n])
	decimal := !strings.HasPrefix(digits, "0") || digits == "0"
	t := token{kind: number, val: v, wide: strings.Contains(suffix, "L") || v > 1<<32-1 || decimal && v > 1<<31-1}
	t.neg = !strings.Contains(suffix, "U") && (t.wide && v < 1<<63 ||
		v < 1<<31) // C 6.4.4.1: the first type that holds it
	return t, n, err
}
