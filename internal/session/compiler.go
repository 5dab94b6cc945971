package session

import (
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/script"
)

// A compiler makes the units of parts.
type compiler struct {
	// o are the options of the run.
	o *Options
	// messages takes warnings, and with -v what runs where.
	messages *output.Messages
	// machine has the facts about the kernel.
	machine *machine.Machine
	// host has the plan and the script's text.
	host *script.Host
	// common is what the parts of the run share.
	common common
	// unwanted gives an error once what is being made is wanted no more.
	unwanted func() error
}

// common is what the parts of a run share, if it can have several: at the prompt, or where probes can get points later.
// The zero value is for one part.
type common struct {
	// maps are the maps of the containers.
	maps *attach.Shared
	// types are the types that containers have in the parts so far.
	types *infer.Types
	// room is for how many containers there are epochs, those that are declared later among them.
	room int
}

// compile makes the unit of a part. The result says what became of its plan, also
// of some with mistakes.
func (c *compiler) compile(p *parts.Part, st explain.Stages) (*infer.Result, error) {
	result, err := c.infer(p)
	if err != nil {
		return result, err
	}
	for _, w := range result.Warnings {
		if plan.OfLibrary(w.Pos) && !c.o.Verbose {
			continue // who uses the library cannot mend it
		}
		c.messages.Sayf("%s: warning: %s", w.Pos, w.Msg)
	}
	if c.o.Verbose {
		if err := explain.New(c.reportInput(p, result, nil)).WritePlacement(c.messages.W); err != nil {
			return nil, err
		}
	}
	version, err := c.machine.Facts().Version()
	if err != nil {
		return nil, err
	}
	o := bpfgen.For(version)
	o.Dump, o.DumpPass, o.Containers, o.Stop = st.IR, st.Pass, c.common.room, c.unwanted
	o.Check, o.Cost = c.o.Check, st.Cost
	unit, err := bpfgen.Generate(result.Tree, o)
	if err == nil {
		p.Unit = unit
	}
	return result, err
}

// infer makes the trees of a plan, or of what it has got since.
func (c *compiler) infer(p *parts.Part) (*infer.Result, error) {
	o := infer.Options{Programs: c.machine.Programs(), Earlier: c.common.types, Late: p.Late,
		Replaced: p.Replaced}
	if !p.Late {
		o.Stop = c.unwanted
	}
	return infer.Plan(p.Plan, c.machine.Facts(), o)
}

// freeze makes what kernel halves captured constant for the rest of the run: a
// change would not reach the programs.
func (c *compiler) freeze(p *parts.Part) {
	for _, at := range p.Result.Placed {
		if at.Side == "kernel" && at.Fn != nil {
			c.host.Freeze(at.Fn)
		}
	}
}

// reportInput is what there is to say of a part; it needs no unit.
func (c *compiler) reportInput(p *parts.Part, result *infer.Result, failed error) *explain.Input {
	in := &explain.Input{Script: c.scriptName(), Plan: p.Plan, Result: result, Source: c.host.Line, CPUs: attach.CPUs(),
		PossibleCPUs: 1}
	if n, err := ebpf.PossibleCPU(); err == nil {
		in.PossibleCPUs = n
	}
	if failed != nil {
		in.Errors = strings.Split(mistake.Tidy(failed).Error(), "\n")
	}
	return in
}

// scriptName is the script as the user named it.
func (c *compiler) scriptName() string {
	if len(c.o.Code) > 0 {
		return "-e"
	}
	return c.o.Args[0]
}
