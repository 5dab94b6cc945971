package session

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
)

// errDumping: the handler that dump() calls has called it again.
var errDumping = errors.New("dump: the events of this probe are being shown; call it from another callback")

// dump gives the events that the kernel has kept to a probe's user half, in the
// order of their times, and gives their number.
func (d *delivery) dump(probe int) (int, error) {
	if d.dumping[probe] {
		return 0, errDumping
	}
	var kept [][]byte
	for part := range d.parts.of(probe) {
		more, err := d.kept(part, probe)
		if err != nil {
			return 0, err
		}
		kept = append(kept, more...)
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
	back, in := d.event.Aside(), d.inEvent
	defer func() { back(); d.inEvent = in }()
	for i, rec := range kept {
		if d.halted() {
			return i, nil
		}
		if r := d.route(rec); r != nil {
			d.hand(r, rec)
		}
	}
	return len(kept), nil
}

// kept takes what is in the queue of a probe. Programs add to it meanwhile, so
// it ends at the number that there was room for.
func (d *delivery) kept(part *part, probe int) (out [][]byte, err error) {
	m := part.loaded.Map(tree.KeepMap(probe))
	if m == nil && part.points(probe) == 0 {
		return nil, nil // it has its points in another part, or waits for some
	}
	if m == nil {
		return nil, fmt.Errorf("the unit has no map for the events of %s", part.plan.ProbeName(probe))
	}
	for range m.MaxEntries() {
		slot := make([]byte, m.ValueSize())
		err := m.LookupAndDelete(nil, slot)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the events that were kept: %w", err)
		}
		if n := binary.NativeEndian.Uint64(slot[len(slot)-8:]); n >= wire.HeaderSize && n <= uint64(len(slot)-8) {
			copy(slot, part.renumber(slot[:n]))
			out = append(out, slot[:n])
		} else {
			d.strays++
		}
	}
	return out, nil
}

// dumpAll shows what was kept for each probe that is loaded.
func (d *delivery) dumpAll() error {
	for _, part := range d.parts.list {
		for _, p := range part.plan.Probes {
			if p.Keep == 0 {
				continue
			}
			if _, err := d.dump(p.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
