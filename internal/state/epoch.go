package state

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Which bank of values programs fill, switched.

// An epoch says which bank of a container's values programs fill: each reads
// its word, then adds to the first bank if it is even, else to the second. A
// program that read the old word may still be running when the word has
// changed; a grace period later none is.
type epoch struct {
	mem  []byte
	word *uint64
	size int // of a bank
	// settled says that no program runs any more.
	settled bool
}

// newEpoch maps the word of a container; nil where its values have no banks.
func newEpoch(c *tree.Container, epochs *ebpf.Map) (*epoch, error) {
	if c.Agg == nil || c.Agg.Banks < 2 {
		return nil, nil
	}
	if epochs == nil {
		return nil, errors.New("its values have banks, but there are no epochs")
	}
	size, at := int(epochs.ValueSize()), 8*c.ID
	if c.ID < 0 || at+8 > size {
		return nil, fmt.Errorf("no epoch at %d of %d bytes", at, size)
	}
	mem, err := unix.Mmap(epochs.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the epochs: %w", err)
	}
	return &epoch{mem: mem, word: (*uint64)(unsafe.Pointer(&mem[at])), size: c.Agg.Size}, nil
}

// Switch makes programs fill the other bank and gives the number of the old
// one when none fills it any more.
func (e *epoch) Switch() (old int, err error) {
	old = int(atomic.LoadUint64(e.word) & 1)
	atomic.AddUint64(e.word, 1)
	if e.settled {
		return old, nil
	}
	return old, bpf.WaitForPrograms()
}

func (e *epoch) close() error {
	if e == nil || e.mem == nil {
		return nil
	}
	mem := e.mem
	e.mem = nil
	return unix.Munmap(mem)
}

// A bankedTable and a bankedCell are containers with an epoch.
type bankedTable struct {
	*table
	*epoch
}

// ClearBank makes one bank of an entry zero.
func (h *bankedTable) ClearBank(key []byte, bank int) error {
	_, err := h.run(opClear, key, bank, 0)
	return err
}

func (h *bankedTable) Settle() {
	h.epoch.settled = true
	h.table.Settle()
}

func (h *bankedTable) Close() error { return errors.Join(h.table.Close(), h.epoch.close()) }

type bankedCell struct {
	*cell
	*epoch
}

// ClearBank makes one bank zero.
func (h *bankedCell) ClearBank(_ []byte, bank int) error {
	for off := bank * h.size; off < (bank+1)*h.size; off += 8 {
		atomic.StoreUint64(h.cell.word(off), 0)
	}
	return nil
}

func (h *bankedCell) Settle() { h.epoch.settled = true }

func (h *bankedCell) Close() error { return errors.Join(h.cell.Close(), h.epoch.close()) }
