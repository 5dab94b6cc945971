package listing

import (
	"errors"
	"fmt"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/point"
)

// hooks finds the security hooks that the kernel's BTF names.
func (s *Source) hooks(r *Result, k *point.Kind, rest string) error {
	found, err := s.Facts.MatchHooks(orAll(rest))
	var none *kernel.NoHookError
	if errors.As(err, &none) {
		if none.Near != "" {
			r.hint(didYouMean(k.Name + ":" + none.Near))
		}
		return nil
	}
	if err != nil {
		r.problem(err)
		return nil
	}
	for _, h := range found {
		if why := s.Facts.NoHook(h); why != "" {
			if !kernel.IsPattern(orAll(rest)) {
				r.problem(fmt.Errorf("%s:%s: %s", k.Name, h.Name, why))
			}
			continue
		}
		r.Points = append(r.Points, &Point{Name: k.Name + ":" + h.Name, Kind: k.Name, detail: func(p *Point) {
			p.Fields = s.params(h.Params)
		}})
	}
	if len(found) > 0 {
		r.problem(s.missing(k))
	}
	return nil
}
