package unwind

import (
	"encoding/binary"
	"math"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Rows of a file packed into chunks.

// An extent is the pages of a file that may have code: from the address of the first one on.
type extent struct{ first, pages uint64 }

// mostPages is how much code of a file has rules: places are numbers of 32 bits, of which the last one means none.
const mostPages = 1<<32/wire.UnwindPage - 1

// extentOf is from the first segment of code to the end of the last one, or as far as places reach. A file without code
// has no pages.
func extentOf(code []elffile.Segment) (e extent) {
	if len(code) == 0 {
		return e
	}
	e.first = math.MaxUint64
	for _, s := range code {
		e.first = min(e.first, pageOf(s.Addr))
	}
	for _, s := range code {
		if end, ok := pageAfter(s.Addr, s.Size); ok {
			e.pages = max(e.pages, min((end-e.first)/wire.UnwindPage, mostPages))
		}
	}
	return e
}

func pageOf(addr uint64) uint64 { return addr &^ (wire.UnwindPage - 1) }

// pageAfter is the first page behind size bytes at an address; false where there is none.
func pageAfter(addr, size uint64) (end uint64, ok bool) {
	const last = wire.UnwindPage - 1
	if end = addr + size + last; end < addr || size > math.MaxUint64-last {
		return 0, false
	}
	return pageOf(end), true
}

// pack gives the chunks of a file one behind another: its index, then the rows, which are sorted by address.
func pack(rows []cfi.Row, e extent) []byte {
	index := int((e.pages + wire.UnwindPages - 1) / wire.UnwindPages)
	p := packer{chunks: make([]byte, index*wire.UnwindChunk, (index+chunksOf(len(rows)))*wire.UnwindChunk)}
	for len(rows) > 0 && rows[0].Addr < e.first {
		p.rule, rows = rows[0].Rule, rows[1:]
	}
	for page := range e.pages {
		n := 0
		for n < len(rows) && rows[n].Addr-e.first < (page+1)*wire.UnwindPage {
			n++
		}
		p.page(page, rows[:n], e.first)
		rows = rows[n:]
	}
	return p.chunks
}

// chunksOf is about how many chunks rows take. A page whose rows have no room in the last chunk begins another one, so
// that an eighth stays free.
func chunksOf(rows int) int { return rows/(wire.UnwindRows/8*7) + 1 }

// A packer puts the rows of one page after another into chunks.
type packer struct {
	chunks []byte
	// full is how many rows the last chunk has. It is not looked at as long as open is not set.
	full int
	// open is set where the next page can be put into the last chunk: it goes on where that ends.
	open bool
	// rule is the one that holds at the end of the pages so far.
	rule uint32
}

// page puts in the rows of a page. Code of which nothing is known has no chunk, and neither has a page with more rows
// than one can hold.
func (p *packer) page(page uint64, rows []cfi.Row, first uint64) {
	start := page * wire.UnwindPage
	if len(rows) == 0 && p.rule == wire.UnwindNone {
		return
	}
	begins := len(rows) > 0 && rows[0].Addr-first == start
	if !p.open || p.full+len(rows) > wire.UnwindRows {
		if p.begin(); !begins {
			p.row(uint32(start), p.rule)
		}
	}
	if p.open = p.full+len(rows) <= wire.UnwindRows; p.open {
		for _, r := range rows {
			p.row(uint32(r.Addr-first), r.Rule)
		}
		number := len(p.chunks)/wire.UnwindChunk - 1
		binary.NativeEndian.PutUint16(p.chunks[2*page:], uint16(number))
	} else {
		p.chunks = p.chunks[:len(p.chunks)-wire.UnwindChunk]
	}
	if len(rows) > 0 {
		p.rule = rows[len(rows)-1].Rule
	}
}

// begin adds a chunk without rows.
func (p *packer) begin() {
	places := len(p.chunks)
	p.chunks = append(p.chunks, make([]byte, wire.UnwindChunk)...)
	for i := range wire.UnwindChunk / 2 {
		p.chunks[places+i] = 0xff
	}
	p.full = 0
}

// row adds one to the last chunk.
func (p *packer) row(place, rule uint32) {
	chunk := p.chunks[len(p.chunks)-wire.UnwindChunk:]
	binary.NativeEndian.PutUint32(chunk[4*p.full:], place)
	binary.NativeEndian.PutUint32(chunk[wire.UnwindChunk/2+4*p.full:], rule)
	p.full++
}
