package state

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// Options says what containers cannot know by themselves.
type Options struct {
	// FuncID finds a function in the kernel's BTF. It is called only where Each
	// needs a map iterator: on 5.10, and for maps of more than 16 MB.
	FuncID func(name string) (kernel.TypeID, error)
}

// A Container is a container in a kernel map. The map belongs to the caller
// and stays open until Close.
type Container interface {
	value.Backend
	// Settle says that no program runs any more: Each may use system calls.
	Settle()
	// Close releases what the container has made; the map stays.
	Close() error
}

// New binds the container c to its map m.
func New(c *tree.Container, m *ebpf.Map, o Options) (Container, error) {
	val, key := c.ValueLayout, c.KeyLayout
	if m.Type() == ebpf.Array {
		key = nil
	}
	if err := checkSizes(m, key, val); err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Kind, c.Name, err)
	}
	switch m.Type() {
	case ebpf.Array:
		return newCell(m, val)
	case ebpf.Hash, ebpf.LRUHash:
		return newTable(m, key, val, o), nil
	}
	return nil, fmt.Errorf("%s %q: cannot be in a map of type %s", c.Kind, c.Name, m.Type())
}

// maxEntry bounds a key and a value together: offsets in programs have 16
// bits, and map iterators hand out at most 8 pages at once.
const maxEntry = 1<<15 - 8

// checkSizes makes sure that layouts and map agree, since offsets of the
// layouts become addresses. Keys and values are whole words.
func checkSizes(m *ebpf.Map, key, val *wire.Fixed) error {
	switch {
	case val == nil || val.Size == 0 || val.Size%8 != 0 || int(m.ValueSize()) != val.Size:
		return fmt.Errorf("the layout of values does not fit the map's %d bytes", m.ValueSize())
	case m.Type() != ebpf.Array && (key == nil || key.Size == 0 || key.Size%8 != 0 || int(m.KeySize()) != key.Size):
		return fmt.Errorf("the layout of keys does not fit the map's %d bytes", m.KeySize())
	case m.KeySize()+m.ValueSize() > maxEntry:
		return fmt.Errorf("entries of %d bytes are too large; at most %d are possible", m.KeySize()+m.ValueSize(), maxEntry)
	}
	return nil
}
