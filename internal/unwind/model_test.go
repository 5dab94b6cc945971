package unwind

import (
	"encoding/binary"

	"github.com/startrace/startrace/internal/wire"
)

// ruleIn finds the rule of a place as programs do: by the index, then by steps without a branch for the end.
func ruleIn(chunks []byte, place uint32) uint32 {
	page := place / wire.UnwindPage
	chunk := int(binary.NativeEndian.Uint16(chunks[2*page:]))
	if chunk == 0 {
		return wire.UnwindNone
	}
	rows := chunks[chunk*wire.UnwindChunk:][:wire.UnwindChunk]
	at := 0
	for step := wire.UnwindRows / 2; step > 0; step /= 2 {
		if binary.NativeEndian.Uint32(rows[4*(at+step):]) <= place {
			at += step
		}
	}
	return binary.NativeEndian.Uint32(rows[wire.UnwindChunk/2+4*at:])
}

// An entry is what a table says of an address.
type entry struct {
	base  uint64
	chunk uint32
}

// entryIn finds the mapping of an address as programs do; false where none has it.
func entryIn(table []byte, addr uint64) (e entry, ok bool) {
	order := binary.NativeEndian
	at := 0
	for step := wire.UnwindMappings / 2; step > 0; step /= 2 {
		if int64(order.Uint64(table[8*(at+step):])) <= int64(addr) {
			at += step
		}
	}
	b := table[wire.UnwindEntries+wire.UnwindEntrySize*at:]
	pages := (addr - order.Uint64(table[8*at:])) / wire.UnwindPage
	if pages >= uint64(order.Uint32(b[wire.UnwindEntryPages:])) {
		return entry{}, false
	}
	return entry{order.Uint64(b[wire.UnwindEntryBase:]), order.Uint32(b[wire.UnwindEntryChunk:])}, true
}

// known is the kind of a rule.
func known(rule uint32) uint32 { return rule & (1<<wire.UnwindKindBits - 1) }
