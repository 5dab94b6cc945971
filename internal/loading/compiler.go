package loading

import (
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/target"
	"github.com/startrace/startrace/starlark/script"
)

// A part is compiled: the options of the compiler are filled here.

// Needs are what is needed of the run for which parts are compiled and loaded. They do not change.
type Needs struct {
	// Messages takes what is no result.
	Messages *output.Messages
	// Machine has the facts about the kernel.
	Machine *machine.Machine
	// Host has the plan and the script's text.
	Host *script.Host
	// Target is the processes that count.
	Target *target.Target
	// Bell waits on the ring of the first part, beside what else wakes the run.
	Bell *bell.Bell
	// Parts gets what was loaded.
	Parts *parts.Parts
	// Frames names the addresses of stacks.
	Frames *stacks.Names
	// Drain takes what a part has sent so far, so that its ring has room for more, while an iterator sends or the
	// kernel takes programs off.
	Drain func(*parts.Part) error
	// Aside does work that takes long, and does not wait for its end once nobody wants that.
	Aside func(work func() error) error
	// Unwanted gives an error once what is being made is wanted no more.
	Unwanted func() error
	// Fit makes room for what the kernel takes, before maps are made and behind that.
	Fit func() error
}

// A compiler makes the units of parts.
type compiler struct {
	// Run is what is needed of the run.
	Run Needs
	// Script is what messages call the script: its file as the user named it, "-e", or "prompt". It is set once the
	// command line has been read, as check is.
	Script string
	// Check verifies what each pass of the compiler has made (--check).
	Check bool
	// Common is what the parts of the run share.
	Common Common
}

// Common is what the parts of a run share, if it can have several: at the prompt, or where probes can get points later.
// The zero value is for one part.
type Common struct {
	// Maps are the maps of the containers.
	Maps *attach.Shared
	// Types are the types that containers have in the parts so far.
	Types *infer.Types
	// Room is for how many containers there are epochs, those that are declared later among them.
	Room int
}

// Compile makes the unit of a part. The result says what became of its plan, also
// of some with mistakes.
func (c *compiler) Compile(p *parts.Part, st explain.Stages) (*infer.Result, error) {
	result, err := c.infer(p)
	if err != nil {
		return result, err
	}
	if err := c.tell(p, result); err != nil {
		return nil, err
	}
	return c.generate(p, result, st)
}

// generate makes the unit of a part of what was inferred. Where a program is too large by loops that are written out,
// the plan is inferred anew with loops that are not, and that result is given.
func (c *compiler) generate(p *parts.Part, result *infer.Result, st explain.Stages) (*infer.Result, error) {
	version, err := c.Run.Machine.Facts().Version()
	if err != nil {
		return nil, err
	}
	o := bpfgen.For(version)
	o.Dump, o.DumpPass, o.Containers, o.Stop = st.IR, st.Pass, c.Common.Room, c.Run.Unwanted
	o.Check, o.Cost = c.Check, st.Cost
	for {
		unit, err := bpfgen.Generate(result.Tree, o)
		if err == nil {
			p.Unit = unit
			return result, nil
		}
		if !p.RollMore(err) {
			return result, err
		}
		again, refused := c.infer(p)
		if refused != nil { // a loop must be written out
			return result, err
		}
		result = again
	}
}

// tell gives the warnings of a part, and of -v where what runs.
func (c *compiler) tell(p *parts.Part, result *infer.Result) error {
	for _, w := range result.Warnings {
		if plan.OfLibrary(w.Pos) && !c.Run.Messages.Verbose {
			continue // who uses the library cannot mend it
		}
		c.Run.Messages.Warnf(w.Pos, "%s", w.Msg)
	}
	if c.Run.Messages.Verbose {
		return explain.New(c.ReportInput(p, result, nil)).WritePlacement(c.Run.Messages.W)
	}
	return nil
}

// infer makes the trees of a plan, or of what it has got since.
func (c *compiler) infer(p *parts.Part) (*infer.Result, error) {
	o := infer.Options{Programs: c.Run.Machine.Programs(), Earlier: c.Common.Types, Late: p.Late,
		Replaced: p.Replaced, Rolled: p.Rolled}
	if !p.Late {
		o.Stop = c.Run.Unwanted
	}
	return infer.Plan(p.Plan, c.Run.Machine.Facts(), o)
}

// freeze makes what kernel halves captured constant for the rest of the run: a
// change would not reach the programs.
func (c *compiler) freeze(p *parts.Part) {
	for _, at := range p.Result.Placed {
		if at.Side == "kernel" && at.Fn != nil {
			c.Run.Host.Freeze(at.Fn)
		}
	}
}

// ReportInput is what there is to say of a part; it needs no unit.
func (c *compiler) ReportInput(p *parts.Part, result *infer.Result, failed error) *explain.Input {
	in := &explain.Input{Script: c.Script, Plan: p.Plan, Result: result, Source: c.Run.Host.Line, CPUs: attach.CPUs(),
		PossibleCPUs: 1}
	if n, err := ebpf.PossibleCPU(); err == nil {
		in.PossibleCPUs = n
	}
	if failed != nil {
		in.Errors = strings.Split(mistake.Tidy(failed).Error(), "\n")
	}
	return in
}
