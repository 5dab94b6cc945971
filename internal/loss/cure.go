package loss

import (
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/plan"
)

// Which remedy a loss gets where that depends on the script: size=, lru=, flags of a tool; the usual one is in loss.go.

// lessByFlags is what a user of the library can do, where who writes a script could change it.
const lessByFlags = "select less: by flags of the tool (--help), or by -p"

// cureOf is what can be done about a loss. Only tables can drop their oldest, and only spans of the script have a
// size.
func cureOf(p *plan.Plan, l attach.Loss, text text) string {
	c := containerOf(p, l)
	switch {
	case l.Site != nil && plan.OfLibrary(l.Site.Pos) && slices.Contains(overloads, l.Kind):
		return lessByFlags
	case l.Kind == bpfgen.SiteFull && c != nil:
		return fullCure(c)
	case l.Kind == bpfgen.SiteSpanFull && slices.ContainsFunc(p.Probes, func(probe *plan.Probe) bool {
		return probe.ID == l.Probe && hasSpan(probe.Points)
	}):
		return text.cure + ", or give the span a size="
	}
	return text.cure
}

// overloads are the kinds of losses that are fewer where less is selected.
var overloads = []bpfgen.SiteKind{bpfgen.SiteRing, bpfgen.SiteSpanFull, bpfgen.SiteStackFull}

func fullCure(c *plan.Container) string {
	if plan.OfLibrary(c.Pos) {
		return lessByFlags
	}
	if c.Kind != plan.Table {
		return "give it a size=, or use fewer keys"
	}
	return "give it a size=, use fewer keys, or table(lru = True) to drop the oldest"
}

// hasSpan reports whether a point is, or is made of, a span of the script.
func hasSpan(points []plan.Point) bool {
	return slices.ContainsFunc(points, func(p plan.Point) bool {
		switch p := p.(type) {
		case *plan.Span:
			return true
		case *plan.Event:
			return slices.ContainsFunc(p.Arms, func(a plan.Arm) bool { return hasSpan(a.Points) })
		case *plan.First:
			return hasSpan(p.Points)
		}
		return false
	})
}

// containerOf is the container that a loss concerns; nil: none.
func containerOf(p *plan.Plan, l attach.Loss) *plan.Container {
	if l.Site == nil || l.Site.Container < 0 || l.Site.Container >= len(p.Containers) {
		return nil
	}
	return p.Containers[l.Site.Container]
}
