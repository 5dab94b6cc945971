package line

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The prompt in front of a line (number and a sign), and how a line with tabs is shown.

// A Prompt stands before a line: its number, with a > where something new
// begins.
type Prompt struct {
	// Number is that of the line, counted from 1 over all that was typed.
	Number int
	// Open: the line goes on with what has begun above it.
	Open bool
}

func (p Prompt) String() string {
	if p.Open {
		return fmt.Sprintf("%d. ", p.Number)
	}
	return fmt.Sprintf("%d> ", p.Number)
}

// tabWidth is how wide a tab inside of a line is shown.
const tabWidth = 4

// shown gives a line of liner's as it stands on the screen, and the byte at
// which the cursor is. The lines of a block have prompts of their own.
func (p Prompt) shown(text string, at int) (string, int) {
	if !strings.ContainsRune(text, innerNewline) && !strings.ContainsRune(text, innerTab) {
		return text, at
	}
	var b strings.Builder
	cursor, next := -1, p
	for i, r := range text {
		if i == at {
			cursor = b.Len()
		}
		switch r {
		case innerNewline:
			next = Prompt{next.Number + 1, true}
			b.WriteString("\n" + next.String())
		case innerTab:
			b.WriteString(strings.Repeat(" ", tabWidth))
		default:
			b.WriteRune(r)
		}
	}
	if cursor < 0 {
		cursor = b.Len()
	}
	return b.String(), cursor
}

// runesBefore splits a line at a number of characters.
func runesBefore(line string, n int) (before, behind string) {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return line[:at], line[at:]
}
