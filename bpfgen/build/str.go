package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// strExpr reads a string into memory of its own. One byte more than the type
// has room for is read: only so a string that was cut can be told from one
// that just fits.
func (b *builder) strExpr(e *tree.Expr) val {
	room := layout.StringRoom(e.Type.Cap + 1)
	m := b.allocText(room)
	return b.strInto(e, m, b.addr(m, 0))
}

// strInto reads the string e to address dst, which has room for one byte more
// than the type. m is what dst is in, nil where that is not at a constant place.
func (b *builder) strInto(e *tree.Expr, m *region, dst *ir.Value) val {
	src := b.add(b.base(e.Args[0]), e.Int)
	limit, mayCut := b.strLimit(e)
	s := &str{mem: m, room: layout.StringRoom(e.Type.Cap)}
	if m == nil {
		s.addr = dst
	}
	var rc *ir.Value
	if e.Type.Kind == types.Bytes {
		rc = b.probeRead(e.Str, dst, limit, src)
		s.n, s.flags = b.bytesResult(rc, limit)
	} else {
		rc = b.readWith(e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, dst, limit, src)
		s.n, s.flags = b.strResult(rc, e.Type.Cap, mayCut)
	}
	return val{t: e.Type, s: s}
}

// strLimit is the number of bytes to read, NUL included, and whether a string
// of that many was cut by the type's room.
func (b *builder) strLimit(e *tree.Expr) (*ir.Value, bool) {
	room := int64(e.Type.Cap)
	extra := int64(1) // for the NUL
	if e.Type.Kind == types.Bytes {
		extra = 0
	}
	if len(e.Args) < 2 {
		return b.konst(room + extra), true
	}
	if a := e.Args[1]; a.Op == tree.OpConst {
		if a.Int+extra <= room {
			return b.konst(max(a.Int, 0) + extra), false
		}
		return b.konst(room + extra), true
	}
	n := b.number(e.Args[1])
	fits, over := b.f.NewBlock(), b.f.NewBlock()
	j := b.newJoin(types.U64)
	b.branchImm(ir.ULE, n, room, fits, over)
	b.begin(fits)
	b.jumpWith(j, intVal(types.U64, b.add(n, extra)))
	b.begin(over)
	b.jumpWith(j, intVal(types.U64, b.konst(room+extra)))
	return b.enter(j).x, true
}

// strResult makes length and flags of what a probe_read_*_str helper gave:
// the bytes with the NUL, or an error. Kernels before 6.18 give 0 for "" in
// user memory.
func (b *builder) strResult(rc *ir.Value, room int, mayCut bool) (n, flags *ir.Value) {
	pair := types.TupleOf(types.I64, types.I64)
	j := b.newJoin(pair)
	odd, some := b.f.NewBlock(), b.f.NewBlock()
	from := b.cur
	b.branchImm(ir.SLE, rc, 0, odd, some)
	b.likely(2, from)
	b.begin(odd) // the sign says fault; 0 is the empty string
	fault := b.imm(ir.OpAnd, b.imm(ir.OpAShr, rc, 63), wire.RefFault)
	b.jumpWith(j, pairOf(pair, b.konst(0), fault))
	b.begin(some)
	if mayCut {
		b.unless(ir.UGT, rc, int64(room), func() {
			b.jumpWith(j, pairOf(pair, b.konst(int64(room)-1), b.konst(wire.RefCut)))
		})
	}
	b.jumpWith(j, pairOf(pair, b.add(rc, -1), b.konst(0)))
	v := b.enter(j)
	return v.elems[0].x, v.elems[1].x
}

func (b *builder) bytesResult(rc, limit *ir.Value) (n, flags *ir.Value) {
	pair := types.TupleOf(types.I64, types.I64)
	j := b.newJoin(pair)
	b.unless(ir.SLT, rc, 0, func() {
		b.jumpWith(j, pairOf(pair, b.konst(0), b.konst(wire.RefFault)))
	})
	b.jumpWith(j, pairOf(pair, limit, b.konst(0)))
	v := b.enter(j)
	return v.elems[0].x, v.elems[1].x
}

func pairOf(t types.Type, x, y *ir.Value) val {
	return val{t: t, elems: []val{intVal(types.I64, x), intVal(types.I64, y)}}
}

