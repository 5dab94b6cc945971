package loss

import "github.com/startrace/startrace/internal/plan"

// The lines of losses: what several probes of one span lose is said once.
//
// Each probe of a span keeps what is open for itself, and so each of them loses
// what the span loses.

// Lines says losses in words. What a span loses that several probes have is
// told once: by the probe that has counted most, for it has watched longest.
// toggled says that probes were attached and detached meanwhile: then each has
// seen other calls, and its line names it, as where a probe asks for some
// starts only.
func Lines(losses []Loss, toggled bool) (lines []string) {
	for i, l := range losses {
		others := sharing(losses, l)
		switch {
		case len(others) == 1:
			lines = append(lines, describe(l, ""))
		case toggled || l.filters():
			lines = append(lines, describe(l, ", in the probe at "+l.probe().Pos.String()))
		case largest(losses, others) == i:
			lines = append(lines, describe(l, ""))
		}
	}
	return lines
}

// sharing are the places of losses of the kind of l and of its span: those of
// its other probes, and l itself.
func sharing(losses []Loss, l Loss) (places []int) {
	for i, o := range losses {
		same := l.span() != nil && o.span() == l.span() && o.Site.Pos == l.Site.Pos && o.probe() != l.probe()
		if o.Kind == l.Kind && (o == l || same) {
			places = append(places, i)
		}
	}
	return places
}

// largest is the place of the largest loss of all calls of a span, the first of
// those.
func largest(losses []Loss, places []int) int {
	out := -1
	for _, i := range places {
		if !losses[i].filters() && (out < 0 || losses[i].Count > losses[out].Count) {
			out = i
		}
	}
	return out
}

// span is the script's span of which calls are lost; nil: none.
func (l Loss) span() *plan.Span {
	if s := spanOf(l.Loss); s != nil {
		return s.Plan
	}
	return nil
}

// probe is the probe that has lost.
func (l Loss) probe() *plan.Probe {
	for _, p := range l.plan.Probes {
		if p.ID == l.Probe {
			return p
		}
	}
	return nil
}

// filters reports whether the probe begins only some calls of its span.
func (l Loss) filters() bool {
	p := l.probe()
	return p != nil && p.Start != nil && p.Where != nil
}
