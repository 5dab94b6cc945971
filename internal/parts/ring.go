package parts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
)

// How far the ring of a part has been read, and its records.

// progress is how far the ring of a part has been read, from its first drain on.
type progress struct {
	// latest is the greatest time of a record that was taken, in ns of CLOCK_MONOTONIC.
	latest uint64
	// reach is the time up to which all records have been taken.
	reach uint64
	// behind is set where the last take has left records in the ring, for which there was no room.
	behind bool
}

// before is the time up to which everything is known at a time: a program that took
// its time later may not have sent its record yet.
func before(t uint64) uint64 { return t - min(t, uint64(stream.DrainInterval)) }

// TakeSome takes records from the ring of a part, at the time begin, as many as there is room for in so many bytes.
func (p *Part) TakeSome(room int, begin uint64, take func(p *Part, rec []byte)) (err error) {
	p.behind, err = p.Reader.DrainSome(room, func(rec []byte) {
		if len(rec) >= wire.HeaderSize {
			p.latest = max(p.latest, binary.NativeEndian.Uint64(rec[wire.HeaderTime:]))
		}
		take(p, rec)
	})
	p.reach = before(begin)
	if p.behind {
		p.reach = before(min(begin, p.latest))
	}
	if err != nil {
		return readError(err)
	}
	return nil
}

// Reach is the time up to which all records of the part have been taken, in ns of CLOCK_MONOTONIC.
func (p *Part) Reach() uint64 { return p.reach }

// aheadOf reports whether records of the part would have to wait for those that the ring of another one still holds.
func (p *Part) aheadOf(other *Part) bool {
	return other != p && other.behind && before(p.latest) > other.reach
}

// Drain takes all records from the ring of a part.
func (p *Part) Drain(take func(p *Part, rec []byte)) error {
	if _, err := p.Reader.Drain(math.MaxInt, func(rec []byte) { take(p, rec) }); err != nil {
		return readError(err)
	}
	return nil
}

func readError(err error) error { return fmt.Errorf("read events: %w", err) }

// Renumber gives the record the number that it has in the session.
func (p *Part) Renumber(rec []byte) []byte {
	if p.First == 0 || len(rec) < wire.HeaderSize {
		return rec
	}
	p.renumbered = append(p.renumbered[:0], rec...)
	number := p.renumbered[wire.HeaderNumber:]
	binary.NativeEndian.PutUint32(number, binary.NativeEndian.Uint32(number)+uint32(p.First))
	return p.renumbered
}

// Kept takes what is in the queue of a probe, and counts what no program can have put there. Programs add to it
// meanwhile, so it ends at the number that there was room for.
func (p *Part) Kept(probe int) (out [][]byte, strays uint64, err error) {
	m := p.Loaded.Map(tree.KeepMap(probe))
	if m == nil && p.Points(probe) == 0 {
		return nil, 0, nil // it has its points in another part, or waits for some
	}
	if m == nil {
		return nil, 0, fmt.Errorf("the unit has no map for the events of %s", p.Plan.ProbeName(probe))
	}
	for range m.MaxEntries() {
		slot := make([]byte, m.ValueSize())
		err := m.LookupAndDelete(nil, slot)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the events that were kept: %w", err)
		}
		if n := binary.NativeEndian.Uint64(slot[len(slot)-8:]); n >= wire.HeaderSize && n <= uint64(len(slot)-8) {
			copy(slot, p.Renumber(slot[:n]))
			out = append(out, slot[:n])
		} else {
			strays++
		}
	}
	return out, strays, nil
}
