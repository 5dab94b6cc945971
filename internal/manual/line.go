package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// A command line split as shells do, and the answer as their scripts read it.

// splitLine splits a line as a shell does. open is its last word, which may
// be empty; quoted says that a quote of it is open.
func splitLine(line string) (words []string, open string, quoted bool) {
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			in = true
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	return words, word.String(), quote != 0
}

// Write writes an answer as the shells' functions read it: a line for each
// candidate, behind a tab what it is; a colon alone asks for files.
func (a *Answer) Write(w io.Writer, shell, line string) error {
	cut := 0
	if _, open, quoted := splitLine(line); shell == "bash" && !quoted {
		cut = strings.LastIndexAny(open, ":=") + 1 // bash takes what is behind them for the word
	}
	for _, c := range a.Candidates {
		if escape.Any(c.Word) {
			continue // shells would insert it as it is
		}
		text := c.Word[min(cut, len(c.Word)):]
		if c.What != "" {
			text += "\t" + escape.Line(c.What)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	if a.Files {
		_, err := fmt.Fprintln(w, ":")
		return err
	}
	return nil
}
