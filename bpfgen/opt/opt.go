// Package opt improves functions of ir.
//
// The table passes is the list of what is done, in order; passOrder says why
// in this order. Every pass takes a function that satisfies ir.Check and
// leaves one. Run works on both levels: before lower it sees macro ops, and
// is worth a second time behind lower.
//
// The passes keep what the kernel's verifier relies on: a bound that is
// tested stays tested, and a mask is only dropped where the verifier itself
// knows that it changes nothing (see knownBits).
package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The tables of passes and the reasons for their order (`passOrder`), and how they are run until nothing changes.

// A pass is one transformation. It reports whether it changed anything.
type pass struct {
	name string
	run  func(f *ir.Func) bool
}

// passes are run in this order, again and again until nothing changes.
var passes = []pass{
	{"dead", dead},       // what nothing uses; blocks that nothing reaches
	{"params", params},   // parameters with one value become that value
	{"fold", fold},       // constants, identities, cheaper ops, addresses
	{"cse", cse},         // the same computed twice
	{"forward", forward}, // loads of what was just stored
	{"facts", facts},     // conditions that a branch before has decided
	{"thread", thread},   // edges past empty blocks and past known branches
	{"bypass", bypass},   // the same where values of the block are used behind it
	{"push", push},       // sums of parameters that the edges know
	{"merge", merge},     // straight lines of blocks become one block
}

// memoryPasses are run once when the others are done, which then start again.
var memoryPasses = []pass{
	{"sinkreads", sinkReads},   // reads behind the filter that they are not needed for
	{"mergereads", mergeReads}, // reads of neighbours become one
	{"deadstore", deadStore},   // stores to the stack that nothing reads
	{"hoist", hoist},           // what is the same in each round of a loop
}

// lastPasses are run once behind the others, which would undo them.
var lastPasses = []pass{
	{"recompute", recompute}, // many cheap values in each block that needs them
	{"sink", sink},           // values down to where they are needed
	{"returns", returns},     // equal ends become one block
	{"thread", thread},
	{"dead", dead},
	{"callzero", callZero}, // ends that need not set R0
}

// passOrder has the constraints on the order of passes, each with its reason.
var passOrder = []struct{ before, after, reason string }{
	{"dead", "params", "edges of blocks that nothing reaches would keep parameters apart"},
	{"params", "fold", "a parameter that is a constant on all ways folds on"},
	{"fold", "cse", "folding gives equal values one form: operands in order, immediates"},
	{"cse", "facts", "equal conditions are then conditions on the same value"},
	{"fold", "facts", "comparisons are in the branch by then, not in a value"},
	{"fold", "forward", "places on the stack have one form by then: slot and offset"},
	{"forward", "facts", "a branch on what was stored is a branch on the value"},
	{"bypass", "push", "an edge that goes past the block need not bring the sum"},
	{"params", "push", "a parameter with one value is none"},
	{"merge", "sinkreads", "a read and the branch on it are in one block by then"},
	{"sinkreads", "mergereads", "a merged read is needed on all ways that one of its parts is needed on"},
	{"forward", "deadstore", "a store whose loads all know its value is not read"},
	{"mergereads", "sink", "addresses of reads that are gone need not move"},
	{"facts", "thread", "a decided branch leaves an empty block to pass"},
	{"thread", "merge", "a block that edges go past has one predecessor less"},
	{"thread", "bypass", "bypass adds parameters; thread does without"},
	{"bypass", "merge", "as for thread"},
	{"cse", "recompute", "copies of a value are equal"},
	{"recompute", "sink", "a value that is only used in its block need not move out of it"},
	{"cse", "sink", "of two equal values the one that dominates must not have moved"},
	{"returns", "thread", "an end that was replaced is an empty block to pass"},
	{"thread", "dead", "what is passed is not reached"},
	{"returns", "callzero", "ends that return a call's result are not equal to others"},
}

// maxRounds bounds the repetition. Each round but the last makes the function
// smaller, so few are needed; the bound is against a mistake.
const maxRounds = 20

// Run improves f, which must satisfy ir.Check.
func Run(f *ir.Func) {
	newRunner(f, func(string) error { return nil }).all()
}

// Names gives the names of the passes in the order in which they first run.
func Names() []string {
	var out []string
	for _, p := range slices.Concat(passes, memoryPasses, lastPasses) {
		if !slices.Contains(out, p.name) {
			out = append(out, p.name)
		}
	}
	return out
}

// RunWatched is Run; it calls after with the name of each pass that has run, and ends with the first error that after
// gives.
func RunWatched(f *ir.Func, after func(name string) error) error {
	r := newRunner(f, after)
	r.all()
	return r.err
}

// A runner runs passes on f until after gives an error.
type runner struct {
	f     *ir.Func
	after func(name string) error
	err   error
	// changes counts the runs of passes that have changed f, idle how many there were, by pass of the table, when the
	// pass last changed nothing.
	changes int
	idle    []int
}

func newRunner(f *ir.Func, after func(name string) error) *runner {
	return &runner{f: f, after: after, idle: slices.Repeat([]int{-1}, len(passes))}
}

// all runs the passes in the order of the tables.
func (r *runner) all() {
	r.again()
	if r.once(memoryPasses) {
		r.again()
	}
	r.once(lastPasses)
}

// once runs each pass of the list, and reports whether one of them changed something.
func (r *runner) once(list []pass) (changed bool) {
	for _, p := range list {
		changed = r.run(p) || changed
	}
	return changed
}

// run runs a pass, and reports whether it changed something.
func (r *runner) run(p pass) bool {
	if r.err != nil {
		return false
	}
	changed := p.run(r.f)
	if changed {
		r.changes++
	}
	r.err = r.after(p.name)
	return changed
}

// again runs the passes until they change nothing. A pass that has changed nothing is not run again before another has
// changed something.
func (r *runner) again() {
	for range maxRounds {
		changed := false
		for i, p := range passes {
			switch {
			case r.idle[i] == r.changes:
			case r.run(p):
				changed = true
			default:
				r.idle[i] = r.changes
			}
		}
		if !changed {
			return
		}
	}
}
