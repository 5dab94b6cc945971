package cfi

import "encoding/binary"

// Numbers, addresses and texts read from the bytes of a section.

// A cursor goes through the bytes from at to end of a section. What is read behind the end is 0, and sets bad.
type cursor struct {
	data    []byte
	at, end int
	bad     bool
}

// take passes by n bytes, and gives their place; false where there are fewer.
func (c *cursor) take(n int) (at int, ok bool) {
	if n > c.end-c.at {
		c.at, c.bad = c.end, true
		return 0, false
	}
	at = c.at
	c.at += n
	return at, true
}

func (c *cursor) u8() byte {
	if c.at >= c.end {
		c.bad = true
		return 0
	}
	c.at++
	return c.data[c.at-1]
}

func (c *cursor) u16() uint16 {
	at, ok := c.take(2)
	if !ok {
		return 0
	}
	return binary.LittleEndian.Uint16(c.data[at:])
}

func (c *cursor) u32() uint32 {
	at, ok := c.take(4)
	if !ok {
		return 0
	}
	return binary.LittleEndian.Uint32(c.data[at:])
}

func (c *cursor) u64() uint64 {
	at, ok := c.take(8)
	if !ok {
		return 0
	}
	return binary.LittleEndian.Uint64(c.data[at:])
}

// uleb and sleb read numbers of any length (LEB128); bits above the 64th are left out.
func (c *cursor) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := c.u8()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (c *cursor) sleb() (v int64) {
	for shift := 0; ; {
		b := c.u8()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// block passes by bytes that have their number in front, and gives them as a cursor.
func (c *cursor) block() cursor {
	n := c.uleb()
	if n > uint64(c.end-c.at) {
		c.at, c.bad = c.end, true
		return cursor{bad: true}
	}
	at := c.at
	c.at += int(n)
	return cursor{data: c.data, at: at, end: c.at}
}

// text reads a string that a byte 0 ends.
func (c *cursor) text() string {
	at := c.at
	for c.u8() != 0 {
	}
	if c.bad {
		return ""
	}
	return string(c.data[at : c.at-1])
}

// How an address is written, DW_EH_PE_: the low bits are its form, the ones above what is added to it.
const (
	formAbsolute = 0x00 // as many bytes as a register has: 8
	formULEB     = 0x01
	formUdata2   = 0x02
	formUdata4   = 0x03
	formUdata8   = 0x04
	formSigned   = 0x08
	formSLEB     = 0x09
	formSdata2   = 0x0a
	formSdata4   = 0x0b
	formSdata8   = 0x0c
	formBits     = 0x0f

	// addPlace adds the place of the address itself. The others are refused: they count from what only the loader knows
	// (the data of the file), or are the place at which the address stands.
	addPlace = 0x10
	addBits  = 0xf0
)

// number reads one that is written in a form; false where there is no such form.
func (c *cursor) number(form byte) (v uint64, ok bool) {
	switch form & formBits {
	case formAbsolute, formUdata8, formSigned, formSdata8:
		return c.u64(), true
	case formULEB:
		return c.uleb(), true
	case formUdata2:
		return uint64(c.u16()), true
	case formUdata4:
		return uint64(c.u32()), true
	case formSLEB:
		return uint64(c.sleb()), true
	case formSdata2:
		return uint64(int64(int16(c.u16()))), true
	case formSdata4:
		return uint64(int64(int32(c.u32()))), true
	}
	return 0, false
}

// address reads one of a section that is loaded at base; false where it is written in a way that is refused.
func (c *cursor) address(encoding byte, base uint64) (uint64, bool) {
	place := base + uint64(c.at)
	v, ok := c.number(encoding)
	switch encoding & addBits {
	case 0:
		return v, ok
	case addPlace:
		return v + place, ok
	}
	return 0, false
}
