package unwind

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/wire"
)

// Where the addresses of a file lie in a process: of a program that lies where it says (no PIE), of one that was moved,
// with several segments of code, and where addresses and places in the file differ.
func TestAreas(t *testing.T) {
	at := func(start, pages, offset uint64) *mapping.Mapping {
		return &mapping.Mapping{Start: start, End: start + pages*wire.UnwindPage, Offset: offset, Code: true}
	}
	file := func(code ...elffile.Segment) *packedFile {
		return &packedFile{extent: extentOf(code), code: code, chunk: 7}
	}
	fixed := file(elffile.Segment{Addr: 0x401000, Offset: 0x1000, Size: 0x1e00})
	moved := file(elffile.Segment{Addr: 0x5120, Offset: 0x3120, Size: 0x2000})
	two := file(elffile.Segment{Addr: 0x1000, Offset: 0x1000, Size: 0x1000},
		elffile.Segment{Addr: 0x9000, Offset: 0x3000, Size: 0x1800})
	for _, c := range []struct {
		name string
		m    *mapping.Mapping
		f    *packedFile
		addr uint64 // in the process
		want uint64 // in the file
		none bool
	}{
		{"fixed", at(0x401000, 2, 0x1000), fixed, 0x401234, 0x401234, false},
		{"moved", at(0x7f0000003000, 3, 0x3000), moved, 0x7f0000003120, 0x5120, false},
		{"a later part", at(0x7f0000004000, 2, 0x4000), moved, 0x7f0000004000, 0x6000, false},
		{"behind the code", at(0x7f0000003000, 9, 0x3000), moved, 0x7f0000006000, 0, true},
		{"before the code", at(0x7f0000001000, 9, 0x1000), moved, 0x7f0000002fff, 0, true},
		{"the first of two", at(0x10000, 9, 0), two, 0x11007, 0x1007, false},
		{"between two", at(0x10000, 9, 0), two, 0x12007, 0, true},
		{"the second of two", at(0x10000, 9, 0), two, 0x13007, 0x9007, false},
		{"another part", at(0x10000, 1, 0x8000), two, 0x10000, 0, true},
	} {
		e, ok := entryIn(encode(areasOf(c.m, c.f)), c.addr)
		switch {
		case ok == c.none:
			t.Errorf("%s: found %v", c.name, ok)
		case ok && c.f.first+(c.addr-e.base) != c.want:
			t.Errorf("%s: %#x is %#x of the file, want %#x", c.name, c.addr, c.f.first+(c.addr-e.base), c.want)
		}
	}
}

// Code without rules is in the table, in one entry where it comes in pieces; what no table can say is not.
func TestTable(t *testing.T) {
	const page = wire.UnwindPage
	table := encode([]area{{start: 9 * page, end: 10 * page}, {start: 5 * page, end: 6 * page, base: 3, chunk: 4},
		{start: 8 * page, end: 9 * page}, {start: 0xffffffffff600000, end: 0xffffffffff601000}})
	for addr, want := range map[uint64]entry{5 * page: {3, 4}, 6*page - 1: {3, 4}, 8 * page: {}, 10*page - 1: {}} {
		if e, ok := entryIn(table, addr); !ok || e != want {
			t.Errorf("%#x: %+v, %v, want %+v", addr, e, ok, want)
		}
	}
	for _, addr := range []uint64{0, 5*page - 1, 6 * page, 10 * page, 0xffffffffff600000, 1<<63 - 1} {
		if e, ok := entryIn(table, addr); ok {
			t.Errorf("%#x: %+v", addr, e)
		}
	}
	if n := binary.NativeEndian.Uint64(table[8*3:]); n != wire.UnwindBehind {
		t.Errorf("the pieces are not one: %#x", n)
	}
}

// Of more mappings than a table holds it has those with rules.
func TestTableFull(t *testing.T) {
	var areas []area
	for i := range uint64(600) {
		a := area{start: (1 + 2*i) * wire.UnwindPage, end: (2 + 2*i) * wire.UnwindPage}
		if i%3 == 0 {
			a.chunk = 1
		}
		areas = append(areas, a)
	}
	table := encode(areas)
	found := 0
	for _, a := range areas {
		_, ok := entryIn(table, a.start)
		if a.chunk != 0 && !ok {
			t.Errorf("%#x has rules and is not in the table", a.start)
		}
		if ok {
			found++
		}
	}
	if found != wire.UnwindMappings-1 {
		t.Errorf("%d areas in the table", found)
	}
}

// Whatever is mapped, and whatever a file says of its segments, walks stay within the file's index.
func FuzzAreas(f *testing.F) {
	f.Add(uint64(1), uint64(0x401000), uint64(0x1000), uint64(0x401000), uint64(0x1000), uint64(0x2345))
	f.Add(uint64(2), uint64(1<<62), uint64(1)<<63, uint64(1)<<63, uint64(1)<<63, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, seed, start, offset, addr, place, size uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		more := func() uint64 { return r.Uint64() >> r.IntN(64) }
		code := []elffile.Segment{{Addr: addr, Offset: place, Size: size},
			{Addr: addr + more(), Offset: place + more(), Size: more()}}
		file := &packedFile{extent: extentOf(code), code: code, chunk: 1}
		var areas []area
		for i := range uint64(1 + r.IntN(400)) {
			m := mapping.Mapping{Start: pageOf(start + i*r.Uint64()>>r.IntN(64)), Offset: pageOf(offset)}
			if m.End = m.Start + wire.UnwindPage*(1+r.Uint64N(1000)); m.End > m.Start {
				areas = append(areas, areasOf(&m, file)...)
			}
		}
		for _, a := range join(areas) {
			if a.end <= a.start {
				t.Fatalf("%+v of %+v", a, file)
			}
			if a.chunk != 0 && (a.end-1-a.base)/wire.UnwindPage >= file.pages {
				t.Fatalf("%+v leads out of the index of %+v", a, file)
			}
		}
		encode(areas)
	})
}
