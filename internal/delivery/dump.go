package delivery

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/startrace/startrace/internal/callback"
	"github.com/startrace/startrace/internal/wire"
)

// dump() of a probe with keep=: the events that the kernel has kept.

// errDumping: the handler that dump() calls has called it again.
var errDumping = errors.New("dump: the events of this probe are being shown; call it from another callback")

// Dump gives the events that the kernel has kept to a probe's user half, in the order of their times, and gives their
// number. The exit() of a user half ends the callback that has called dump(), too.
func (d *Delivery) Dump(probe int) (int, error) {
	if d.dumping[probe] {
		return 0, errDumping
	}
	var kept [][]byte
	for part := range d.run.Parts.Of(probe) {
		more, strays, err := part.Kept(probe)
		if err != nil {
			return 0, err
		}
		kept, d.strays = append(kept, more...), d.strays+strays
	}
	if len(kept) == 0 {
		return 0, nil
	}
	slices.SortStableFunc(kept, func(a, b []byte) int {
		return cmp.Compare(binary.NativeEndian.Uint64(a[wire.HeaderTime:]),
			binary.NativeEndian.Uint64(b[wire.HeaderTime:]))
	})
	d.dumping[probe] = true
	defer delete(d.dumping, probe)
	// The caller may be a handler, whose event comes back afterwards.
	back, in := d.run.Event.Aside(), d.inEvent
	defer func() { back(); d.inEvent = in }()
	for i, rec := range kept {
		if d.run.Halted() {
			return i, nil
		}
		if r := d.route(rec); r != nil {
			if err := d.hand(r, rec); err != nil {
				return i + 1, err
			}
		}
	}
	return len(kept), nil
}

// DumpAll shows what was kept for each probe that is loaded.
func (d *Delivery) DumpAll() error {
	for _, part := range d.run.Parts.All {
		for _, p := range part.Plan.Probes {
			if p.Keep == 0 {
				continue
			}
			if _, err := d.Dump(p.ID); err != nil && callback.Exit(err) == nil {
				return err
			}
		}
	}
	return nil
}
