package session

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
)

// `startrace verify`: a script is compiled for a kernel and nothing loaded.

// An Outcome is what compiling a script for a kernel came to.
type Outcome struct {
	// Points is how many points the script has there. It is 0 where it cannot be compiled.
	Points int `json:"points"`
	// Programs is how many programs the script has there. It is 0 where it cannot be compiled.
	Programs int `json:"programs"`
	// FellBack says which alternatives of first() were taken, and why not those before them.
	FellBack []string `json:"fell_back,omitempty"`
	// Notes say which ways were taken, where there are several.
	Notes []string `json:"notes,omitempty"`
	// Warnings are what a run would warn of.
	Warnings []string `json:"warnings,omitempty"`
	// Asks is set where nothing is lacking but a program or process to trace (-c, -p).
	Asks bool `json:"asks,omitempty"`
	// Unknown is set where nothing is lacking but what types alone do not tell.
	Unknown bool `json:"unknown,omitempty"`
	// Lacks are the messages that say why it cannot be compiled.
	Lacks []string `json:"lacks,omitempty"`
}

// Verify compiles a script as Run would, and loads nothing. The error is
// something that has nothing to do with the kernel, as a script that cannot be
// read.
func Verify(o Options) (out *Outcome, err error) {
	exit := Done
	defer Guard(&o, &exit, &err)
	o.Unsafe = true // what a run has to be granted is nothing that the kernel lacks
	s := newSession(o)
	s.untraced = true
	defer s.close()
	args, err := s.prepare()
	if err != nil {
		return nil, mistake.Tidy(err)
	}
	s.host.Env().Outside = nil // what it would read and write belongs to the machine that it will run on
	ended, err := runLooking(s, args)
	s.out.Drop()
	if err != nil {
		return outcomeOf(nil, nil, err), nil
	}
	if ended {
		return &Outcome{}, nil
	}
	p := s.whole()
	s.explainTarget(&p.Plan.Target)
	result, err := s.loader.Compile(p, explain.Stages{})
	if err == nil && o.Made != nil {
		if err := o.Made(p.Unit, s.loader.Options(p)); err != nil {
			return nil, err
		}
	}
	return outcomeOf(p, result, err), nil
}

// each reports whether all messages have a text.
func each(messages []string, text string) bool {
	return !slices.ContainsFunc(messages, func(m string) bool { return !strings.Contains(m, text) })
}

// outcomeOf says what came of compiling p.
func outcomeOf(p *parts.Part, result *infer.Result, failed error) *Outcome {
	if failed != nil {
		lacks := strings.Split(mistake.Tidy(failed).Error(), "\n")
		return &Outcome{Lacks: lacks, Asks: each(lacks, binary.NoProgram), Unknown: each(lacks, kernel.NotTold)}
	}
	out := &Outcome{Programs: len(p.Unit.Tree.Programs)}
	for _, probe := range p.Plan.Probes {
		out.Points += result.Points[probe.ID]
	}
	for _, c := range result.Choices {
		if len(c.Refused) > 0 {
			out.FellBack = append(out.FellBack, "takes "+strings.Join(c.Chosen, ", ")+", because "+
				strings.Join(c.Refused, "; "))
		}
	}
	for _, n := range result.Notes {
		out.Notes = append(out.Notes, n.Error())
	}
	for _, w := range result.Warnings {
		out.Warnings = append(out.Warnings, w.Error())
	}
	return out
}
