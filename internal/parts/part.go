// Package parts has what a run has in the kernel, part by part: what was declared, what became of it, its programs and
// maps, and its ring. It says nothing and decides nothing: the session and the loader do.
//
// A script is one part, and so is each chunk at the prompt. Points that come later, of a module or in a file that was
// replaced, are a late part of the same probes:
//
//	probe 0  uprobe:./app:f   part 0 (the file at the start), part 1 (late: the file that replaced it)
//	probe 1  syscall:read     part 0
package parts

import (
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
)

// Part, what is compiled and loaded together.

// A Part is what is compiled and loaded together: of a script all of it, at the
// prompt what was typed at one time. The containers are those of the session.
type Part struct {
	// Plan is what was declared. It does not change, but for what the loader sets before it compiles.
	Plan *plan.Plan
	// Late is set from the beginning for a part of points that came later: in modules that were loaded, or in a file
	// that was replaced.
	Late bool
	// Replaced is the file that was replaced, for a late part with points in it; "" for all others.
	Replaced string

	// Rolled are the loops that were too large where they were written out (infer.Options).
	Rolled map[plan.Pos]bool

	// Unit is the compiled plan. It is nil until the part is compiled.
	Unit *bpfgen.Unit
	// Result is what became of the plan: halves, places, points. It is nil until the part is compiled.
	Result *infer.Result
	// Captured is what the functions of the plan have captured, for late parts that are made of this one.
	Captured script.Captured

	// Loaded is the unit in the kernel, from its loading on.
	Loaded *attach.Loaded
	// Reader drains the part's ring, from the loading on. It is nil where programs send nothing.
	Reader *stream.Reader
	progress
	// Stacks is the table of the part's stacks. It is nil where programs take none.
	Stacks *stacks.Table
	// Spans are the part's entries among those that items() reads, from the loading on.
	Spans *openspans.Unit
	// First is the number in the session of the part's record 0: the index in delivery.routes.
	First int
	// renumbered is the memory in which renumber gives a record that number. It is used again for each record.
	renumbered []byte
}

// RollMore notes the loops that made a program too large, as err says of it. It reports whether there are more of them
// than before: the part is then to be compiled anew.
func (p *Part) RollMore(err error) bool {
	if p.Rolled == nil {
		p.Rolled = map[plan.Pos]bool{}
	}
	return err != nil && bpfgen.RollMore(err, p.Rolled)
}

// has reports whether the probe is in the part.
func (p *Part) has(probe int) bool {
	return slices.ContainsFunc(p.Plan.Probes, func(declared *plan.Probe) bool { return declared.ID == probe })
}

// Names are the names of probes, each once.
func (p *Part) Names(probes []int) (names []string) {
	for _, probe := range probes {
		if name := p.Plan.ProbeName(probe); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Points is how many points of a probe are in the part.
func (p *Part) Points(probe int) int { return p.Result.Points[probe] }

// Sends reports whether records come by the ring.
func (p *Part) Sends() bool {
	return slices.ContainsFunc(p.Unit.Tree.Records, func(r *wire.Record) bool { return p.Unit.Tree.Keep[r.Probe] == 0 })
}
