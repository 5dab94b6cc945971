package session

import (
	"errors"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/script"
)

// All mistakes of a script that did not run are looked for, after the first.

// allMistakes gives, for the mistake that ended a script, all that can be
// found: those further down, and those of the kernel halves that were
// declared. A signal is no mistake of the script.
func (s *session) allMistakes(err error, args []string) error {
	var found script.Errors
	if !errors.As(err, &found) || s.interrupted.Load() {
		return err
	}
	var all script.Errors
	interrupted := s.aside(func() error {
		all = s.host.AllMistakes(found, args, func(p *plan.Plan) error {
			_, err := infer.Plan(p, s.machine.Facts(), infer.Options{Programs: s.machine.Programs()})
			return err
		})
		return nil
	})
	if interrupted != nil {
		return err
	}
	return all
}
