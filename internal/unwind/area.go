package unwind

import (
	"math"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/wire"
)

// An area is code of a process that lies in one run of chunks, or that has no rules.
type area struct {
	// start is the address of its first byte, end that of the byte behind it: whole pages.
	start, end uint64
	// base is the address of the file's first page (extent), were that mapped as this area is. It wraps below 0.
	base uint64
	// chunk is the file's first one, 0: no rules.
	chunk uint32
}

// A packed file is its rows in chunks.
type packedFile struct {
	extent
	// code are the segments of code.
	code []elffile.Segment
	// chunk is the first one of the file's, 0: it has no rules.
	chunk uint32
}

// areasOf gives what a mapping of a file comes to: of each segment of code that it shows the part that the file has
// rules for. Without rules it is one area. A segment is mapped in whole pages; its address and its place in the file
// have the same remainder.
func areasOf(m *mapping.Mapping, f *packedFile) (list []area) {
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
func (a area) pages() uint32 { return uint32(min((a.end-a.start)/wire.UnwindPage, math.MaxUint32)) }
