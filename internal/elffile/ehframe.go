package elffile

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Where functions begin and end by .eh_frame, also in stripped files.
//
// Code that exceptions pass through has a table, .eh_frame, which strip leaves: for each function, static ones and
// parts of others too, where it begins and how long it is. The table is a row of entries, each with its length in
// front. A CIE has what several functions share, an FDE is one function:
//
//	CIE  length 4 | 0 4   | version 1 | augmentation, a string | … | 'R': how addresses are written
//	FDE  length 4 | CIE 4 | begin     | length                 | …   CIE counts back from its own place
//
// See "Exception Frames" in the Linux Standard Base. Debian's compilers write addresses as differences of 4 bytes.

// The ways to write an address, DW_EH_PE_.
const (
	ehAbsolute = 0x00
	ehUdata4   = 0x03
	ehSdata4   = 0x0b
	ehSdata8   = 0x0c
	ehRelative = 0x10 // added: to the place of the address itself
)

// Bounded gives the function, or the part of one, that begins at an address, as the table of exceptions knows it:
// without a name. It is for those that no symbol tells of.
func (f *File) Bounded(addr uint64) (Function, bool) {
	if f.bounds == nil {
		f.bounds = f.readBounds()
	}
	byAddr := func(b bounds, addr uint64) int { return cmp.Compare(b.addr, addr) }
	i, found := slices.BinarySearchFunc(f.bounds, addr, byAddr)
	if !found {
		return Function{}, false
	}
	offset, ok := f.Offset(addr)
	return Function{Addr: addr, Size: f.bounds[i].size, Offset: offset, Local: true}, ok
}

// readBounds gives the functions of the table by address. What is malformed, or written as nobody writes it, ends the
// table: there are fewer functions then.
func (f *File) readBounds() []bounds {
	s, ok, err := f.Section(".eh_frame")
	if !ok || err != nil || f.Is32 {
		return []bounds{}
	}
	t := ehTable{data: s.Data, addr: s.Addr, order: f.elf.ByteOrder, found: []bounds{}}
	for at := uint64(0); at+8 <= uint64(len(t.data)); {
		length := uint64(t.order.Uint32(t.data[at:]))
		next := at + 4 + length
		if length < 4 || length == 0xffffffff || next > uint64(len(t.data)) {
			break
		}
		if back := uint64(t.order.Uint32(t.data[at+4:])); back != 0 && back <= at+4 {
			t.function(at+8, next, t.encoding(at+4-back))
		}
		at = next
	}
	slices.SortFunc(t.found, func(a, b bounds) int { return cmp.Compare(a.addr, b.addr) })
	return t.found
}

// ehTable reads .eh_frame.
type ehTable struct {
	data  []byte
	addr  uint64
	order binary.ByteOrder
	found []bounds
}

// function takes the FDE whose begin lies at a place.
func (t *ehTable) function(at, end uint64, encoding byte) {
	begin, size, ok := t.address(at, end, encoding)
	if !ok {
		return
	}
	length, _, ok := t.address(at+size, end, encoding&^ehRelative)
	if ok && length > 0 && length < maxSection {
		t.found = append(t.found, bounds{begin, length})
	}
}

// address reads one, and gives its size in the table.
func (t *ehTable) address(at, end uint64, encoding byte) (value, size uint64, ok bool) {
	size = map[byte]uint64{ehAbsolute: 8, ehUdata4: 4, ehSdata4: 4, ehSdata8: 8}[encoding&^ehRelative]
	if size == 0 || at+size > end {
		return 0, 0, false
	}
	switch encoding &^ ehRelative {
	case ehUdata4:
		value = uint64(t.order.Uint32(t.data[at:]))
	case ehSdata4:
		value = uint64(int64(int32(t.order.Uint32(t.data[at:]))))
	default:
		value = t.order.Uint64(t.data[at:])
	}
	if encoding&ehRelative != 0 {
		value += t.addr + at
	}
	return value, size, true
}

// badEncoding is none of the ways to write an address.
const badEncoding = 0xff

// encoding gives how the functions of a CIE, which begins at a place, write addresses.
func (t *ehTable) encoding(at uint64) byte {
	if at+9 > uint64(len(t.data)) {
		return badEncoding
	}
	end := min(at+4+uint64(t.order.Uint32(t.data[at:])), uint64(len(t.data)))
	if t.order.Uint32(t.data[at+4:]) != 0 || end < at+9 {
		return badEncoding
	}
	rest := t.data[at+9 : end]
	zero := slices.Index(rest, 0)
	if zero < 0 {
		return badEncoding
	}
	augmentation, rest := rest[:zero], rest[zero+1:]
	if len(augmentation) == 0 {
		return ehAbsolute
	}
	if augmentation[0] != 'z' {
		return badEncoding
	}
	for range 4 { // how code and data are aligned, the register of the return address, how long what follows is
		rest = skipLEB(rest)
	}
	return augmented(augmentation[1:], rest)
}

// augmented goes through what the letters of the augmentation stand for, to that of R.
func augmented(letters, rest []byte) byte {
	for _, letter := range letters {
		if len(rest) == 0 {
			return badEncoding
		}
		switch letter {
		case 'R':
			return rest[0]
		case 'L':
			rest = rest[1:]
		case 'P': // a function's address, and before it how it is written
			size := 1 + map[byte]int{ehAbsolute: 8, ehUdata4: 4, ehSdata4: 4, ehSdata8: 8}[rest[0]&0x0f]
			if size == 1 || size > len(rest) {
				return badEncoding
			}
			rest = rest[size:]
		case 'S', 'B': // of frames of signals, of signed return addresses: nothing follows
		default:
			return badEncoding
		}
	}
	return ehAbsolute
}

// skipLEB passes by a number of any length (LEB128).
func skipLEB(rest []byte) []byte {
	for i, b := range rest {
		if b&0x80 == 0 {
			return rest[i+1:]
		}
	}
	return nil
}
