package python

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/wire"
)

// Names and lines of code of Python, read from a process.

// A Frame is the frame of a function in a stack (wire.StackPython).
type Frame uint64

// IsFrame reports whether an address of a stack is such a frame.
func IsFrame(addr uint64) bool { return addr >= wire.StackPython }

// bits are n of a frame's from a place on.
func (f Frame) bits(from, n int) uint64 { return uint64(f) >> from & (1<<n - 1) }

// Code tells code of a process apart: it is the frame without its instruction.
func (f Frame) Code() Frame { return f &^ (wire.PythonFarAway << wire.PythonPlaceShift) }

// Addr are the lowest reach bits of the address of the code.
func (f Frame) Addr() uint64 { return f.bits(0, wire.PythonPlaceShift) << wire.PythonAlign }

const reach = wire.PythonPlaceShift + wire.PythonAlign

// Place is the number of the instruction; false where it is not known. -1 is before the first one.
func (f Frame) Place() (n int, known bool) {
	n = int(f.bits(wire.PythonPlaceShift, wire.PythonPlaceBits))
	return n - 1, n != wire.PythonFarAway
}

// A Body is what is known of the code of a function.
type Body struct {
	// Name is the function's, File the script's as Python knows it.
	Name, File string
	// First is the number of the first line, and Addr is where the code lies.
	First int
	Addr  uint64
	lines []byte // co_linetable
}

// Bounds of what is read of code.
const (
	mostName  = 1 << 10
	mostFile  = 1 << 12
	mostLines = 1 << 17
)

var errNoCode = errors.New("no code of Python lies there")

// Read reads the code of a frame at an address out of the memory of its process.
func Read(memory io.ReaderAt, f Frame, at uint64) (*Body, error) {
	l, ok := releases[wire.PythonOldest+int(f.bits(wire.PythonVersionShift, wire.PythonVersionBits))]
	if !ok {
		return nil, errNoCode
	}
	r := heap{memory: memory, objects: l.object}
	object := r.bytes(at, l.object.begin)
	identity := r.identity(object)
	if r.err != nil {
		return nil, r.err
	}
	if identity != f.bits(wire.PythonIdentityShift, wire.PythonIdentityBits) {
		return nil, errNoCode // something else lies there by now
	}
	pointer := func(at int) uint64 { return binary.LittleEndian.Uint64(object[at:]) }
	c := &Body{Addr: at, First: int(int32(binary.LittleEndian.Uint32(object[l.object.first:])))}
	c.Name, c.File = r.text(pointer(l.object.name), mostName), r.text(pointer(l.object.file), mostFile)
	if r.err == nil && c.Name == "" {
		r.err = errNoCode
	}
	c.lines = r.string(pointer(l.object.lines), mostLines)
	return c, r.err
}

// A heap reads objects of an interpreter. After an error it reads nothing.
type heap struct {
	memory io.ReaderAt
	objects
	err error
}

func (h *heap) bytes(at uint64, n int) []byte {
	b := make([]byte, n)
	if h.err == nil {
		_, h.err = h.memory.ReadAt(b, int64(at))
	}
	return b
}

// identity is that of code (wire.PythonIdentity).
func (h *heap) identity(object []byte) uint64 {
	word := func(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	line := uint64(binary.LittleEndian.Uint32(object[h.first:]))
	file, name := word(object, h.file), word(object, h.name)
	hash := word(h.bytes(name+wire.PythonHash, 8), 0)
	head := h.bytes(file+wire.PythonLength, 24)
	length, text := word(head, 0), file+uint64(h.wide)
	if word(head, 16)>>wire.PythonASCII&1 != 0 {
		text = file + uint64(h.plain)
	}
	tail := h.bytes(text+length-wire.PythonTail, wire.PythonTail)
	if length < wire.PythonTail {
		clear(tail[:16])
	}
	return wire.PythonIdentity(line, file, name, word(object, h.lines), hash, length, word(tail, 0), word(tail, 8),
		word(tail, 16))
}

// sized is bytes, of at most so many.
func (h *heap) sized(at, n uint64, most int) []byte {
	if n > uint64(most) {
		h.err = errors.Join(h.err, errNoCode)
		return nil
	}
	return h.bytes(at, int(n))
}

// Of a PyVarObject: its length, and where bytes (PyBytesObject) begin.
const (
	lengthAt = 16
	bytesAt  = 32
	stateAt  = 32 // of a PyASCIIObject
)

// string reads an object of bytes.
func (h *heap) string(at uint64, most int) []byte {
	head := h.bytes(at, bytesAt)
	return h.sized(at+bytesAt, binary.LittleEndian.Uint64(head[lengthAt:]), most)
}

// text reads a string, and ends one that has more than most characters with “…”. These have one, two or four bytes
// each.
func (h *heap) text(at uint64, most int) string {
	head := h.bytes(at, stateAt+4)
	state := binary.LittleEndian.Uint32(head[stateAt:])
	length, size := binary.LittleEndian.Uint64(head[lengthAt:]), uint64(state>>2&7)
	begin := h.wide
	if compact, ascii := state>>5&1, state>>6&1; compact == 0 || size != 1 && size != 2 && size != 4 {
		h.err = errors.Join(h.err, errNoCode)
	} else if ascii == 1 {
		begin = h.plain
	}
	end := ""
	if length > uint64(most) {
		length, end = uint64(most), "…"
	}
	raw := h.sized(at+uint64(begin), length*size, 4*most)
	if h.err != nil {
		return ""
	}
	return decode(raw, int(size)) + end
}

// decode gives the text of characters of a size.
func decode(raw []byte, size int) string {
	var out []byte
	for ; len(raw) >= size; raw = raw[size:] {
		wide := [4]byte{}
		copy(wide[:], raw[:size])
		out = utf8.AppendRune(out, rune(binary.LittleEndian.Uint32(wide[:])))
	}
	return string(out)
}

// The kinds of entries of a table of lines (Objects/locations.md of CPython).
const (
	shortEntries = 10 // below: on the line of the entry before
	oneLine      = 10 // 10 to 12: 0 to 2 lines more
	noColumns    = 13
	longEntry    = 14
	noPlace      = 15
)

// Line gives the line of an instruction; 0 where it is of none.
func (c *Body) Line(place int) int {
	if place < 0 {
		return c.First
	}
	t, line := table(c.lines), c.First
	for len(t) > 0 {
		head := t.next()
		kind, length := head>>3&15, int(head&7)+1
		switch {
		case kind < shortEntries:
			t.next()
		case kind < noColumns:
			line += int(kind - oneLine)
			t.next()
			t.next()
		case kind == noColumns:
			line += t.signed()
		case kind == longEntry:
			line += t.signed()
			for range 3 {
				t.number()
			}
		}
		if place < length {
			if kind == noPlace {
				return 0
			}
			return line
		}
		place -= length
	}
	return 0
}

// A table is what is left of a table of lines.
type table []byte

// next takes a byte, 0 behind the end.
func (t *table) next() byte {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return b
}

// number takes one of 6 bits a byte, the lowest first.
func (t *table) number() (n uint32) {
	for shift := 0; ; shift += 6 {
		b := t.next()
		if n |= uint32(b&63) << shift; b&64 == 0 {
			return n
		}
	}
}

// signed takes a number whose lowest bit is its sign.
func (t *table) signed() int {
	n := t.number()
	if n&1 != 0 {
		return -int(n >> 1)
	}
	return int(n >> 1)
}
