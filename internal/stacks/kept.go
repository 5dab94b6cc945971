package stacks

import (
	"bytes"
	"errors"

	"github.com/cilium/ebpf"
)

// Stacks copied out of the kernel's table where that gets full.
//
// A program under load has more different stacks than the table in the kernel has room for: each address of a loop is
// one. So user space keeps a copy of each stack of which there is news, in the bytes that it needs (20 frames have 176,
// an entry of the table 1,032), and takes what it has out of the table when that gets full:
//
//	the program puts stack s into the table and tells        table {s}      kept {}
//	user space reads it                                      table {s}      kept {s}
//	many stacks later it deletes what it has                 table {}       kept {s, …}
//	the stack occurs again: the same id, as it is a hash     table {s}      kept {s, …}

// keptStacks are copies of entries of the table.
type keptStacks struct {
	of map[uint64][]byte // by id, up to the last address
	// bytes is what they take, and room how much they may.
	bytes, room int
	// inTable are the ids of those of which there was news since the table was cleared, and most how many these may be.
	inTable []uint64
	most    int
}

const (
	// keptBytes is the least room for kept stacks: some 60,000 of 20 frames.
	keptBytes = 16 << 20
	// keptOverhead is what a stack takes beside its bytes: in maps, and for its process.
	keptOverhead = 100
)

// newKept is for the stacks of a table. It is cleared when a quarter of it is known to be taken: what was not read yet
// must have room, too, as news of it may be late or lost.
func newKept(table *ebpf.Map) keptStacks {
	entries := int(table.MaxEntries())
	return keptStacks{of: map[uint64][]byte{}, most: max(1, entries/4),
		room: max(keptBytes, entries*int(table.ValueSize()))}
}

// keep takes a copy of a stack. Where there is no room, the stack stays in the table.
func (t *Table) keep(id uint64, raw []byte) {
	k := &t.kept
	if k.of[id] == nil {
		need := len(raw) + keptOverhead
		if k.bytes+need > k.room {
			return
		}
		k.bytes += need
		k.of[id] = bytes.Clone(raw)
	}
	if k.inTable = append(k.inTable, id); len(k.inTable) >= k.most {
		t.clear()
	}
}

// clear deletes what is kept from the table.
func (t *Table) clear() {
	for _, id := range t.kept.inTable {
		if err := t.table.Delete(id); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			t.names.messages.Lackf("startrace: make room in the table of stacks: %v", err)
			break
		}
	}
	t.kept.inTable = t.kept.inTable[:0]
}
