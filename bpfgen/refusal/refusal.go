// Package refusal is how the walks of a script end: by a mistake, which is one on either side, or by what cannot run in
// the kernel. Both unwind the walk as a panic, up to where something else can be tried or the next thing is walked.
// What is said of it to the author of the script is a Diag.
package refusal

import (
	"fmt"

	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// Refuse, Wrong and Lacks end the walk of a function: it cannot run in the kernel, is a mistake, or lacks something of
// this kernel.

// A Refusal unwinds the walk of a function that cannot run in the kernel. It
// is recovered where the function's placement is decided.
type Refusal struct {
	Diag
	// Final is set for mistakes that are wrong on either side, such as a
	// field that does not exist: user space is no way out.
	Final bool
	// None is set where the mistake is that a value is None.
	None bool
	// Silent is set for what follows from a mistake that was reported before.
	Silent bool
}

// Refuse ends the walk: what stands at pos cannot run in the kernel.
func Refuse(pos plan.Pos, format string, args ...any) {
	panic(&Refusal{Diag: Diag{Pos: pos, Msg: fmt.Sprintf(format, args...)}})
}

// Wrong ends the walk: what stands at pos is a mistake wherever it runs.
func Wrong(pos plan.Pos, format string, args ...any) {
	panic(&Refusal{Diag: Diag{Pos: pos, Msg: fmt.Sprintf(format, args...)}, Final: true})
}

// Lacks ends the walk: the point needs something that this kernel is wholly without, lacks, such as "kprobes".
func Lacks(pos plan.Pos, lacks, format string, args ...any) {
	panic(&Refusal{Diag: Diag{Pos: pos, Msg: fmt.Sprintf(format, args...), Lacks: lacks}, Final: true})
}

// AfterMistake ends the walk of what depends on something that was found wrong, and was reported.
func AfterMistake() { panic(&Refusal{Final: true, Silent: true}) }

// Attempt runs f and gives the refusal that ended it, if one did.
func Attempt(f func()) (r *Refusal) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Refusal:
			r = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// Near is a hint for a misspelt name, "" where no name is like it.
func Near(name string, names []string) string {
	if near := naming.Suggest(name, names); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}
