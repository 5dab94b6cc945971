package unwind

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/wire"
)

// What of a mapping is in a table.

// An area is code of a process that lies in one run of chunks, or that has no rules.
type area struct {
	// start is the address of its first byte, end that of the byte behind it: whole pages.
	start, end uint64
	// base is the address of the file's first page (extent), were that mapped as this area is. It wraps below 0.
	base uint64
	// chunk is the file's first one, 0: no rules, wire.UnwindPending: they are not there yet.
	chunk uint32
	// ask: the kernel is asked which file is mapped there now.
	ask bool
}

// A packed file is its rows in chunks.
type packedFile struct {
	extent
	// code are the segments of code.
	code []elffile.Segment
	// chunk is the first one of the file's, 0: it has no rules.
	chunk uint32
	// before is how many bytes before its first page belong to it: a return address is looked up one byte before the
	// place to which it leads.
	before uint64
	// python is the interpreter in it; nil: there is none.
	python *python.Interpreter
	// pending: it is being read.
	pending bool
}

// areasOf gives what a mapping of a file comes to: of each segment of code that it shows the part that the file has
// rules for. Without rules it is one area. A segment is mapped in whole pages; its address and its place in the file
// have the same remainder.
func areasOf(m *mapping.Mapping, f *packedFile) (list []area) {
	if f != nil && f.pending {
		return []area{{start: m.Start, end: m.End, chunk: wire.UnwindPending}}
	}
	if f == nil || f.chunk == 0 {
		return []area{{start: m.Start, end: m.End}}
	}
	for _, s := range f.code {
		from := pageOf(s.Offset)
		to := from + f.bytes(s)
		if to <= from || to <= m.Offset || from >= m.Offset && from-m.Offset >= m.End-m.Start {
			continue
		}
		base := m.Start - m.Offset + from - pageOf(s.Addr) + f.first
		a := area{start: m.Start, end: m.End, chunk: f.chunk, base: base}
		if from > m.Offset {
			a.start += from - m.Offset
		}
		if to-m.Offset < m.End-m.Start {
			a.end = m.Start + (to - m.Offset)
		}
		a.start, a.end, a.base = a.start-f.before, a.end-f.before, a.base-f.before
		list = append(list, a)
	}
	return list
}

// bytes is how much of the pages of a segment lies within the extent.
func (e extent) bytes(s elffile.Segment) uint64 {
	begin := pageOf(s.Addr) - e.first
	end, ok := pageAfter(s.Addr, s.Size)
	if most := e.pages * wire.UnwindPage; ok && begin < most {
		return min(end-e.first, most) - begin
	}
	return 0
}

// pages is how many pages the area has.
func (a area) pages() uint32 { return uint32(min((a.end-a.start)/wire.UnwindPage, wire.UnwindAsk-1)) }

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
		pages := a.pages()
		if a.ask {
			pages |= wire.UnwindAsk
		}
		order.PutUint32(e[wire.UnwindEntryPages:], pages)
		order.PutUint32(e[wire.UnwindEntryChunk:], a.chunk)
	}
	return b
}

// encodePython writes where the interpreter of a file keeps its frames, of which one area is known, into a table.
func encodePython(table []byte, f *packedFile, a area) {
	loaded := a.base + f.before - f.first
	for i, word := range f.python.Words(loaded) {
		binary.NativeEndian.PutUint64(table[wire.UnwindPython+8*i:], word)
	}
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
		if n := len(out); n > 0 && out[n-1].end == a.start && out[n-1].chunk == a.chunk && out[n-1].ask == a.ask &&
			(a.chunk == 0 || a.chunk == wire.UnwindPending || out[n-1].base == a.base) {
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
