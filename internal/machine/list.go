package machine

import (
	"strings"

	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/render"
)

// What `startrace list` prints for one pattern.

// List prints what one pattern finds, and reports whether that is anything.
func (m *Machine) List(out *output.Output, pattern string, verbose bool, say *output.Messages) (
	found bool, err error) {
	src := m.Listing()
	src.Verbose = verbose
	r, err := src.Find(pattern)
	if err != nil {
		return false, err
	}
	if out.Format() == render.JSON {
		err = r.WriteJSON(out)
	} else {
		err = r.WriteText(out, verbose)
	}
	for _, problem := range r.Problems {
		say.Sayf("startrace: %v", problem)
	}
	if r.Empty() && (len(r.Problems) == 0 || len(r.Hints) > 0) {
		say.Sayf("startrace: nothing matches %s%s", pattern, hint(r.Hints))
	}
	return !r.Empty(), err
}

func hint(hints []string) string {
	if len(hints) == 0 {
		return ""
	}
	return ": " + strings.Join(hints, " ")
}
