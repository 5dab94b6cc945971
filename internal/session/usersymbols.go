package session

import (
	"encoding/binary"
	"errors"
	"os"

	"github.com/startrace/startrace/internal/sideband"
	"github.com/startrace/startrace/internal/symbols"
	"github.com/startrace/startrace/internal/wire"
)

// userSymbols names addresses of user programs, of which the kernel tells what
// they map.
type userSymbols struct {
	symbols.Table
	band *sideband.Band // nil where nobody asks, or the kernel does not tell
	lost uint64         // of the band's records
	news []processNews
}

// processNews says that a process has a new stack.
type processNews struct {
	stacks *stacks
	pid    int
	time   uint64
	stack  uint64
}

// listen makes the kernel tell what processes map, if addresses of theirs will be
// named: one may live for a millisecond only. Where the kernel does not, /proc is
// read as soon as there is news of a process.
func (s *session) listen() {
	u := &s.userSymbols
	if u.band != nil || !s.unit.Tree.UserStacks && !s.host.Names("usym") {
		return
	}
	if s.plan.Target.Self != 0 && s.plan.Target.Self != os.Getpid() {
		return // the numbers of records are those of another pid namespace
	}
	band, err := s.openBand()
	if err != nil {
		s.verbosef("startrace: processes that end within milliseconds may have addresses for names: %v", err)
		return
	}
	u.band = band
	u.Listen(true)
}

// openBand listens to the target, or to all processes where there is none.
func (s *session) openBand() (*sideband.Band, error) {
	switch {
	case s.child != nil:
		return sideband.OpenProcess(s.child.PID())
	case s.PID > 0:
		return sideband.OpenProcess(s.PID)
	}
	return sideband.Open()
}

// note keeps news for seeProcesses.
func (u *userSymbols) note(t *stacks, rec []byte) {
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(rec[at:]) }
	u.news = append(u.news, processNews{t, int(word(wire.ProcessNumber)), word(wire.HeaderTime),
		word(wire.ProcessStack)})
}

// seeProcesses takes what the kernel has told, and then looks at the processes
// of which there is news: what they had mapped by then has been told.
func (s *session) seeProcesses() error {
	u := &s.userSymbols
	if u.band != nil {
		if err := u.band.Read(u.Tell); err != nil {
			return err
		}
		if lost := u.band.Lost(); lost != u.lost {
			u.lost = lost
			u.Listen(true)
		}
	}
	for _, n := range u.news {
		n.stacks.see(n)
	}
	u.news = u.news[:0]
	return nil
}

// Close closes what is held.
func (u *userSymbols) Close() error {
	err := u.Table.Close()
	if u.band != nil {
		err = errors.Join(err, u.band.Close())
	}
	return err
}
