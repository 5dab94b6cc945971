package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Values stored to memory by a layout and loaded from there: keys, map values, records.
//
// Values go to memory by a layout (wire.Type), which says for each leaf at which offset it lies. A key, a value of a
// map and the slots of a span have a fixed layout, in which a string has room for its longest form. A record has
// references to strings in its fixed part, see send.go. The key (e.comm, e.pid) of a table is of 24 bytes:
//
//	offset  0  16 bytes: the name, padded with NULs; the last byte is its mark (wire.StrWhole and so on)
//	       16   4 bytes: e.pid
//	       20   4 zeros
//
// First the leaves are collected: a leaf is a place in the layout and what goes there. Then the words that they do not
// fill are set to zero, for the kernel compares keys byte by byte. Then strings are stored, and then numbers.
//
// A string that was not read yet is read straight to its place, which saves a copy (inPlace). To tell one that was cut
// from one that just fits, one byte more is read than the type has room for. That byte can lie in the next leaf, so
// strings are stored in the order of their offsets, and numbers after all of them.

// A leaf is a part of a layout and what is stored there: the value v of type t, or, where text is set, the read of a
// string that can be done in place. w is its place. A leaf without either stands for the layout alone (valLeaves).
// unread is a text that nobody reads (tree.OpUnread): its first and its last word are cleared, so that it is an empty
// one.
type leaf struct {
	w      wire.Type
	t      types.Type
	v      val
	text   *tree.Expr
	unread bool
}

// stores writes values to memory by a layout, and reads them from there: keys, values of maps, records.
type stores struct{ *code }

// leaves gives f the leaves of a layout with the parts of e, each as soon as its instructions are written. Reads of
// strings that can be done in place are given as reads.
func (b stores) leaves(w wire.Type, t types.Type, e *tree.Expr, f func(leaf)) {
	e = late(b).behind(e)
	switch {
	case (e.Op == tree.OpTuple || e.Op == tree.OpRecord) && w.TagOff < 0 && len(w.Elems) == len(e.Args):
		for i, a := range e.Args {
			b.leaves(w.Elems[i], t.Elems[i], a, f)
		}
	case b.inPlace(e, t):
		f(leaf{w: w, t: t, text: e})
	default:
		valLeaves(w, t, b.convert(b.expr(e), t), f)
	}
}

// collect is leaves as a list.
func (b stores) collect(w wire.Type, t types.Type, e *tree.Expr, out []leaf) []leaf {
	b.leaves(w, t, e, func(l leaf) { out = append(out, l) })
	return out
}

// inPlace reports whether the string e can be read to where it is stored.
func (b stores) inPlace(e *tree.Expr, t types.Type) bool {
	if !isText(e.Type.Kind) || e.Type.Kind != t.Kind || e.Type.Cap != t.Cap {
		return false
	}
	switch e.Op {
	case tree.OpStr, tree.OpMem:
		_, known := b.cache.Get(late(b).readKey(e))
		return !known
	case tree.OpBuiltin:
		_, known := b.cache.Get(e.Str)
		return e.Str == "comm" && t.Cap == 16 && !known
	}
	return false
}

// valLeaves gives f the leaves of a layout of type t with the parts of v. An
// empty v gives leaves without values: what the layout itself says.
func valLeaves(w wire.Type, t types.Type, v val, f func(leaf)) {
	if len(w.Elems) == 0 {
		f(leaf{w: w, t: t, v: v})
		return
	}
	if w.TagOff >= 0 { // the tuple itself may be absent
		tag := w
		tag.Kind, tag.Size, tag.Elems = wire.None, 0, nil
		f(leaf{w: tag, t: t, v: val{t: t, tag: v.tag}})
	}
	for i := range w.Elems {
		var elem val
		if v.elems != nil {
			elem = v.elems[i]
		}
		valLeaves(w.Elems[i], t.Elems[i], elem, f)
	}
}

