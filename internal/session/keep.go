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

// Dump gives the events that the kernel has kept to the probe's user half, in
// the order of their times, and gives their number.
func (c *probeControl) Dump() (int, error) {
	s := c.s
	if s.dumping[c.probe] {
		return 0, errDumping
	}
	var kept [][]byte
	for part := range s.partsOf(c.probe) {
		more, err := s.kept(part, c.probe)
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
	s.dumping[c.probe] = true
	defer delete(s.dumping, c.probe)
	// The caller may be a handler, whose event comes back afterwards.
	back, in := s.event.Aside(), s.inEvent
	defer func() { back(); s.inEvent = in }()
	for i, rec := range kept {
		if s.halted() {
			return i, nil
		}
		if r := s.route(rec); r != nil {
			s.hand(r, rec)
		}
	}
	return len(kept), nil
}

// kept takes what is in the queue of a probe. Programs add to it meanwhile, so
// it ends at the number that there was room for.
func (s *session) kept(part *part, probe int) (out [][]byte, err error) {
	m := part.loaded.Map(tree.KeepMap(probe))
	if m == nil && part.points[probe] == 0 {
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
			s.strays++
		}
	}
	return out, nil
}

// dumpUnasked shows at the end what was kept, where the script never asks.
func (s *session) dumpUnasked() error {
	if s.asked() || s.host.Uses("dump") {
		return nil
	}
	for _, part := range s.parts {
		for _, p := range part.plan.Probes {
			if p.Keep == 0 || part.loaded == nil {
				continue
			}
			if _, err := (&probeControl{s, p.ID}).Dump(); err != nil {
				return err
			}
		}
	}
	return nil
}
