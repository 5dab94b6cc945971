package session

import (
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/render"
)

// list prints what one pattern finds.
func (s *session) list(pattern string) (found bool, err error) {
	src := s.listing()
	src.Verbose = s.Verbose
	r, err := src.Find(pattern)
	if err != nil {
		return false, err
	}
	w := outputWriter{s.out}
	if s.printer.Format == render.JSON {
		err = r.WriteJSON(w)
	} else {
		err = r.WriteText(w, s.Verbose)
	}
	for _, problem := range r.Problems {
		s.messagef("startrace: %v", problem)
	}
	if r.Empty() && (len(r.Problems) == 0 || len(r.Hints) > 0) {
		s.messagef("startrace: nothing matches %s%s", pattern, listHint(r.Hints))
	}
	return !r.Empty(), err
}

// listing says what can be probed here.
func (s *session) listing() *listing.Source {
	finder := s.finder()
	return &listing.Source{Facts: s.facts, Programs: finder, Traced: finder.Program != "",
		NoCounters: !kernel.HasCounters()}
}

func listHint(hints []string) string {
	if len(hints) == 0 {
		return ""
	}
	return ": " + strings.Join(hints, " ")
}