// copyStr copies the bytes of s to memory of its own. They may lie there already, since the last round of a loop: then
// they take another way, for copyCounted clears a piece of stack before it copies.
func (b *builder) copyStr(s *str, t types.Type) *str {
	m := b.allocText(s.room)
	if m.slot != nil && s.mem == nil && s.n != nil {
		way := b.allocText(s.room)
		b.copyBytes(b.addr(way, 0), s, s.room)
		s = &str{mem: way, room: s.room, n: s.n, flags: s.flags}
		defer b.release(way)
	}
	out := &str{mem: m, room: s.room, n: s.n, flags: s.flags}
	b.copyBytes(b.addr(m, 0), s, s.room)
	return out
}

// copyBytes copies the bytes of s, at most room, to dst. What is known to be
// padded is copied as a whole, in words, and ends in a NUL; otherwise only the
// bytes that count, by a helper, for the length is not known.
func (b *builder) copyBytes(dst *ir.Value, s *str, room int) {
	switch {
	case s.konst != nil:
		b.storeConst(dst, pad(*s.konst))
	case s.n == nil:
		b.cur.AddImm(ir.OpCopy, b.pos, int64(min(s.room, (room+7)&^7)), dst, b.strAddr(s, 0))
	default:
		b.copyCounted(dst, s, room)
	}
}

// copyCounted copies s.n bytes. The test is for the verifier: it does not know
// how long a string is that came over a join.
func (b *builder) copyCounted(dst *ir.Value, s *str, room int) {
	b.clearStack(dst, room)
	j := b.newJoin(types.Type{})
	n := b.saneLen(s.n)
	b.unless(ir.UGT, n, int64(room), func() { b.jump(j) })
	b.call(helperProbeReadKernel, dst, n, b.strAddr(s, 0))
	b.jump(j)
	b.enter(j)
}

// saneLen is the length n for use as an offset or a size, behind a test of its
// own. What comparisons have taught the verifier about n may contradict itself on
// a way that is never taken (more than 6 and less than 3), which it does not see;
// an address that such an offset was added to is no address any more to it
// (adjust_ptr_min_max_vals, kernel/bpf/verifier.c), and it refuses the program.
// An AND leaves nothing that contradicts.
func (b *builder) saneLen(n *ir.Value) *ir.Value { return b.imm(ir.OpAnd, n, wire.RefLen) }

// clearStack makes a piece of stack defined: a helper that writes a number of
// bytes that the verifier does not know must find it so before 6.3 ("invalid
// indirect read from stack").
func (b *builder) clearStack(dst *ir.Value, room int) {
	if dst.Op != ir.OpSlot {
		return
	}
	for i := 0; i < room; {
		size := 1
		if (int(dst.Imm)+i)%8 == 0 && i+8 <= room {
			size = 8
		}
		b.store(size, dst, int64(i), b.konst(0))
		i += size
	}
}

// storeConst writes constant bytes, a multiple of 8, to dst.
func (b *builder) storeConst(dst *ir.Value, data string) {
	for i := 0; i < len(data); i += 8 {
		b.store(8, dst, int64(i), b.konst(word(data[i:i+8])))
	}
}

// word gives up to 8 bytes as the number that they are in memory.
func word(s string) int64 {
	var w uint64
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return int64(w)
}

// cutTo gives s the type t, which may have less room.
func (b *builder) cutTo(s *str, from, t types.Type) *str {
	if s.konst != nil {
		return b.cutConst(s, t)
	}
	if t.Cap >= from.Cap {
		return s
	}
	out := *s
	limit := int64(t.Cap - 1)
	pair := types.TupleOf(types.I64, types.I64)
	n, flags := b.strLen(s), b.strFlags(s)
	j := b.newJoin(pair)
	b.unless(ir.UGT, n, limit, func() {
		b.jumpWith(j, pairOf(pair, b.konst(limit), b.imm(ir.OpOr, flags, wire.RefCut)))
	})
	b.jumpWith(j, pairOf(pair, n, flags))
	v := b.enter(j)
	out.n, out.flags = v.elems[0].x, v.elems[1].x
	return &out
}

func (b *builder) cutConst(s *str, t types.Type) *str {
	limit := t.Cap
	if t.Kind == types.Str {
		limit--
	}
	if len(*s.konst) <= limit {
		return s
	}
	cut := (*s.konst)[:max(limit, 0)]
	return &str{konst: &cut, room: len(pad(cut)), flags: b.konst(wire.RefCut)}
}
