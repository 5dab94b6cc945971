package refusal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/plan"
)

// Diag, a message with its place in the script, and lists of them: sorted, each said once, with how many more points
// need the same.

// A Diag is a message for the author of a script: Msg says what is wrong at the place Pos, and what to do.
type Diag struct {
	Pos plan.Pos
	Msg string
	// Lacks is what this whole kernel is without, so that each point that needs it is refused for this one cause:
	// "kprobes". "" is a cause of the place's own.
	Lacks string
}

// Diags is everything that is wrong with a script, in the order of places.
type Diags []Diag

// Add puts a message behind the others.
func (d *Diags) Add(pos plan.Pos, format string, args ...any) {
	*d = append(*d, Diag{Pos: pos, Msg: fmt.Sprintf(format, args...)})
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

// Sorted orders by place and drops repetitions: one function walked for many points says the same many times, and what
// the kernel lacks is said once, with how many more need it.
func (d Diags) Sorted() Diags {
	slices.SortStableFunc(d, func(a, b Diag) int {
		return cmp.Or(strings.Compare(a.Pos.Filename(), b.Pos.Filename()),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	said := map[string]bool{}
	return slices.DeleteFunc(d, func(one Diag) bool {
		text := one.Error()
		known := said[text]
		said[text] = true
		return known
	}).oncePerLack()
}

// oncePerLack keeps the first of those that lack the same, which says how many there are.
func (d Diags) oncePerLack() Diags {
	needed := map[string]int{}
	for _, one := range d {
		needed[one.Lacks]++
	}
	said := map[string]bool{"": true}
	var out Diags
	for _, one := range d {
		if one.Lacks == "" {
			out = append(out, one)
		} else if !said[one.Lacks] {
			said[one.Lacks] = true
			out = append(out, one.forAll(needed[one.Lacks]))
		}
	}
	return out
}

// forAll is the message of the first of n that lack the same.
func (d Diag) forAll(n int) Diag {
	switch {
	case n == 2:
		d.Msg += "; another point of the script needs that, too"
	case n > 2:
		d.Msg += fmt.Sprintf("; %d more points of the script need that, too", n-1)
	}
	return d
}
