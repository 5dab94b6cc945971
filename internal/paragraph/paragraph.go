// Package paragraph writes reports: lines, and paragraphs that are broken at
// spaces.
package paragraph

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/escape"
)

// Lines and paragraphs broken at spaces.

// Width is where lines are broken, in characters. A word that is longer stays
// whole.
const Width = 96

// A Page is the text of a report as far as it is written. The zero value is empty.
type Page struct {
	// Drop is left out wherever it stands: the folder of a script, of which the
	// reader knows which one it is. "" leaves nothing out.
	Drop string

	b strings.Builder
}

// String is the text.
func (t *Page) String() string { return t.b.String() }

// Raw adds text that has its lines already.
func (t *Page) Raw(s string) { t.b.WriteString(s) }

// Line adds a line, indented by so many spaces; an empty one has none.
func (t *Page) Line(indent int, format string, args ...any) {
	if s := t.sprintf(format, args...); s != "" {
		t.b.WriteString(strings.Repeat(" ", indent))
		t.b.WriteString(s)
	}
	t.b.WriteByte('\n')
}

// Wrapped adds a paragraph; its later lines are indented by further.
func (t *Page) Wrapped(indent, further int, format string, args ...any) {
	at := indent
	var line []string
	width := 0
	flush := func() {
		t.Line(at, "%s", strings.Join(line, " "))
		at, line, width = indent+further, nil, 0
	}
	for _, word := range strings.Fields(t.sprintf(format, args...)) {
		n := utf8.RuneCountInString(word)
		if len(line) > 0 && at+width+1+n > Width {
			flush()
		}
		if len(line) > 0 {
			width++
		}
		line = append(line, word)
		width += n
	}
	flush()
}

func (t *Page) sprintf(format string, args ...any) string {
	s := fmt.Sprintf(format, escape.Args(args)...) // names of functions come from programs
	if t.Drop != "" {
		s = strings.ReplaceAll(s, t.Drop, "")
	}
	return s
}
