package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/plan"
)

// A Diag is a message for the author of a script.
type Diag struct {
	Pos plan.Pos
	Msg string
}

func (d Diag) Error() string { return fmt.Sprintf("%s: %s", d.Pos, d.Msg) }

// Place gives the message and its place apart.
func (d Diag) Place() (plan.Pos, string) { return d.Pos, d.Msg }

// Diags is everything that is wrong with a script, in the order of places.
type Diags []Diag

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

// A refusal unwinds the walk of a function that cannot run in the kernel. It
// is recovered where the function's placement is decided.
type refusal struct {
	Diag
	// final is set for mistakes that are wrong on either side, such as a
	// field that does not exist: user space is no way out.
	final bool
	// none is set where the mistake is that a value is None.
	none bool
	// silent is set for what follows from a mistake that was reported before.
	silent bool
}

// poison is the value of a variable whose assignment was wrong.
type poison struct{}

func (poison) what() string { return "a value" }

// mustKnow ends the walk of a statement that uses a poisoned value.
func (v val) mustKnow() {
	if v.obj == (poison{}) {
		afterMistake()
	}
}

// afterMistake ends the walk of a statement that uses a poisoned variable.
func afterMistake() { panic(&refusal{final: true, silent: true}) }

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

// refuse ends the walk: what stands at pos cannot run in the kernel.
func refuse(pos plan.Pos, format string, args ...any) {
	panic(&refusal{Diag: Diag{pos, fmt.Sprintf(format, args...)}})
}

// wrong ends the walk: what stands at pos is a mistake wherever it runs.
func wrong(pos plan.Pos, format string, args ...any) {
	panic(&refusal{Diag: Diag{pos, fmt.Sprintf(format, args...)}, final: true})
}

// attempt runs f and gives the refusal that ended it, if one did.
func attempt(f func()) (r *refusal) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *refusal:
			r = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}
