package infer

import (
	"fmt"

	"github.com/startrace/startrace/internal/plan"
)

// How a walk ends: by a mistake, which is one on either side, or by what cannot run in the kernel.

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

// afterMistake ends the walk of a statement that uses a poisoned variable.
func afterMistake() { panic(&refusal{final: true, silent: true}) }

// poison is the value of a variable whose assignment was wrong.
type poison struct{}

func (poison) what() string { return "a value" }

// A Diag is a message for the author of a script.
type Diag struct {
	Pos plan.Pos
	Msg string
}

// Diags is everything that is wrong with a script, in the order of places.
type Diags []Diag