// fixed stores e in a layout in memory of its own and gives that: a key, or a
// map's value.
func (b stores) fixed(f *wire.Fixed, t types.Type, e *tree.Expr) *region {
	ls := b.collect(f.Type, t, e, nil)
	m := b.alloc(f.Size + spare(f, ls))
	b.storeLeaves(func(off int64) *ir.Value { return b.addr(m, off) }, 0, f.Size, ls)
	return m
}

// storeLeaves fills the bytes from..to of a layout. Strings come first, in
// order: one that is read in place may write a byte too many, into what the
// next leaf then overwrites.
func (b stores) storeLeaves(at func(int64) *ir.Value, from, to int, ls []leaf) {
	b.zeroGaps(at, from, to, ls)
	for _, l := range ls {
		if isText(l.t.Kind) && !l.unread {
			b.storeText(at, l)
		}
	}
	for _, l := range ls {
		if !isText(l.t.Kind) {
			b.storeScalar(at, l, wordAlone(ls, l))
		}
	}
}

// spare is 8 if a string that is read in place, with one byte more than its
// room, ends the layout.
func spare(f *wire.Fixed, ls []leaf) int {
	for _, l := range ls {
		if l.text != nil && l.text.Op != tree.OpBuiltin && l.w.Off+l.t.Cap+1 > f.Size {
			return 8
		}
	}
	return 0
}

// zeroGaps clears the words that the leaves do not write as a whole.
func (b stores) zeroGaps(at func(int64) *ir.Value, from, to int, ls []leaf) {
	full := covered(from, to, ls)
	start := -1
	for off := from; off <= to; off += 8 {
		gap := off < to && !full(off)
		switch {
		case gap && start < 0:
			start = off
		case !gap && start >= 0:
			b.OpImm(ir.OpZero, int64(off-start), at(int64(start)))
			start = -1
		}
	}
}

// covered tells of a word whether leaves write all of its bytes.
func covered(from, to int, ls []leaf) func(off int) bool {
	bytes := make([]bool, to+16)
	mark := func(off, size int) {
		for i := off; i < off+size; i++ {
			bytes[i] = true
		}
	}
	for _, l := range ls {
		switch {
		case l.unread:
			mark(l.w.Off+8, max(l.w.Size-16, 0))
			continue
		case wordAlone(ls, l):
			mark(l.w.Off, 8)
		case l.text != nil && l.text.Op == tree.OpBuiltin && l.w.Size > 4:
			mark(l.w.Off, commSize)
		case isText(l.t.Kind) && l.w.Size == 4 && aloneInWord(ls, l.w): // in a record a string is a reference
			mark(l.w.Off, 8)
		case !isText(l.t.Kind) || l.w.Size == 4:
			mark(l.w.Off, l.w.Size)
		}
		if l.w.TagOff >= 0 {
			mark(l.w.TagOff, 1)
		}
	}
	return func(off int) bool {
		for _, b := range bytes[off : off+8] {
			if !b {
				return false
			}
		}
		return true
	}
}

// wordAlone reports whether l is an unsigned scalar that has its word for
// itself: it is then stored as a whole word.
func wordAlone(ls []leaf, l leaf) bool {
	return l.w.Size > 0 && !isText(l.t.Kind) && !signed(l.t) && aloneInWord(ls, l.w)
}

// aloneInWord reports whether w begins a word that no other leaf is in.
func aloneInWord(ls []leaf, w wire.Type) bool {
	if w.Off%8 != 0 {
		return false
	}
	for _, o := range ls {
		if o.w.Off != w.Off && o.w.Size > 0 && o.w.Off/8 == w.Off/8 || o.w.TagOff >= 0 && o.w.TagOff/8 == w.Off/8 {
			return false
		}
	}
	return true
}

// storeScalar stores an int, bool or pointer and its tag.
func (b stores) storeScalar(at func(int64) *ir.Value, l leaf, whole bool) {
	size := l.w.Size
	if whole {
		size = 8
	}
	if size > 0 && l.v.x != nil {
		b.Store(size, at(int64(l.w.Off)), 0, l.v.x)
	}
	if l.w.TagOff >= 0 {
		b.Store(1, at(int64(l.w.TagOff)), 0, b.tagOf(l.v))
	}
}

