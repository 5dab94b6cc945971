package line

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// The row that liner prints to, read from its output.

// A row is the one row of the terminal that liner prints to.
type row struct {
	cells []cell // by column
	at    int    // the column of the cursor
	// refreshing: liner draws the row anew, which begins and ends with a
	// sequence that sets the column. What stands there meanwhile is no line.
	refreshing bool
	// covered are the last two cells that were written to, as they were before:
	// liner writes ^C where the cursor is.
	covered [2]covered
	rest    []byte // of a character or sequence that has not come whole
}

// A cell is a character with its marks, "" behind a character of two columns.
type cell string

type covered struct {
	at   int
	cell cell
	new  bool // there was none
}

// A signal is what liner's output means beside text.
type signal uint8

const (
	nothing signal = iota
	newline        // the line has ended
	wiped          // the screen is to be cleared
)

// write takes what liner has printed and calls on for each signal, when what
// came before it stands in the row.
func (r *row) write(b []byte, on func(signal)) {
	b = append(r.rest, b...)
	r.rest = nil
	for len(b) > 0 {
		n, what := r.one(b)
		if n == 0 {
			r.rest = append([]byte(nil), b...)
			return
		}
		if b = b[n:]; what != nothing {
			on(what)
		}
	}
}

// one takes a character or a sequence: n bytes, 0 where more is needed.
func (r *row) one(b []byte) (n int, what signal) {
	switch b[0] {
	case '\n':
		return 1, newline
	case '\r':
		r.at = 0
		return 1, nothing
	case '\a':
		return 1, nothing
	case 0x1b:
		return r.sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0, nothing
	}
	c, n := utf8.DecodeRune(b)
	r.put(c)
	return n, nothing
}

// sequence takes ESC [ parameters letter.
func (r *row) sequence(b []byte) (n int, what signal) {
	if n = sequenceLength(b); n < 3 {
		return n, nothing
	}
	switch number, _ := strconv.Atoi(string(b[2 : n-1])); b[n-1] {
	case 'G':
		r.at = max(0, number-1)
		r.refreshing = !r.refreshing
	case 'K':
		r.cells = r.cells[:min(r.at, len(r.cells))]
	case 'H':
		r.at = 0
	case 'J':
		return n, wiped
	}
	return n, nothing
}

// put writes a character at the cursor. A mark belongs to the character before
// it.
func (r *row) put(c rune) {
	for len(r.cells) < r.at {
		r.cells = append(r.cells, " ")
	}
	width := runewidth.RuneWidth(c)
	if width == 0 {
		i := r.at - 1
		for i > 0 && r.cells[i] == "" {
			i--
		}
		if i >= 0 {
			r.cells[i] += cell(c)
		}
		return
	}
	r.cover(cell(c))
	for range width - 1 {
		r.cover("")
	}
}

// cover writes one cell.
func (r *row) cover(c cell) {
	was := covered{at: r.at, new: r.at == len(r.cells)}
	if was.new {
		r.cells = append(r.cells, c)
	} else {
		was.cell, r.cells[r.at] = r.cells[r.at], c
	}
	r.covered = [2]covered{r.covered[1], was}
	r.at++
}

// uncover takes the last two cells back.
func (r *row) uncover() {
	r.at = r.covered[0].at
	for i := len(r.covered) - 1; i >= 0; i-- {
		switch was := r.covered[i]; {
		case was.new && len(r.cells) > 0:
			r.cells = r.cells[:len(r.cells)-1]
		case was.at < len(r.cells):
			r.cells[was.at] = was.cell
		}
	}
}

// text is what stands in the row, and the byte at which the cursor is.
func (r *row) text() (text string, at int) {
	var b strings.Builder
	for i, c := range r.cells {
		if i == r.at {
			at = b.Len()
		}
		b.WriteString(string(c))
	}
	if r.at >= len(r.cells) {
		b.WriteString(strings.Repeat(" ", r.at-len(r.cells)))
		at = b.Len()
	}
	return b.String(), at
}
