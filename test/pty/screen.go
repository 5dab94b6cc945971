package pty

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// The screen of that terminal.

// A screen does what a terminal does with the few sequences that are used: text
// that wraps, CR, LF, moving up and right, erasing to the end. What it does not
// know stays visible, so that a test sees it.
type screen struct {
	width    int
	rows     [][]string // cells: a character with its marks, "" behind one of two columns
	row, col int
	rest     []byte // of a sequence or character that has not come whole
}

func (s *screen) write(b []byte) {
	b = append(s.rest, b...)
	s.rest = nil
	for len(b) > 0 {
		n := s.one(b)
		if n == 0 {
			s.rest = append([]byte(nil), b...)
			return
		}
		b = b[n:]
	}
}

func (s *screen) one(b []byte) int {
	switch b[0] {
	case '\r':
		s.col = 0
		return 1
	case '\n':
		s.row++
		return 1
	case 0x1b:
		return s.sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	s.put(r)
	return n
}

func (s *screen) put(r rune) {
	width := runewidth.RuneWidth(r)
	if width == 0 && s.mark(r) {
		return
	}
	if s.col+max(1, width) > s.width { // only now: a terminal stays in the last column
		s.row, s.col = s.row+1, 0
	}
	s.cell(string(r))
	for range width - 1 {
		s.cell("")
	}
}

// mark adds a mark to the character before it.
func (s *screen) mark(r rune) bool {
	if s.row >= len(s.rows) {
		return false
	}
	line := s.rows[s.row]
	for i := min(s.col, len(line)) - 1; i >= 0; i-- {
		if line[i] != "" {
			line[i] += string(r)
			return true
		}
	}
	return false
}

// cell writes one cell.
func (s *screen) cell(text string) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	line := s.rows[s.row]
	for len(line) <= s.col {
		line = append(line, " ")
	}
	line[s.col] = text
	s.rows[s.row] = line
	s.col++
}

func (s *screen) sequence(b []byte) int {
	end := 2
	for end < len(b) && (b[end] < 0x40 || b[end] > 0x7e) {
		end++
	}
	if end >= len(b) {
		return 0
	}
	n, err := strconv.Atoi(string(b[2:end]))
	if err != nil {
		n = 1
	}
	switch b[end] {
	case 'A':
		s.row = max(0, s.row-n)
	case 'C':
		s.col = min(s.width-1, s.col+n)
	case 'J':
		s.erase()
	case 'h', 'l': // modes
	default:
		for _, c := range b[:end+1] {
			s.put(rune(c))
		}
	}
	return end + 1
}

// erase clears from the cursor to the end of the screen.
func (s *screen) erase() {
	if s.row < len(s.rows) {
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
		s.rows = s.rows[:s.row+1]
	}
}

func (s *screen) text() string {
	var b strings.Builder
	for _, line := range s.rows {
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " ") + "\n")
	}
	return b.String()
}
