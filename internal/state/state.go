package state

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/starlark/value"
)

// New binds a container to its map.

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
	if err := checkSizes(c, m); err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Kind, c.Name, err)
	}
	e, err := newEpoch(c, o.Epochs)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Kind, c.Name, err)
	}
	switch m.Type() {
	case ebpf.Array:
		return newCellContainer(c, m, e)
	case ebpf.Hash, ebpf.LRUHash:
		t := &table{m: m, key: c.KeyLayout, val: c.ValueLayout, opts: o}
		if e == nil {
			return t, nil
		}
		t.bank = e.size
		return &bankedTable{t, e}, nil
	}
	return nil, errors.Join(fmt.Errorf("%s %q: cannot be in a map of type %s", c.Kind, c.Name, m.Type()), e.close())
}

func newCellContainer(c *tree.Container, m *ebpf.Map, e *epoch) (Container, error) {
	cell, err := newCell(m, c.ValueLayout)
	switch {
	case err != nil:
		return nil, errors.Join(err, e.close())
	case e == nil:
		return cell, nil
	}
	return &bankedCell{cell, e}, nil
}

// maxEntry bounds a key and a value together: offsets in programs have 16
// bits, and map iterators hand out at most 8 pages at once.
const maxEntry = 1<<15 - 8

// checkSizes makes sure that layouts and map agree, since offsets of the
// layouts become addresses. Keys and values are whole words.
func checkSizes(c *tree.Container, m *ebpf.Map) error {
	key, val := 4, 0 // the index of an array has no layout
	if c.KeyLayout != nil {
		key = c.KeyLayout.Size
	}
	switch {
	case c.ValueLayout != nil:
		val = c.ValueLayout.Size
	case c.Agg != nil:
		val = c.Agg.ValueSize()
	}
	switch {
	case (c.KeyLayout == nil) != (m.Type() == ebpf.Array):
		return fmt.Errorf("its key does not fit a map of type %s", m.Type())
	case int(m.KeySize()) != key || c.KeyLayout != nil && (key == 0 || key%8 != 0):
		return fmt.Errorf("keys have %d bytes, those of the map %d", key, m.KeySize())
	case int(m.ValueSize()) != val || val == 0 || val%8 != 0:
		return fmt.Errorf("values have %d bytes, those of the map %d", val, m.ValueSize())
	case key+val > maxEntry:
		return fmt.Errorf("entries of %d bytes are too large; at most %d are possible", key+val, maxEntry)
	}
	return nil
}
