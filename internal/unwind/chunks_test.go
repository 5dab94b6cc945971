package unwind

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// randomRows are rows of some pages of code from an address on: close together, far from each other, at the beginnings
// of pages, and of code of which nothing is known.
func randomRows(r *rand.Rand, first, pages uint64) (rows []cfi.Row) {
	for at := first + r.Uint64N(3*wire.UnwindPage); at < first+pages*wire.UnwindPage; {
		rule := uint32(wire.UnwindSP | (1+r.IntN(50))<<11)
		if r.IntN(10) == 0 {
			rule = wire.UnwindNone
		}
		rows = append(rows, cfi.Row{Addr: at, Rule: rule})
		switch at += 1 + r.Uint64N(1<<r.IntN(12)); r.IntN(100) {
		case 0:
			at += r.Uint64N(40 * wire.UnwindPage)
		case 1, 2:
			at = pageOf(at) + wire.UnwindPage
		}
	}
	return rows
}

// ruleOf is what rows say of an address.
func ruleOf(rows []cfi.Row, addr uint64) uint32 {
	i := sort.Search(len(rows), func(i int) bool { return rows[i].Addr > addr })
	if i == 0 {
		return wire.UnwindNone
	}
	return rows[i-1].Rule
}

// The rule of each address is found by the kernel's search: around all rows and at the ends of all pages.
func TestPackedRules(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		e := extent{first: r.Uint64N(1<<40) * wire.UnwindPage, pages: 1 + r.Uint64N(2*wire.UnwindPages)}
		rows := randomRows(r, e.first, e.pages)
		chunks := pack(rows, e)
		check := func(addr uint64) {
			if addr < e.first || addr-e.first >= e.pages*wire.UnwindPage {
				return
			}
			if got, want := ruleIn(chunks, uint32(addr-e.first)), ruleOf(rows, addr); got != want {
				t.Fatalf("rule at %#x of %+v: %#x, want %#x", addr, e, got, want)
			}
		}
		for _, row := range rows {
			check(row.Addr - 1)
			check(row.Addr)
			check(row.Addr + 1)
		}
		for page := range e.pages {
			check(e.first + page*wire.UnwindPage)
			check(e.first + (page+1)*wire.UnwindPage - 1)
		}
	}
}

// A page with more rows than a chunk holds has none, and the pages behind it have theirs. As many as a chunk holds are
// no problem, if the first one is at the first byte.
func TestPackedCrowd(t *testing.T) {
	for _, c := range []struct {
		rows int // in page 1
		from uint64
		want uint32
	}{
		{wire.UnwindRows, wire.UnwindPage, wire.UnwindFP}, {wire.UnwindRows + 1, wire.UnwindPage, wire.UnwindNone},
		{wire.UnwindRows, wire.UnwindPage + 1, wire.UnwindNone},
		{wire.UnwindRows - 1, wire.UnwindPage + 1, wire.UnwindFP},
	} {
		rows := []cfi.Row{{Addr: 0, Rule: wire.UnwindSP}}
		for i := range c.rows {
			rows = append(rows, cfi.Row{Addr: c.from + uint64(i), Rule: wire.UnwindFP})
		}
		chunks := pack(rows, extent{pages: 4})
		for place, want := range map[uint32]uint32{5: wire.UnwindSP, wire.UnwindPage + 9: c.want,
			2 * wire.UnwindPage: wire.UnwindFP, 3*wire.UnwindPage + 7: wire.UnwindFP} {
			if got := ruleIn(chunks, place); got != want {
				t.Errorf("%d rows from %#x on: rule %d at %#x, want %d", c.rows, c.from, got, place, want)
			}
		}
	}
}

// A file without rows has an index alone, without code nothing.
func TestPackedNothing(t *testing.T) {
	if n := len(pack(nil, extent{pages: 3})); n != wire.UnwindChunk {
		t.Errorf("%d bytes for three pages without rules", n)
	}
	if n := len(pack([]cfi.Row{{Addr: 1, Rule: wire.UnwindSP}}, extent{})); n != 0 {
		t.Errorf("%d bytes for no pages", n)
	}
}

// The extent holds all segments of code, as far as places reach, whatever a file claims.
func TestExtent(t *testing.T) {
	const page = wire.UnwindPage
	for _, c := range []struct {
		code []elffile.Segment
		want extent
	}{
		{nil, extent{}},
		{[]elffile.Segment{{Addr: 0x401234, Size: 1}}, extent{0x401000, 1}},
		{[]elffile.Segment{{Addr: 0x8fff, Size: 2}, {Addr: 0x3000, Size: page}}, extent{0x3000, 7}},
		{[]elffile.Segment{{Addr: 0, Size: 1 << 40}}, extent{0, mostPages}},
		{[]elffile.Segment{{Addr: 1 << 63, Size: 1 << 63}, {Addr: 1 << 63, Size: page}}, extent{1 << 63, 1}},
		{[]elffile.Segment{{Addr: 5, Size: 1<<64 - 1}}, extent{0, 0}},
	} {
		if got := extentOf(c.code); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.code, got, c.want)
		}
	}
}
