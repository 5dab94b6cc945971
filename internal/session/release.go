package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/binary"
)

// release lets the command of -c run. Between, when it has its memory and has run nothing, it gets its table where
// programs walk along its stacks, and where probes watch its memory and its program is position-independent, they are
// attached.
func (s *session) release() error {
	moves := slices.ContainsFunc(s.loaded.parts.list, func(p *part) bool { return attach.Moves(p.loaded) })
	if !moves && !(s.loaded.frames.Processes.Walks.On() && s.target.Stops()) {
		return s.target.Release(nil)
	}
	return s.target.Release(func() error {
		errs := []error{s.loader.readyCommand()}
		for _, p := range s.loaded.parts.list {
			if moves {
				errs = append(errs, attach.AttachMoved(p.loaded))
			}
		}
		return s.machine.WithCause(errors.Join(errs...))
	})
}

// loadedAt is what the command adds to the addresses of a file, once it has its
// memory.
func (l *loader) loadedAt(file string) (added uint64, loaded bool, err error) {
	pid, loaded := l.target.Loaded()
	if !loaded {
		return 0, false, nil
	}
	added, err = binary.LoadedAt(pid, file)
	if errors.Is(err, binary.ErrNotLoaded) {
		err = fmt.Errorf("%w when it begins: only variables of the program that -c names can be watched, not those of "+
			"libraries and of what it starts; trace a running process with -p", err)
	}
	return added, true, err
}
