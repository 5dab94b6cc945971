package session

import (
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/render"
)

// List shows the points that match each pattern, and the kernel's types. No
// pattern shows the kinds of points.
func List(o Options) (exit int, err error) {
	defer guard(o, &exit, &err)
	s := newSession(o)
	defer s.close()
	if err := s.apply(); err != nil {
		return Failed, tidy(err)
	}
	if f := s.printer.Format; f != render.Text && f != render.JSON {
		return Failed, usageErrorf("--format %s: list prints text or json", s.Format)
	}
	exit = Done
	for _, pattern := range listPatterns(s.Args) {
		found, err := s.list(pattern)
		s.out.flush()
		if err != nil {
			return Failed, tidy(err)
		}
		if !found {
			exit = Failed
		}
	}
	return exit, s.out.failure()
}

// listPatterns are the arguments; `struct NAME` may be two of them, and none
// asks for the kinds.
func listPatterns(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "struct", "union", "enum", "typedef":
			if i+1 < len(args) {
				out = append(out, args[i]+" "+args[i+1])
				i++
				continue
			}
		}
		out = append(out, args[i])
	}
	if len(args) == 0 {
		out = []string{""}
	}
	return out
}

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
