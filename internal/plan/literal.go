package plan

import (
	"strings"
	"unicode/utf8"
)

// Literal: where the characters of a text stand in a script, which writes some with escapes.

// A Literal is a text as a script has it.
type Literal struct {
	// Raw has its quotes and escapes; "": there is none.
	Raw string
	// Pos is where it begins.
	Pos Pos
}

// lengths are how many characters an escape has, by the one behind the backslash; of others two.
var lengths = map[byte]int{'x': 4, 'u': 6, 'U': 10}

// At is the place in the script of a line and a column of the text, both counted from 1.
func (l Literal) At(line, column int) Pos {
	body := strings.TrimLeft(l.Raw, "rb")
	raw := strings.Contains(l.Raw[:len(l.Raw)-len(body)], "r")
	quotes := 1
	if len(body) >= 6 && body[1] == body[0] && body[2] == body[0] {
		quotes = 3
	}
	out := l.Pos
	out.Col += int32(len(l.Raw) - len(body) + quotes)
	body = body[quotes:]
	for y, x := 1, 1; body != "" && (y < line || y == line && x < column); {
		n := escapeLength(body, raw)
		switch {
		case n == 1 && body[0] == '\n', n == 2 && body[1] == 'n':
			y, x = y+1, 1
		case n == 2 && body[1] == '\n':
		default:
			x++
		}
		for _, c := range body[:n] {
			if out.Col++; c == '\n' {
				out.Line, out.Col = out.Line+1, 1
			}
		}
		body = body[n:]
	}
	return out
}

// escapeLength is how many bytes the first character of the text is written with.
func escapeLength(body string, raw bool) int {
	if raw || body[0] != '\\' || len(body) < 2 {
		_, n := utf8.DecodeRuneInString(body)
		return n
	}
	if n := lengths[body[1]]; n > 0 {
		return min(n, len(body))
	}
	n := 1
	for n < min(4, len(body)) && body[n] >= '0' && body[n] <= '7' {
		n++
	}
	return max(n, 2)
}
