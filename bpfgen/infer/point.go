package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A kind is what infer knows of a kind of points: how its patterns expand, and for functions the way to attach that
// its name says.
type kind struct {
	expand func(f finder, p *plan.Pattern) []*target
	mech   tree.AttachKind
	// mayWait refuses a pattern that would wait for a module in vain; nil: none is.
	mayWait func(f finder, p *plan.Pattern)
}

// kinds are all that internal/point has, by their names there.
var kinds map[string]kind

// kindOf is the kind of a pattern.
func kindOf(p *plan.Pattern) kind {
	k, known := kinds[p.Provider]
	if !known {
		panic("nothing expands points of the kind " + p.Provider)
	}
	return k
}

func fields(p *plan.Pattern, n int, form string) {
	if len(p.Args) != n {
		wrong(p.Pos, "%s: the form is %s", p.Text, form)
	}
	for _, a := range p.Args {
		if _, err := kernel.CompileGlob(a); err != nil {
			wrong(p.Pos, "%s: %v", p.Text, err)
		}
	}
}

// someArgs reports whether another point of the probe has an argument of
// that name: then it is None where it is missing.
func (pr *probe) someArgs(name string) bool {
	if pr.argNames == nil {
		pr.argNames = map[string]bool{}
		for _, t := range pr.targets {
			for _, n := range t.argNames(pr.u) {
				pr.argNames[n] = true
			}
		}
	}
	return pr.argNames[name] || pr.argNames[strings.TrimSuffix(name, "_")]
}

// several reports whether the arguments of the probe are those of more than one
// point.
func (pr *probe) several() bool {
	n := 0
	for _, t := range pr.targets {
		n += len(t.names(t))
	}
	return n > 1
}

func (u finder) mustHave(has bool, what, why string, p *plan.Pattern) {
	if has {
		return
	}
	if why != "" {
		why = ": " + why
	}
	wrong(p.Pos, "%s: this kernel has no %s%s", p.Text, what, why)
}
