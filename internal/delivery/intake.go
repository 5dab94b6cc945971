package delivery

import (
	"math"

	"github.com/startrace/startrace/internal/stream"
)

// How much is taken from the rings at a time (`intakeRoom`), and events that were not handled at the end.

// intakeRoom is how many bytes of a ring are taken at a time:
// what has been taken is held twice, and rings hold the rest.
const intakeRoom = 2 << 20

// TakeSome takes records from the rings into the merger, as many as there is room
// for, and gives the time up to which none is missing. A ring that is ahead of
// another one waits for it.
func (d *Delivery) TakeSome(begin uint64) (settled uint64, err error) {
	settled = begin
	for _, p := range d.run.Parts.All {
		if p.Reader == nil {
			continue
		}
		if !d.run.Parts.Ahead(p) {
			if err := p.TakeSome(intakeRoom, begin, d.Take); err != nil {
				return 0, err
			}
		}
		settled = min(settled, p.Reach())
	}
	return settled, d.run.Frames.Processes.See()
}

// LeaveRest counts what has not been handled, at the end of a run.
func (d *Delivery) LeaveRest() error {
	for {
		d.merger.Flush(math.MaxUint64, func(rec []byte) bool {
			d.leave(rec)
			return true
		})
		if _, err := d.TakeSome(stream.Now()); err != nil {
			return err
		}
		if d.Settled() {
			return nil
		}
	}
}

// Settled reports whether all that was taken has been handled, and nothing is left to take.
func (d *Delivery) Settled() bool { return d.merger.Held() == 0 && !d.run.Parts.Behind() }

// leave counts a record that is not handled.
func (d *Delivery) leave(rec []byte) {
	if r := d.route(rec); r != nil {
		r.left++
	}
}

// Left is how many events of a probe were not handled.
func (d *Delivery) Left(probe int) (n uint64) {
	for i := range d.routes {
		if r := &d.routes[i]; r.record != nil && r.record.Probe == probe {
			n += r.left
		}
	}
	return n
}
