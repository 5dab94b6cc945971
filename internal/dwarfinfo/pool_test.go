package dwarfinfo

import (
	"bytes"
	"testing"
)

// A library has a thousand units with a table of abbreviations each: what two of them have in common is there once.
func TestTablesShareAbbreviations(t *testing.T) {
	// 1: DW_TAG_base_type with a name (strp) and a size (data1); 2: DW_TAG_const_type, of no type, with a constant.
	first := []byte{1, 0x24, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0, 2, 0x26, 1, 0x1c, 0x21, 5, 0, 0, 0}
	// 1: the second; 2: the first; 3: the second with another constant.
	second := []byte{1, 0x26, 1, 0x1c, 0x21, 5, 0, 0, 2, 0x24, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0,
		3, 0x26, 1, 0x1c, 0x21, 6, 0, 0, 0}
	d := &Data{}
	var tables []*abbreviations
	for _, b := range [][]byte{first, second} {
		table, err := d.pool(4, 8).parse(&cursor{data: b})
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	of := func(table int, code uint64) *abbreviation {
		a, ok := tables[table].of(code)
		if !ok {
			t.Fatalf("table %d has no abbreviation %d", table, code)
		}
		return a
	}
	if of(0, 1) != of(1, 2) || of(0, 2) != of(1, 1) {
		t.Error("abbreviations that are written alike are there twice")
	}
	if of(1, 3) == of(1, 1) || of(1, 3).attrs[0].implicit != 6 {
		t.Errorf("another constant is taken for the same: %+v", of(1, 3))
	}
	wide, err := d.pool(8, 8).parse(&cursor{data: first})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := wide.of(1); a.size != 9 || of(0, 1).size != 5 {
		t.Errorf("an entry with a text at an offset of 8 bytes has %d bytes, with one of 4 bytes %d", a.size,
			of(0, 1).size)
	}
}

// kept is a section in memory.
type kept struct {
	*bytes.Reader
	all []byte
}

func (k kept) Piece(off, n int64) []byte { return k.all[off : off+n : off+n] }

// A section that had to be unpacked is in memory already, and no second time.
func TestUnpackedIsNotCopied(t *testing.T) {
	all := []byte("some bytes")
	s := Section{kept{bytes.NewReader(all), all}, int64(len(all))}
	b, err := s.Bytes(5, 5)
	if err != nil || string(b) != "bytes" || &b[0] != &all[5] {
		t.Errorf("%q, %v, want the bytes themselves", b, err)
	}
	if _, err := s.Bytes(5, 6); err == nil {
		t.Error("bytes behind the end were given")
	}
}
