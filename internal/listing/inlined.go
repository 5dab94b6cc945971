package listing

import (
	"fmt"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/point"
)

// Where a function was inlined, as a list shows it (`mostCalls`).

// inlinedAt says where a function was inlined: "2 inlined at cart.c:120 in checkout".
func inlinedAt(list []binary.CopyPlace) (out []string) {
	type call struct{ source, in string }
	count, order := map[call]int{}, []call(nil)
	for _, c := range list {
		at := call{c.Source, c.In}
		if count[at]++; count[at] == 1 {
			order = append(order, at)
		}
	}
	for i, at := range order {
		if i == mostCalls {
			return append(out, fmt.Sprintf("and inlined at %d more places", len(order)-i))
		}
		where := at.source
		if where == "" {
			where = "a line that is not known"
		}
		if at.in != "" {
			where += " in " + at.in
		}
		out = append(out, fmt.Sprintf("%d inlined at %s", count[at], where))
	}
	return out
}

// mostCalls is how many places are shown of a function.
const mostCalls = 32

// sourceFiles finds the source files of a program.
func (s *Source) sourceFiles(r *Result, k *point.Kind, in point.SourceFunctions) error {
	if err := s.hasPrograms(); err != nil {
		return err
	}
	files, at, err := s.Programs.SourceFiles(in.Binary, orAll(in.File))
	if err != nil {
		r.problem(err)
		return nil
	}
	for _, file := range files {
		name := k.Name + ":" + at.Name + ":@" + file + ":*"
		r.Points = append(r.Points, &Point{Name: name, Kind: k.Name, File: at.Name})
	}
	r.problem(s.missing(k))
	return nil
}

// hasPrograms is the error that no programs can be looked at, nil where they can.
func (s *Source) hasPrograms() error {
	if s.Programs == nil {
		return errNoPrograms
	}
	return nil
}
