package points

import (
	"errors"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// An expander is what the finder knows of a kind of points: how its patterns expand, and for functions the way to
// attach that its name says.
type expander struct {
	expand func(s search, p *plan.Pattern) []*Target
	mech   tree.AttachKind
	// mayWait refuses a pattern that would wait for a module in vain; nil: none is.
	mayWait func(s search, p *plan.Pattern)
}

// expanders has one for each kind that internal/point has, by their names there.
var expanders map[string]expander

// expanderOf is the one of a pattern.
func expanderOf(p *plan.Pattern) expander {
	k, known := expanders[p.Provider]
	if !known {
		panic("nothing expands points of the kind " + p.Provider)
	}
	return k
}

func fields(p *plan.Pattern, n int, form string) {
	if len(p.Args) != n {
		refusal.Wrong(p.Pos, "%s: the form is %s", p.Text, form)
	}
	for _, a := range p.Args {
		if _, err := kernel.CompileGlob(a); err != nil {
			refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
		}
	}
}

func (s search) mustHave(has bool, what, why string, p *plan.Pattern) {
	if has {
		return
	}
	if why != "" {
		why = ": " + why
	}
	refusal.Lacks(p.Pos, what, "%s: this kernel has no %s%s", p.Text, what, why)
}

// unread is about a program or library of which err says why its points cannot be found.
func unread(p *plan.Pattern, file string, err error) {
	if errors.Is(err, binary.ErrNotFound) {
		refusal.Lacks(p.Pos, "program "+file, "%s: %v", p.Text, err)
	}
	refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
}
