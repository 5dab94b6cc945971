package listing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Hooks and iterators in `startrace list`.

// hooks finds the security hooks that the kernel's BTF names.
func (s *Source) hooks(r *Result, k *point.Kind, rest string) error {
	found, err := s.Facts.MatchHooks(orAll(rest))
	found = slices.DeleteFunc(found, func(h kernel.TypedPoint) bool {
		why := s.Facts.NoHook(h)
		if why != "" && !naming.IsPattern(orAll(rest)) {
			r.problem(fmt.Errorf("%s:%s: %s", k.Name, h.Name, why))
		}
		return why != ""
	})
	if s.typedPoints(r, k, found, err) {
		r.problem(s.missing(k))
	}
	return nil
}

// iterators finds the iterators that the kernel's BTF names.
func (s *Source) iterators(r *Result, k *point.Kind, rest string) error {
	found, err := s.Facts.MatchIterators(orAll(rest))
	s.typedPoints(r, k, found, err)
	return nil
}

// typedPoints lists points that BTF describes, or why there are none. It reports whether there are any.
func (s *Source) typedPoints(r *Result, k *point.Kind, found []kernel.TypedPoint, err error) bool {
	if r.none(k, err) {
		return false
	}
	if err != nil {
		r.problem(err)
	}
	for _, f := range found {
		r.Points = append(r.Points, &Point{Name: k.Name + ":" + f.Name, Kind: k.Name, detail: func(p *Point) {
			p.Fields = s.params(f.Params)
		}})
	}
	return len(found) > 0
}

// none reports whether an error says that there is no point of the name, of which only a near one is worth a word.
func (r *Result) none(k *point.Kind, err error) bool {
	var none *kernel.NoPointError
	if !errors.As(err, &none) {
		return false
	}
	if none.Near != "" {
		r.hint(didYouMean(k.Name + ":" + none.Near))
	}
	return true
}