// storeText stores a string in a fixed layout; its bytes beyond the length
// are zero already.
func (b stores) storeText(at func(int64) *ir.Value, l leaf) {
	off := int64(l.w.Off)
	if l.text != nil && l.text.Op == tree.OpBuiltin {
		copies(b).commInto(func() *ir.Value { return at(off) })
		return
	}
	s := l.v.s
	if l.text != nil {
		defer b.at(l.text.Pos)()
		s = texts(b).strInto(l.text, nil, at(off)).s
		if end := l.t.Cap - 1; end != l.w.Size-1 && l.t.Kind == types.Str {
			b.Store(1, at(off+int64(end)), 0, b.Const(0)) // of a cut string
		}
	} else {
		copies(b).copyBytes(at(off), s, l.w.Size-1)
	}
	if l.t.Kind == types.Bytes {
		b.Store(2, at(off+int64(l.w.Size)-wire.BytesTail), 0, b.strLen(s))
	}
	if s.flags != nil || l.text != nil {
		b.Store(1, at(off+int64(l.w.Size)-1), 0, b.mark(s))
	}
}

// mark makes the last byte of a string from its flags: RefCut, RefNone,
// RefFault are bits 13, 14, 15; StrCut, StrNone, StrFault are 1, 3, 2.
func (b stores) mark(s *str) *ir.Value {
	f := b.strFlags(s)
	x := b.Op(ir.OpOr, b.Imm(ir.OpLShr, f, 13), b.Imm(ir.OpLShr, f, 14))
	return b.Imm(ir.OpAnd, x, 3)
}

// loadFixed makes a value of what lies at p in a map: strings are copied, for
// the entry may change or go.
func (b stores) loadFixed(p *ir.Value, w wire.Type, t types.Type) val {
	v := val{t: t}
	if w.TagOff >= 0 {
		v.tag = b.Load(1, p, int64(w.TagOff))
	} else if hasTag(t) {
		v.tag = b.Const(wire.TagPresent)
	}
	switch {
	case t.Kind == types.None || t.Kind == types.Bot:
	case isText(t.Kind):
		v.s = b.loadText(p, w, t)
	case len(t.Elems) > 0:
		for i, e := range t.Elems {
			v.elems = append(v.elems, b.loadFixed(p, w.Elems[i], e))
		}
	default:
		v.x = b.Load(w.Size, p, int64(w.Off))
		if w.Signed && w.Size < 8 {
			v.x = b.Extend(v.x, 8*w.Size, true)
		}
	}
	return v
}

// loadText copies a string of a fixed layout out of a map.
func (b stores) loadText(p *ir.Value, w wire.Type, t types.Type) *str {
	m := b.allocText(w.Size)
	b.OpImm(ir.OpCopy, int64(w.Size), b.addr(m, 0), b.Add(p, int64(w.Off)))
	mark := b.Load(1, b.addr(m, int64(w.Size)-1), 0)
	b.Store(1, b.addr(m, int64(w.Size)-1), 0, b.Const(0))
	// The opposite of mark: 1, 3, 2 to bits 13, 14, 15.
	pair := b.Imm(ir.OpAnd, b.Imm(ir.OpLShr, mark, 1), 1) // None or FAULT
	low := b.Imm(ir.OpAnd, mark, 1)
	none := b.Op(ir.OpAnd, pair, low)
	fault, cut := b.Op(ir.OpXor, pair, none), b.Op(ir.OpXor, low, none)
	flags := b.Imm(ir.OpShl, cut, 13)
	flags = b.Op(ir.OpOr, flags, b.Imm(ir.OpShl, none, 14))
	flags = b.Op(ir.OpOr, flags, b.Imm(ir.OpShl, fault, 15))
	s := &str{mem: m, room: layout.StringRoom(t.Cap), flags: flags}
	if t.Kind == types.Bytes {
		s.n = b.Load(2, b.addr(m, int64(w.Size)-wire.BytesTail), 0)
	}
	return s
}
