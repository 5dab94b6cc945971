package stream

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/startrace/startrace/internal/wire"
)

// Records put in the order of their times.

// A Merger puts records in the order of their times.
//
// Records come nearly sorted: a program takes its time when it begins and
// enters the ring when it ends, so records of different CPUs overtake each
// other by as much as a program runs. Whatever a program stamped before one
// drain began is in the ring when the next one begins. So a session notes the
// time T before each drain, pushes what it drains, and flushes up to the T of
// the drain before:
//
//	T0 := Now(); Drain; Flush(0)
//	T1 := Now(); Drain; Flush(T0)
//	T2 := Now(); Drain; Flush(T1)
//
// Where drains are far apart because callbacks are slow, T-DrainInterval is as
// good as the T of the drain before, and less has to be held.
//
// A record that still comes too late (its program was preempted) is delivered
// with the next flush and counted.
//
// Records are copied into an arena that is reused: no allocation per record.
type Merger struct {
	entries []entry // what is held, sorted by time unless unsorted
	arena   []byte
	spare   []byte // the arena before the last move
	// unsorted is set when an insertion was given up as too far.
	unsorted bool
	latest   uint64 // the greatest time delivered
	late     uint64
}

// An entry is a record in the arena.
type entry struct {
	time     uint64
	off, len uint32
}

// maxShift is how far a push moves an entry towards its place before it leaves
// the work to a sort.
const maxShift = 32

// arenaMax is where an arena is as large as offsets allow; a session flushes
// long before, as rings are smaller.
const arenaMax = 1<<32 - 1

// Push takes a copy of a record, which begins with the header of package wire.
// It reports whether it took it: a record without a header is refused, and so
// are more than 4 GB without a Flush.
func (m *Merger) Push(rec []byte) bool {
	if len(rec) < wire.HeaderSize || len(m.arena)+len(rec) > arenaMax {
		return false
	}
	e := entry{binary.LittleEndian.Uint64(rec[wire.HeaderTime:]), uint32(len(m.arena)), uint32(len(rec))}
	m.arena = append(m.arena, rec...)
	m.arena = append(m.arena, padding[:-len(rec)&7]...)
	if e.time < m.latest {
		m.late++
	}
	m.insert(e)
	return true
}

// padding keeps records at multiples of 8.
var padding [8]byte

// insert puts e behind all entries that are not later, so that records of
// one time stay in the order of the ring.
func (m *Merger) insert(e entry) {
	m.entries = append(m.entries, e)
	i := len(m.entries) - 1
	for stop := i - maxShift; i > 0 && m.entries[i-1].time > e.time; i-- {
		if i == stop {
			m.unsorted = true
			break
		}
		m.entries[i] = m.entries[i-1]
	}
	m.entries[i] = e
}

// Held is the number of records that wait.
func (m *Merger) Held() int { return len(m.entries) }

// Size is how many bytes it takes, also for records that are yet to come.
func (m *Merger) Size() int {
	return cap(m.arena) + cap(m.spare) + cap(m.entries)*int(unsafe.Sizeof(entry{}))
}

// Late is the number of records that were delivered after later ones.
func (m *Merger) Late() uint64 { return m.late }

// Flush calls f with the records whose time is at most until, in order, until
// it returns false; the rest stays held. A record is valid, and may be
// changed, during the call only. f must not use the Merger.
func (m *Merger) Flush(until uint64, f func(rec []byte) bool) {
	if m.unsorted {
		slices.SortStableFunc(m.entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
		m.unsorted = false
	}
	n := 0
	// Deferred so that a panic of f does not deliver records twice.
	defer func() { m.release(n) }()
	for n < len(m.entries) && m.entries[n].time <= until {
		e := m.entries[n]
		m.latest = max(m.latest, e.time)
		n++
		if !f(m.arena[e.off : e.off+e.len : e.off+e.len]) {
			return
		}
	}
}

// release forgets the first n entries and moves what the others hold to the
// front of the other arena.
func (m *Merger) release(n int) {
	if n == 0 {
		return
	}
	rest := m.entries[n:]
	to := m.spare[:0]
	for i, e := range rest {
		rest[i].off = uint32(len(to))
		to = append(to, m.arena[e.off:e.off+(e.len+7)&^7]...)
	}
	m.entries = append(m.entries[:0], rest...)
	m.arena, m.spare = to, m.arena
}
