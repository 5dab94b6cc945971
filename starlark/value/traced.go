package value

import (
	"strings"

	"go.starlark.net/starlark"
)

// Strings that come from kernel halves, with the characters that are not the script's.

// Traced makes the strings that come from kernel halves. They are foreign (see marks),
// but for the constants of the script itself. A nil one knows none of these.
type Traced struct {
	// own are constants of the script that kernel halves send and store: they come back
	// from there as what was traced does.
	own map[string]bool
}

// Own says what constants kernel halves have. Those of white space alone tell
// nothing: a file can have such a name.
func (t *Traced) Own(texts []string) {
	for _, text := range texts {
		if strings.ContainsAny(text, "\n\t") && strings.TrimSpace(text) != "" {
			if t.own == nil {
				t.own = map[string]bool{}
			}
			t.own[text] = true
		}
	}
}

// Text is a string from outside; there was more of it if it was cut.
func (t *Traced) Text(s string, cut bool) starlark.String {
	m := marks{all: t != nil && t.own[s]}
	if cut {
		m.cuts = []int{len(s)}
	}
	return marked(s, m)
}
