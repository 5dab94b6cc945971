package command

import (
	"fmt"
	"io"

	"github.com/startrace/startrace/stdlib"
)

// `startrace tools`: the order and the columns of the list.

// Tools lists the standard library, a line each: the tools by the word that
// runs them, the modules by the word that loads them.
func Tools(w io.Writer) {
	modules := stdlib.Modules()
	width := 0
	for _, m := range modules {
		width = max(width, len(toolWord(m)))
	}
	for _, tools := range []bool{true, false} {
		for _, m := range modules {
			if m.Tool == tools {
				fmt.Fprintf(w, "%-*s  %s\n", width, toolWord(m), m.Summary())
			}
		}
	}
}

func toolWord(m stdlib.Module) string {
	if m.Tool {
		return m.Name
	}
	return "std/" + m.Name + ".star"
}
