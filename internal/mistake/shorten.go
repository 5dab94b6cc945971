package mistake

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Lines of messages that are too long lose their middle.

// longestLine is how long a line of a message may be, in bytes, and lineBegin and lineEnd are what is kept of a longer
// one: a pattern or a name of a script can be of any length, and what is wrong with it stands at one of its ends.
const (
	longestLine = 4000
	lineBegin   = 2000
	lineEnd     = 1000
)

// Shorten leaves out the middle of lines that are too long to be read.
func Shorten(text string) string {
	if len(text) <= longestLine {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > longestLine {
			line = withoutMiddle(line)
		}
		out.WriteString(line)
	}
	return out.String()
}

// withoutMiddle says how much it leaves out. It cuts no character.
func withoutMiddle(line string) string {
	from, to := lineBegin, len(line)-lineEnd
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	return fmt.Sprintf("%s … (%d bytes are left out) … %s", line[:from], to-from, line[to:])
}
