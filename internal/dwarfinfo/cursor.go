package dwarfinfo

import (
	"bytes"
	"encoding/binary"
)

// Numbers and texts of DWARF: LEB128.

// A cursor reads on in some bytes. What would go beyond them gives 0 and sets failed, so that a caller checks once.
type cursor struct {
	data   []byte
	at     int
	failed bool
}

// take gives the next n bytes.
func (c *cursor) take(n uint64) []byte {
	if c.failed || n > uint64(len(c.data)-c.at) {
		c.failed = true
		return nil
	}
	b := c.data[c.at : c.at+int(n)]
	c.at += int(n)
	return b
}

// number reads a number of 1, 2, 3, 4 or 8 bytes.
func (c *cursor) number(size int) uint64 {
	b := c.take(uint64(size))
	if b == nil {
		return 0
	}
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

// unsigned reads a LEB128 (7.6). More than 64 bits are a fault.
func (c *cursor) unsigned() (v uint64) {
	for shift := uint(0); shift < 64; shift += 7 {
		b := c.number(1)
		v |= b & 0x7f << shift
		if b < 0x80 {
			return v
		}
	}
	c.failed = true
	return 0
}

// signed reads a signed LEB128.
func (c *cursor) signed() int64 {
	var v int64
	for shift := uint(0); shift < 64; shift += 7 {
		b := c.number(1)
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.failed = true
	return 0
}

// text reads up to a NUL.
func (c *cursor) text() []byte {
	n := -1
	if !c.failed {
		n = bytes.IndexByte(c.data[c.at:], 0)
	}
	if n < 0 {
		c.failed = true
		return nil
	}
	return c.take(uint64(n) + 1)[:n]
}
