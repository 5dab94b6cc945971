// Package layout decides how values lie in keys, map values and records: it
// turns types into the layouts of package wire.
//
// The compiler stores by them, the event path and the containers decode by
// them. The rules are those that wire's package comment states.
package layout

import (
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Layouts of keys and of values of tables and cells: offsets, strings, tag bytes for None and FAULT.

// Fixed is the layout of a key: all leaves in order, then the tag bytes. A key of which nothing has a value, as an
// empty record, takes a word all the same: maps have no keys without bytes.
func Fixed(t types.Type) *wire.Fixed {
	p := &placer{}
	w := p.leaves(t)
	p.tags(t, &w)
	return &wire.Fixed{Type: w, Size: max(8, align(p.off, 8))}
}

// Value is the layout of what a table or cell holds. An int takes 8 bytes
// whatever its width: atomic operations of both sides need a whole word.
func Value(t types.Type) *wire.Fixed {
	if t.Kind == types.Int {
		t.Bits = 64
	}
	return Fixed(t)
}

// placer hands out offsets. In a record, strings are references of 4 bytes.
type placer struct {
	off    int
	record bool
	// strings is the room of all strings of a record.
	strings int
	room    int
}

func (p *placer) take(size, alignment int) int {
	p.off = align(p.off, alignment)
	at := p.off
	p.off += size
	return at
}

// leaves places the leaves of t; its tags stay unset (-1).
func (p *placer) leaves(t types.Type) wire.Type {
	w := wire.Type{Label: t.Label, TagOff: -1, MayNone: t.MayNone, MayFault: t.MayFault}
	switch t.Kind {
	case types.None, types.Bot:
		w.Kind = wire.None
	case types.Bool:
		w.Kind = wire.Bool
		p.scalar(&w, 1)
	case types.Int:
		w.Kind, w.Signed = wire.Int, t.Signed
		p.scalar(&w, int(t.Bits)/8)
	case types.Float:
		w.Kind = wire.Float
		p.scalar(&w, int(t.Bits)/8)
	case types.Ptr, types.Mem:
		w.Kind = wire.Pointer
		p.scalar(&w, 8)
	case types.Stack:
		w.Kind = wire.StackID
		p.scalar(&w, 8)
	case types.Str:
		w.Kind = wire.Str
		p.text(&w, t.Cap)
	case types.Bytes:
		w.Kind = wire.Bytes
		p.text(&w, t.Cap+wire.BytesTail)
	case types.Tuple, types.Record:
		p.composite(&w, t)
	}
	return w
}

func (p *placer) composite(w *wire.Type, t types.Type) {
	w.Kind = wire.Tuple
	if t.Kind == types.Record {
		w.Kind, w.Names = wire.Record_, t.Names
	}
	for _, e := range t.Elems {
		w.Elems = append(w.Elems, p.leaves(e))
	}
}

func (p *placer) scalar(w *wire.Type, size int) {
	w.Size = size
	w.Off = p.take(size, size)
}

// text places a string. In a fixed layout its last byte is for the mark; a
// room that a NUL was counted in leaves that byte free.
func (p *placer) text(w *wire.Type, room int) {
	if p.record {
		w.Size = 4
		w.Off = p.take(4, 4)
		p.strings += StringRoom(room)
		p.room = max(p.room, room)
		return
	}
	w.Size = StringRoom(room)
	w.Off = p.take(w.Size, 8)
}

// StringRoom is the bytes that memory for a string of a type with that Cap
// takes, a multiple of 8. A Bytes value may fill its Cap, so that the byte for
// the mark is counted beside it.
func StringRoom(room int) int { return max(8, align(room, 8)) }

// tags places the tag bytes of t and its elements.
func (p *placer) tags(t types.Type, w *wire.Type) {
	if t.Tagged() && w.Kind != wire.Str && w.Kind != wire.Bytes {
		w.TagOff = p.take(1, 1)
	}
	for i := range w.Elems {
		p.tags(t.Elems[i], &w.Elems[i])
	}
}

func align(n, to int) int {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}
