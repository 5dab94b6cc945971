package session

import (
	"io"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/stacks"
)

// What a run has in the kernel.

// loaded is what a run has in the kernel, and what it knows of it: from the
// loading of the first part to the end.
type loaded struct {
	// parts are those that are loaded.
	parts parts.Parts
	// names are the numbers that stand for names in all of them.
	names parts.Names
	// frames names the addresses of stacks.
	frames *stacks.Names
	// spans gives what spans are open.
	spans openspans.Spans
	// containers are those that kernel halves use.
	containers *containers
	// controls is what the script does with its probes.
	controls *controls
}

// bindSpans makes items() read the entries of the spans of a part.
func (l *loaded) bindSpans(env *builtins.Env) func(*parts.Part) error {
	return func(p *parts.Part) error {
		p.Spans = &openspans.Unit{Spans: p.Unit.Tree.Spans, Map: p.Loaded.Map}
		l.spans.Add(p.Spans)
		env.Open = l.spans.Items
		return nil
	}
}

// settle ends all programs: from here on nothing changes.
func (l *loaded) settle() {
	for _, p := range l.parts.All {
		p.Loaded.Disable()
	}
	l.containers.settle()
	l.spans.Settle()
}

// drop releases a part. Its ring must not be the one on which waits sleep.
func (l *loaded) drop(p *parts.Part, closing func(io.Closer)) {
	l.parts.Remove(p)
	l.frames.Forget(p.Stacks)
	l.spans.Forget(p.Spans)
	if p.Reader != nil {
		closing(p.Reader)
	}
	if p.Loaded != nil {
		closing(p.Loaded)
	}
}
