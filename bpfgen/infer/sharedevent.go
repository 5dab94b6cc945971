package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/internal/plan"
)

// Functions of event() that several probes use: what they may not do, as adding to a container.
//
// Each probe runs the functions of its events for itself. Of an event that several probes have they run several times:
// what one of them has taken from a table the next one does not find, and what they add is added each time. So such a
// function may change only what is the same when it has been done twice.

// run walks the function of an event.
func (pr *probe) run(a points.Arm, walk func()) {
	if probes := pr.u.sharing(a.Event); len(probes) > 1 {
		pr.u.shared = &sharedRun{probes, map[int]bool{}, map[int]plan.Pos{}}
		defer func() { pr.u.shared = nil }()
	}
	pr.reading(walk)
}

// sharing are the probes that have an event. A probe that has it several times is there as often.
func (u *unit) sharing(e *plan.Event) (probes []*plan.Probe) {
	for _, p := range u.plan.Probes {
		for range occurrences(p.Points, e) {
			probes = append(probes, p)
		}
	}
	return probes
}

// occurrences counts an event among points and in what they are made of.
func occurrences(points []plan.Point, e *plan.Event) (n int) {
	for _, p := range points {
		switch p := p.(type) {
		case *plan.Event:
			if p == e {
				n++
				continue
			}
			for _, arm := range p.Arms {
				n += occurrences(arm.Points, e)
			}
		case *plan.First:
			n += occurrences(p.Points, e)
		case *plan.Span:
			n += occurrences(p.Start, e) + occurrences(p.End, e)
		}
	}
	return n
}

// readShared notes that the function of an event reads a container.
func (b *body) readShared(c *plan.Container) {
	s := b.u.shared
	if s == nil {
		return
	}
	s.reads[c.ID] = true
	if pos, set := s.sets[c.ID]; set {
		s.refuse(c, pos)
	}
}

// setShared notes that it sets or removes an entry, which is the same when it is done twice, if nobody reads it.
func (b *body) setShared(c *plan.Container, pos plan.Pos) {
	s := b.u.shared
	if s == nil {
		return
	}
	s.sets[c.ID] = pos
	if s.reads[c.ID] {
		s.refuse(c, pos)
	}
}

// addShared refuses that such a function adds something to what is there: it would be added several times.
func (b *body) addShared(c *plan.Container, pos plan.Pos) {
	if b.u.shared != nil {
		b.u.shared.refuse(c, pos)
	}
}

func (s *sharedRun) refuse(c *plan.Container, pos plan.Pos) {
	places := make([]string, len(s.probes))
	for i, p := range s.probes {
		places[i] = p.Pos.String()
	}
	wrong(pos, "this function of an event changes %s, and runs %s for each event, by itself in each use of the event "+
		"(%s): give each probe an event of its own, with containers of its own", name(c), times(len(places)),
		strings.Join(places, ", "))
}

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
