package mistake

import (
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/stdlib"
)

// The line of the script below a message, with ^ at its column, and where the reference explains it.

// messageAt is a message that begins with its place: file, line and column, which counts characters from 1.
var messageAt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^\s:][^:]*\.star):(\d+):(\d+): `)
})

// withSource adds to each message of a script the line that it is about, a mark below the place, and where the
// reference explains the function that is called there.
func withSource(text string, source func(file string) string) string {
	var out strings.Builder
	for message := range strings.SplitSeq(text, "\n") {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(message)
		m := messageAt().FindStringSubmatch(message)
		if m == nil {
			continue
		}
		at, _ := strconv.Atoi(m[2]) // digits, as the pattern says; too many of them are no line
		column, _ := strconv.Atoi(m[3])
		lines := strings.Split(source(m[1]), "\n")
		if at < 1 || at > len(lines) || column < 1 || column > len([]rune(lines[at-1]))+1 {
			continue // the file is not there, or another by now
		}
		line := lines[at-1]
		if strings.TrimSpace(line) == "" {
			continue // nothing to see, or no file at all
		}
		out.WriteString("\n    " + line + "\n    " + marked(line, column))
		if name := topic(line, column); name != "" {
			out.WriteString(" startrace doc " + name)
		}
	}
	return out.String()
}

// marked is the line below, with ^ at the column. Tabs stay, so that it stands where the place is.
func marked(line string, column int) string {
	before := []rune(line)[:column-1]
	for i, c := range before {
		if c != '\t' {
			before[i] = ' '
		}
	}
	return string(before) + "^"
}

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*$`) })

// topic is the builtin that is called at the column, or the innermost around it.
func topic(line string, column int) string {
	runes := []rune(line)
	end := column - 1
	for end < len(runes) && (runes[end] == '_' || runes[end] >= '0' && runes[end] <= '9' || runes[end]|0x20 >= 'a' &&
		runes[end]|0x20 <= 'z') {
		end++
	}
	closed := 0
	for i := min(end, len(runes)-1); i >= 0; i-- {
		switch runes[i] {
		case ')':
			if i < column-1 {
				closed++
			}
		case '(':
			if closed > 0 {
				closed--
				continue
			}
			name := word().FindString(string(runes[:i]))
			if _, documented := builtins.Lookup(name); documented {
				return name
			}
		}
	}
	return ""
}

// sourceOf is the text of a script that messages name; "" where there is none.
func sourceOf(file string) string {
	if inLibrary, ok := strings.CutPrefix(file, "std/"); ok {
		text, err := fs.ReadFile(stdlib.Files(), inLibrary)
		if err != nil {
			return ""
		}
		return string(text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}
