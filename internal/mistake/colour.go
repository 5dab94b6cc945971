package mistake

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/line"
)

// Colours of messages (NO_COLOR), and whether a terminal shows them.

// Print prints what went wrong, on terminals with the line of the
// script, and the place and the hint set off. Elsewhere a message is a line,
// as editors and other programs read it. Very long lines lose their middle.
func Print(w io.Writer, text string) {
	text = Shorten(text)
	if !coloured(w) {
		fmt.Fprintln(w, safe(text))
		return
	}
	fmt.Fprintln(w, paint(safe(Shorten(withSource(text, sourceOf)))))
}

// coloured reports whether w is a terminal that shows colours to somebody who
// wants them (no-color.org).
func coloured(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != "" && line.IsTerminal(w)
}

// safe is a message whose names, and lines of scripts, act on no terminal.
func safe(text string) string { return string(escape.Append(nil, text, escape.Screen)) }

var (
	placeOfMistake = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(startrace:|[^\s:][^:\n]*:\d+(?::\d+)?:)`)
	})
	hintOfMistake = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\((did you mean|here it is)[^()\n]*\)`)
	})
)

const (
	boldRed = "\x1b[1;31m"
	green   = "\x1b[32m"
	normal  = "\x1b[m"
)

// paint sets off the places at the beginning of lines, and hints.
func paint(text string) string {
	text = placeOfMistake().ReplaceAllString(text, boldRed+"$1"+normal)
	return hintOfMistake().ReplaceAllString(text, green+"$0"+normal)
}
