package session

import (
	"encoding/binary"
	"math"

	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
)

// intakeRoom is how many bytes of a ring are taken at a time, unless memory is
// scarcer: what has been taken is held twice, and rings hold the rest.
const intakeRoom = 2 << 20

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

// takeSome takes records from the ring of a part, at the time begin.
func (p *part) takeSome(room int, begin uint64, take func(p *part, rec []byte)) (err error) {
	p.behind, err = p.reader.DrainSome(room, func(rec []byte) {
		if len(rec) >= wire.HeaderSize {
			p.latest = max(p.latest, binary.NativeEndian.Uint64(rec[wire.HeaderTime:]))
		}
		take(p, rec)
	})
	p.reach = before(begin)
	if p.behind {
		p.reach = before(min(begin, p.latest))
	}
	return err
}

// takeSome takes records from the rings into the merger, as many as there is room
// for, and gives the time up to which none is missing. A ring that is ahead of
// another one waits for it.
func (d *delivery) takeSome(begin uint64) (settled uint64, err error) {
	settled = begin
	for _, p := range d.parts.list {
		if p.reader == nil {
			continue
		}
		if !d.ahead(p) {
			if err := p.takeSome(d.room, begin, d.take); err != nil {
				return 0, readError(err)
			}
		}
		settled = min(settled, p.reach)
	}
	return settled, d.frames.Processes.See()
}

// ahead reports whether records of a part would have to wait for those that
// another ring still holds.
func (d *delivery) ahead(p *part) bool {
	for _, other := range d.parts.list {
		if other != p && other.behind && before(p.latest) > other.reach {
			return true
		}
	}
	return false
}

// behind reports whether records were left in some ring, for which there was no room.
func (d *delivery) behind() bool {
	for _, p := range d.parts.list {
		if p.behind {
			return true
		}
	}
	return false
}

// leaveRest counts what has not been handled, at the end of a run.
func (d *delivery) leaveRest() error {
	for {
		d.merger.Flush(math.MaxUint64, func(rec []byte) bool {
			d.leave(rec)
			return true
		})
		if _, err := d.takeSome(stream.Now()); err != nil {
			return err
		}
		if d.merger.Held() == 0 && !d.behind() {
			return nil
		}
	}
}

// leave counts a record that is not handled.
func (d *delivery) leave(rec []byte) {
	if r := d.route(rec); r != nil {
		r.left++
	}
}

// left is how many events of a probe were not handled.
func (d *delivery) left(probe int) (n uint64) {
	for i := range d.routes {
		if r := &d.routes[i]; r.record != nil && r.record.Probe == probe {
			n += r.left
		}
	}
	return n
}
