package points

import (
	"debug/dwarf"
	"strconv"
	"strings"
	"sync"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Points at lines of a source, BINARY:FILE:LINE, the variables in sight there, and notes about places of the line.

// A sourceLine is a line of a source file in a pattern: BINARY:FILE:LINE, or FILE:LINE of the traced program.
type sourceLine struct {
	binary, file string
	line         int
}

// sourceLineOf gives the line that a pattern names; false where it names functions.
func sourceLineOf(p *plan.Pattern) (l sourceLine, ok bool) {
	if _, named := point.SourceOf(strings.Join(p.Args, ":")); named {
		return l, false
	}
	l.binary, l.file, l.line, ok = point.LineOf(strings.Join(p.Args, ":"))
	return l, ok
}

// lines gives the target of a line.
func (s search) lines(p *plan.Pattern, l sourceLine) []*Target {
	if !kindOf(p).TakesOffset {
		refusal.Wrong(p.Pos, "%s: a line is a place, and has no return: uprobe:%s", p.Text,
			strings.Join(p.Args, ":"))
	}
	if l.line == 0 {
		refusal.Wrong(p.Pos, "%s: a file has no line 0; its first line is 1", p.Text)
	}
	if s.Programs == nil {
		refusal.Wrong(p.Pos, "%s: programs cannot be looked at here", p.Text)
	}
	list, at, err := s.Programs.Lines(l.binary, l.file, l.line)
	s.tellReplaced(p, at)
	switch {
	case err != nil:
		unread(p, l.binary, err)
	case len(list) == 0 && at.Left > 0:
		refusal.Wrong(p.Pos, "%s: %s", p.Text, at.Why)
	case len(list) == 0:
		refusal.Wrong(p.Pos, "%s: no function of %s has this line", p.Text, at.Name)
	case len(list) > maxFunctions:
		refusal.Wrong(p.Pos, "%s is at %d places; a probe takes at most %d", p.Text, len(list), maxFunctions)
	}
	s.mustHave(s.Facts.Features().Uprobe, "uprobes", s.Facts.Features().Why["uprobe"], p)
	fs := &Functions{Mech: mechanism(p), Binary: at.Path, Same: at.Same, Process: s.onlyProcess()}
	t := &Target{Source: fs, Name: p.Provider, Text: p.Text, Pos: p.Pos}
	tellPlaces(s, p, list, at)
	inlined := 0
	for _, fn := range list {
		f := s.userPlace(p, at, fn, 0)
		f.Source = l.file + ":" + strconv.Itoa(l.line)
		f.Text = p.Provider + ":" + at.Name + ":" + f.Source
		if fs.Funcs = append(fs.Funcs, f); fn.Inlined {
			inlined++
		}
	}
	if len(list) > 1 {
		s.notef(p.Pos, "%s: the line is at %d places, %d of them in functions that were inlined", p.Text, len(list),
			inlined)
	}
	return []*Target{t}
}

// tellPlaces tells of the places of a line that cannot be probed, or not where the line begins.
func tellPlaces(s search, p *plan.Pattern, list []binary.Function, at *binary.File) {
	if at.Left > 0 {
		s.warnf(p.Pos, "%s: of the places of the line %d of %d cannot be probed: %s", p.Text, at.Left,
			at.Left+len(list), at.Why)
	}
	for _, fn := range list {
		if fn.Moved != "" {
			s.warnf(p.Pos, "%s: it is probed at an instruction behind its first one, since %s", p.Text, fn.Moved)
			return
		}
	}
}

// atPlace adds what is known where a place in a function is probed: the variables in sight.
func (s search) atPlace(f *Function, at *binary.File, fn binary.Function) {
	f.Source = fn.Source
	f.vars = sync.OnceValues(func() ([]locals.Variable, error) {
		return s.Programs.Locals(at, fn, f.Place.Offset-fn.Start)
	})
	f.length = func(dimension dwarf.Offset) (locals.Variable, error) {
		return s.Programs.Length(at, fn, f.Place.Offset-fn.Start, dimension)
	}
}
