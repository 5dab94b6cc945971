package value

import (
	"strings"

	"go.starlark.net/starlark"
)

// Traced makes the strings that come from outside, whose line feeds and tabs are
// not the script's. Scripts print these characters too, to shape their output,
// so print and printf escape those only that are known to be traced (see marks):
// the name of a file must not forge a line. Other control characters are always
// escaped. A nil one makes strings of which nothing is known.
type Traced struct {
	// own are constants of the script itself that kernel halves send and store: they
	// come back from there as what was traced does.
	own map[string]bool
}

// Own says what constants kernel halves have. Those of white space alone tell
// nothing: a file can have such a name.
func (t *Traced) Own(texts []string) {
	for _, text := range texts {
		if strings.ContainsAny(text, shaping) && strings.TrimSpace(text) != "" {
			if t.own == nil {
				t.own = map[string]bool{}
			}
			t.own[text] = true
		}
	}
}

// Text is a string from outside; there was more of it if it was cut.
func (t *Traced) Text(s string, cut bool) starlark.String {
	var m marks
	if cut {
		m.cuts = []int{len(s)}
	}
	if t != nil && strings.ContainsAny(s, shaping) && !t.own[s] {
		m.shapes = allShapes(s)
	}
	return marked(s, m)
}

// Foreign is v with the line feeds and tabs of all its strings taken for traced ones.
func Foreign(v starlark.Value) (starlark.Value, error) {
	if !holds(v, maxDepth, func(s string) bool { return strings.ContainsAny(s, shaping) }) {
		return v, nil
	}
	return eachText(v, maxDepth, func(s string) starlark.Value {
		return marked(s, marks{cutsOf(s), allShapes(s)})
	})
}
