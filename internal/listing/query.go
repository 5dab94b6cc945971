package listing

import (
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// What a pattern of `startrace list` means: KIND:…, a name alone, struct NAME.

// Find gives what matches a pattern: KIND:…, a name without a kind, which is
// looked for in all of them that are quick to search, `struct NAME`, a kind
// alone, or "" for all kinds.
func (s *Source) Find(pattern string) (*Result, error) {
	r := &Result{verbose: s.Verbose}
	if s.known == nil {
		s.known = &sync.Map{}
	}
	return r, s.find(r, strings.TrimSpace(pattern))
}

func (s *Source) find(r *Result, pattern string) error {
	if pattern == "" {
		s.summarize(r, point.Kinds())
		return nil
	}
	if word, rest, ok := strings.Cut(pattern, " "); ok {
		if module, kind, named := strings.Cut(word, ":"); named && typeKinds[kind] != nil {
			return s.types(r, typeQuery{module, kind, strings.TrimSpace(rest)})
		}
		if typeKinds[word] != nil {
			return s.types(r, typeQuery{"", word, strings.TrimSpace(rest)})
		}
	}
	word, rest, hasKind := strings.Cut(pattern, ":")
	list, err := kindsOf(word)
	switch {
	case err != nil:
		return err
	case !hasKind && len(list) == 1 && !naming.IsPattern(word):
		return s.kindAlone(r, list[0])
	case !hasKind:
		return s.everywhere(r, pattern)
	case len(list) == 0:
		return s.otherKind(r, pattern, word)
	}
	for _, k := range list {
		if err := s.findPoints(r, k, rest); err != nil {
			return err
		}
	}
	return nil
}

// kindsOf gives the kinds that a word means: one by its name, or those that a
// pattern matches.
func kindsOf(word string) (out []*point.Kind, err error) {
	glob, err := naming.Compile(word)
	if err != nil {
		return nil, err
	}
	if k, known := point.Named(word); known {
		out = append(out, k)
	}
	for _, k := range point.Kinds() {
		if naming.IsPattern(word) && glob.Match(k.Name) {
			out = append(out, k)
		}
	}
	return out, nil
}

// otherKind takes `sched:sched_switch`, as perf writes it, for a tracepoint.
func (s *Source) otherKind(r *Result, pattern, word string) error {
	for _, k := range point.Tracepoints.Kinds {
		if err := s.findPoints(r, k, pattern); err == nil && len(r.Points) > 0 {
			return nil
		}
	}
	r.Hints = nil
	return point.Unknown(pattern, word)
}

// everywhere looks for a name in all kinds that are quick to search.
func (s *Source) everywhere(r *Result, name string) error {
	if _, err := naming.Compile(name); err != nil {
		return err
	}
	var near []string
	for _, k := range point.Kinds() {
		if !k.Bare && !s.ofProgram(k) || kernel.IsRawEvent(k.Name, name) {
			continue
		}
		one := s.anyOf(k, name)
		if one == nil {
			continue
		}
		r.Points = append(r.Points, one.Points...)
		near = append(near, one.Hints...)
		for _, err := range one.Problems {
			r.problem(err)
		}
	}
	if b, err := s.Facts.BTF(); err == nil && !naming.IsPattern(name) {
		s.typesNamed(r, b, name)
	}
	if r.Empty() {
		for _, h := range near {
			r.hint(h)
		}
		if !naming.IsPattern(name) {
			r.hint("a part of a name is found by '*" + name + "*'")
		}
	}
	return nil
}

// ofProgram: of one traced program functions are found without its name.
func (s *Source) ofProgram(k *point.Kind) bool { return k.BareTraced && s.Traced }

// anyOf gives the points of a kind that have a name, nil where nothing is to be
// said of it.
func (s *Source) anyOf(k *point.Kind, name string) *Result {
	if k.Categories {
		name = "*:" + name
	}
	r := &Result{}
	err := s.findPoints(r, k, name)
	if s.ofProgram(k) && len(r.Points) == 0 {
		return nil // it has no such function, or no symbols: not what was asked first
	}
	r.problem(err)
	return r
}
