package attach

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
)

// The counters of sites, mapped into this process: how they are read.

// siteCounters are the counters that programs add to, mapped into this process: mem has n of them, 8 bytes each. mem is
// nil without sites, and once the counters are closed.
type siteCounters struct {
	mem []byte
	n   int
	// last holds the counters once the memory is unmapped.
	last []uint64
}

// count is the counter of site i, also after close.
func (s *siteCounters) count(i int) uint64 {
	switch {
	case s == nil:
		return 0
	case i < len(s.last):
		return s.last[i]
	case i < s.n && s.mem != nil:
		return atomic.LoadUint64((*uint64)(unsafe.Pointer(&s.mem[8*i])))
	}
	return 0
}

// close keeps the last numbers and gives the memory back.
func (s *siteCounters) close() error {
	if s == nil || s.mem == nil {
		return nil
	}
	last := make([]uint64, s.n)
	for i := range last {
		last[i] = s.count(i)
	}
	err := unix.Munmap(s.mem)
	s.mem, s.last = nil, last
	return err
}

// mapSites maps the n counters, a u64 each. They can be the elements of m or,
// because programs reach only the first element of an array without a look-up,
// all lie in one. Without sites there is no map.
func mapSites(m *ebpf.Map, n int) (*siteCounters, error) {
	if n == 0 || m == nil {
		return &siteCounters{}, nil
	}
	if m.ValueSize()%8 != 0 || uint64(m.MaxEntries())*uint64(m.ValueSize()) < uint64(8*n) {
		return nil, fmt.Errorf("map %s has %d entries of %d bytes: too few for %d counters", bpfgen.MapSites,
			m.MaxEntries(), m.ValueSize(), n)
	}
	mem, err := unix.Mmap(m.FD(), 0, 8*n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the counters of losses: %w", err)
	}
	return &siteCounters{mem: mem, n: n}, nil
}
