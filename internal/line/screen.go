package line

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// What of the line is drawn, and how it is erased.

// A screen knows what of the line is drawn, to erase it again: output of
// probes goes above the line.
type screen struct {
	drawn  bool
	before string // what is drawn up to the cursor
}

// A position is one on the screen, from the row and column where the line begins.
type position struct{ row, col int }

// after gives the position behind text. The last column of a row is followed by
// the first of the next; a wide character does not fit into the last.
func after(text string, width int) (p position) {
	for _, r := range text {
		if r == '\n' {
			p = position{p.row + 1, 0}
			continue
		}
		w := runewidth.RuneWidth(r)
		if p.col+w > width {
			p = position{p.row + 1, 0}
		}
		p.col += w
	}
	if p.col >= width {
		p = position{p.row + 1, 0}
	}
	return p
}

// draw gives what draws the line, with the cursor at a byte of text. The
// cursor stands at the beginning of an empty row before.
func (s *screen) draw(prompt, text string, at, width int) string {
	all := prompt + text
	s.drawn, s.before = true, prompt+text[:at]
	end, cursor := after(all, width), after(s.before, width)
	var b strings.Builder
	b.WriteString(all)
	if fills(all, end) { // terminals stay in the last column until more comes
		b.WriteString("\r\n")
	}
	if up := end.row - cursor.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if cursor.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", cursor.col)
	}
	return b.String()
}

// fills reports whether a text that ends at a position has filled its last row.
func fills(text string, end position) bool {
	return end.col == 0 && end.row > 0 && !strings.HasSuffix(text, "\n")
}

// erase gives what removes the line, and leaves the cursor where it began.
func (s *screen) erase(width int) string {
	if !s.drawn {
		return ""
	}
	s.drawn = false
	out := "\r"
	if row := after(s.before, width).row; row > 0 {
		out += fmt.Sprintf("\x1b[%dA", row)
	}
	return out + "\x1b[J"
}

// below gives what moves from the end of the line to the row below it: where
// the line fills its last row, draw has done that.
func (s *screen) below(width int) string {
	if fills(s.before, after(s.before, width)) {
		return ""
	}
	return "\n"
}

// columns lays out words in columns, at most rows rows of them.
func columns(words []string, width, rows int) string {
	longest := 0
	for _, w := range words {
		longest = max(longest, runewidth.StringWidth(w)+2)
	}
	across := max(1, width/max(1, longest))
	shown := words[:min(len(words), across*rows)]
	height := (len(shown) + across - 1) / across
	var b strings.Builder
	for row := range height {
		line := ""
		for i := row; i < len(shown); i += height {
			line += runewidth.FillRight(shown[i], longest)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if rest := len(words) - len(shown); rest > 0 {
		fmt.Fprintf(&b, "… and %d more\n", rest)
	}
	return b.String()
}
