package session

import (
	"errors"
	"slices"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/procs"
)

// The command of -c is let run when all is attached.

// release lets the command of -c run. When it has its memory and has run nothing, probes are attached that watch its
// memory, if its program is position-independent. Where programs walk along its stacks it gets its table then, and
// another one when the dynamic linker has mapped its libraries.
func (s *session) release() error {
	moves := slices.ContainsFunc(s.loaded.parts.All, func(p *parts.Part) bool { return attach.Moves(p.Loaded) })
	walks := s.loaded.frames.Processes.Walks.On() && s.target.Stops()
	if !moves && !walks {
		return s.target.Release(procs.Stops{})
	}
	at := procs.Stops{Loaded: func() error {
		errs := []error{s.loader.ReadyCommand()}
		for _, p := range s.loaded.parts.All {
			if moves {
				errs = append(errs, attach.AttachMoved(p.Loaded))
			}
		}
		return s.machine.WithCause(errors.Join(errs...))
	}}
	if walks {
		at.Linked = s.loader.ReadyCommand
	}
	return s.target.Release(at)
}
