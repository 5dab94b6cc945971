package points

import (
	"errors"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// How a pattern of each family expands, how many fields it needs, and messages about patterns with too few fields or
// braces.

// An expander is what the finder knows of a family of kinds of points: how its patterns expand.
type expander struct {
	expand func(s search, p *plan.Pattern) []*Target
	// mayWait refuses a pattern that would wait for a module in vain; nil: none is.
	mayWait func(s search, p *plan.Pattern)
}

// expanders has one for each family that internal/point has. What differs between the kinds of a family is in their
// rows there.
var expanders map[*point.Family]expander

// kindOf is the row of the kind of a pattern.
func kindOf(p *plan.Pattern) *point.Kind { return point.Must(p.Provider) }

// expanderOf is the one of a pattern.
func expanderOf(p *plan.Pattern) expander {
	k, known := expanders[kindOf(p).Family]
	if !known {
		panic("nothing expands points of the kind " + p.Provider)
	}
	return k
}

// mechanism is the way into a function that the row of a kind wants: a trampoline or a probe, at the entry or at the
// return. Calls are probed from their entry on, and what stands at their return is added later.
func mechanism(p *plan.Pattern) tree.AttachKind {
	k := kindOf(p)
	trampoline, user := k.Ways[0].Name == kernel.WayFentry, k.Family == point.UserFunctions
	switch {
	case k.Returns() && trampoline:
		return tree.AttachFexit
	case k.Returns() && user:
		return tree.AttachUretprobe
	case k.Returns():
		return tree.AttachKretprobe
	case trampoline:
		return tree.AttachFentry
	case user:
		return tree.AttachUprobe
	}
	return tree.AttachKprobe
}

// patterns refuses a pattern that has more or fewer fields than its kind wants, or one that is no pattern.
func patterns(p *plan.Pattern) {
	if k := kindOf(p); len(p.Args) < k.Min || len(p.Args) > k.Max {
		refusal.Wrong(p.Pos, "%s: the form is %s:%s", p.Text, k.Name, k.Wanted)
	}
	for _, a := range p.Args {
		if _, err := naming.Compile(a); err != nil {
			refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
		}
		if strings.Contains(a, ",") && !strings.Contains(a, "{") {
			refusal.Wrong(p.Pos, "%s: several names stand in braces: %s", p.Text,
				strings.Replace(p.Text, a, "{"+a+"}", 1))
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
