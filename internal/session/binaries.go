package session

import (
	"fmt"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/locate"
)

// finder looks for user programs as the traced process does. A point without
// a file means the program of -p or -c.
func (s *session) finder() *binary.Finder {
	if s.binaries == nil {
		s.binaries = &binary.Finder{Locate: locate.Finder{PID: s.PID}}
		switch {
		case s.PID != 0:
			s.binaries.Program = fmt.Sprintf("/proc/%d/exe", s.PID)
		case len(s.argv) > 0:
			s.binaries.Program = s.argv[0]
		}
	}
	return s.binaries
}
