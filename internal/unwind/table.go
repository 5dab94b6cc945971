package unwind

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/internal/wire"
)

// encode gives the table of areas.
func encode(areas []area) []byte {
	areas = choose(join(areas))
	b := make([]byte, wire.UnwindTable)
	order := binary.NativeEndian
	for i := 1; i < wire.UnwindMappings; i++ {
		if i > len(areas) {
			order.PutUint64(b[8*i:], wire.UnwindBehind)
			continue
		}
		a := areas[i-1]
		order.PutUint64(b[8*i:], a.start)
		e := b[wire.UnwindEntries+wire.UnwindEntrySize*i:]
		order.PutUint64(e[wire.UnwindEntryBase:], a.base)
		order.PutUint32(e[wire.UnwindEntryPages:], a.pages())
		order.PutUint32(e[wire.UnwindEntryChunk:], a.chunk)
	}
	return b
}

// join sorts areas by address, without those of the kernel's half of the addresses (vsyscall), and makes one of those
// that are pieces of one: programs that make code ask for it piece by piece, and the protection of some pages divides
// the code of a file.
func join(areas []area) (out []area) {
	areas = slices.DeleteFunc(slices.Clone(areas), func(a area) bool {
		return a.start >= wire.UnwindBehind || a.pages() == 0
	})
	slices.SortStableFunc(areas, func(a, b area) int { return cmp.Compare(a.start, b.start) })
	for _, a := range areas {
		if n := len(out); n > 0 && out[n-1].end == a.start && out[n-1].chunk == a.chunk &&
			(a.chunk == 0 || out[n-1].base == a.base) {
			out[n-1].end = a.end
		} else if n == 0 || out[n-1].start < a.start {
			out = append(out, a)
		}
	}
	return out
}

// choose gives as many areas as a table holds, by address: those with rules first, then the longest.
func choose(areas []area) []area {
	const room = wire.UnwindMappings - 1
	if len(areas) <= room {
		return areas
	}
	slices.SortStableFunc(areas, func(a, b area) int {
		return cmp.Or(cmp.Compare(min(b.chunk, 1), min(a.chunk, 1)), cmp.Compare(b.pages(), a.pages()))
	})
	areas = areas[:room]
	slices.SortFunc(areas, func(a, b area) int { return cmp.Compare(a.start, b.start) })
	return areas
}
