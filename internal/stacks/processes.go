package stacks

import (
	"encoding/binary"
	"errors"

	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/sideband"
	"github.com/startrace/startrace/internal/symbols"
	"github.com/startrace/startrace/internal/wire"
)

// What the kernel tells of processes whose addresses will be named.

// Processes names addresses of user programs, of which the kernel tells what
// they map.
type Processes struct {
	symbols.Namer
	band *sideband.Band // nil where nobody asks, or the kernel does not tell
	lost uint64         // of the band's records
	// Sight gives the number by which the band and /proc know the process that programs know by another one; nil: by
	// the same.
	Sight func(pid int) int
	// Walks are those of programs along the stacks of processes.
	Walks Walks
	news  []processNews
}

// processNews says that a process has a new stack, or, of process 0, the kernel.
type processNews struct {
	stacks *Table
	pid    int
	time   uint64
	stack  uint64
}

// Hears reports whether the kernel already tells what processes map.
func (u *Processes) Hears() bool { return u.band != nil }

// Hear takes a band on which the kernel tells what processes map: one whose
// addresses will be named may live for a millisecond only. Where nobody tells,
// /proc is read as soon as there is news of a process.
func (u *Processes) Hear(band *sideband.Band) {
	u.band = band
	u.Listen(true)
}

// CPUCame listens on a CPU that came online.
func (u *Processes) CPUCame(cpu int) error {
	if u.band == nil {
		return nil
	}
	return u.band.Came(cpu)
}

// note keeps news for See.
func (u *Processes) note(t *Table, rec []byte) {
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(rec[at:]) }
	u.news = append(u.news, processNews{t, u.sight(int(word(wire.ProcessNumber))), word(wire.HeaderTime),
		word(wire.ProcessStack)})
}

// sight is the number by which a process is known here.
func (u *Processes) sight(pid int) int {
	if u.Sight == nil || pid == 0 {
		return pid
	}
	return u.Sight(pid)
}

// See takes what the kernel has told, and then looks at the processes
// of which there is news: what they had mapped by then has been told.
func (u *Processes) See() error {
	if err := u.hearAll(); err != nil {
		return err
	}
	if u.band != nil {
		if lost := u.band.Lost(); lost != u.lost {
			u.lost = lost
			u.Listen(true)
			u.Walks.lost()
		}
	}
	u.Walks.follow(u.news)
	for _, n := range u.news {
		n.stacks.see(n)
	}
	u.news = u.news[:0]
	return nil
}

// hearAll takes what the kernel has told.
func (u *Processes) hearAll() error {
	if u.band == nil {
		return nil
	}
	return u.band.Read(u.hear)
}

// hear takes an event of the band.
func (u *Processes) hear(e *mapping.Change) {
	u.Tell(e)
	u.Walks.tell(e)
}

// Rings are the descriptors that can be read when the kernel has told something.
func (u *Processes) Rings() []int {
	if u.band == nil {
		return nil
	}
	return u.band.Rings()
}

// Close closes what is held.
func (u *Processes) Close() error {
	err := u.Namer.Close()
	if u.band != nil {
		err = errors.Join(err, u.band.Close())
	}
	return err
}
