package refusal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/plan"
)

// A Diag is a message for the author of a script: Msg says what is wrong at the place Pos, and what to do.
type Diag struct {
	Pos plan.Pos
	Msg string
}

// Diags is everything that is wrong with a script, in the order of places.
type Diags []Diag

// Add puts a message behind the others.
func (d *Diags) Add(pos plan.Pos, format string, args ...any) {
	*d = append(*d, Diag{pos, fmt.Sprintf(format, args...)})
}

func (d Diag) Error() string { return fmt.Sprintf("%s: %s", d.Pos, d.Msg) }

// Place gives the message and its place apart.
func (d Diag) Place() (plan.Pos, string) { return d.Pos, d.Msg }

func (d Diags) Error() string {
	lines := make([]string, len(d))
	for i, one := range d {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each message as an error.
func (d Diags) Unwrap() []error {
	out := make([]error, len(d))
	for i, one := range d {
		out[i] = one
	}
	return out
}

// Sorted orders by place and drops repetitions: one function walked for many
// points says the same many times.
func (d Diags) Sorted() Diags {
	slices.SortStableFunc(d, func(a, b Diag) int {
		return cmp.Or(strings.Compare(a.Pos.Filename(), b.Pos.Filename()),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return slices.CompactFunc(d, func(a, b Diag) bool { return a.Error() == b.Error() })
}
