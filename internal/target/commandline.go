package target

import (
	"fmt"
	"strings"
)

// The command line of -c split into words, and the message about what only a shell knows.

// Words splits the command line of -c into words as a shell does: blanks
// separate, '…' keeps everything, "…" all but backslashes, a backslash keeps
// the next character. No shell is started, so that the process that is traced
// is the command; what only a shell can do is an error that says so.
func Words(s string) ([]string, error) {
	w := wordSplitter{rest: s}
	for w.rest != "" {
		c := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.take(c); err != nil {
			return nil, err
		}
	}
	w.end()
	if len(w.words) == 0 {
		return nil, fmt.Errorf("-c: no command")
	}
	return w.words, nil
}

type wordSplitter struct {
	rest   string
	words  []string
	word   strings.Builder
	inWord bool // also of an empty word: ''
}

func (w *wordSplitter) take(c byte) error {
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		w.end()
		return nil
	case strings.IndexByte("|&;<>()$`*?", c) >= 0:
		return fmt.Errorf("-c runs the command itself, without a shell that knows %q: "+
			"quote it, or write -c \"sh -c '…'\"", c)
	}
	w.inWord = true
	switch c {
	case '\'':
		return w.single()
	case '"':
		return w.double()
	case '\\':
		if w.rest != "" {
			c, w.rest = w.rest[0], w.rest[1:]
		}
	}
	w.word.WriteByte(c)
	return nil
}

func (w *wordSplitter) end() {
	if w.inWord {
		w.words = append(w.words, w.word.String())
		w.word.Reset()
		w.inWord = false
	}
}

func (w *wordSplitter) single() error {
	text, rest, ok := strings.Cut(w.rest, "'")
	if !ok {
		return fmt.Errorf("-c: a ' is not closed")
	}
	w.word.WriteString(text)
	w.rest = rest
	return nil
}

func (w *wordSplitter) double() error {
	for w.rest != "" {
		c := w.rest[0]
		w.rest = w.rest[1:]
		switch {
		case c == '"':
			return nil
		case c == '\\' && w.rest != "" && strings.IndexByte("\\\"$`", w.rest[0]) >= 0:
			c, w.rest = w.rest[0], w.rest[1:]
		}
		w.word.WriteByte(c)
	}
	return fmt.Errorf("-c: a \" is not closed")
}
