package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/plan"
)

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

// sorted orders by place and drops repetitions: one function walked for many
// points says the same many times.
func (d Diags) sorted() Diags {
	slices.SortStableFunc(d, func(a, b Diag) int {
		return cmp.Or(strings.Compare(a.Pos.Filename(), b.Pos.Filename()),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return slices.CompactFunc(d, func(a, b Diag) bool { return a.Error() == b.Error() })
}

func (u *unit) errorf(pos plan.Pos, format string, args ...any) {
	u.diags = append(u.diags, Diag{pos, fmt.Sprintf(format, args...)})
}

func (u *unit) warnf(pos plan.Pos, format string, args ...any) {
	u.warns = append(u.warns, Diag{pos, fmt.Sprintf(format, args...)})
}

// mustKnow ends the walk of a statement that uses a poisoned value.
func (v val) mustKnow() {
	if v.obj == (poison{}) {
		afterMistake()
	}
}

// mistake notes a final refusal and lets the walk go on, so that all mistakes
// of a script are reported at once; any other refusal goes on unwinding.
func (u *unit) mistake(r *refusal) {
	if !r.final || r.none && u.noneEnds {
		panic(r)
	}
	if !r.silent {
		u.diags = append(u.diags, r.Diag)
	}
}

// notef notes which way was taken.
func (u *unit) notef(pos plan.Pos, format string, args ...any) {
	u.res.Notes = append(u.res.Notes, Diag{pos, fmt.Sprintf(format, args...)})
}
