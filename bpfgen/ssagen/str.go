package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Strings read to memory: C strings, bytes of a length, what is cut.
//
// Strings lie in memory of the program: in a slot of the stack or in the scratch memory. How they get there depends on
// what is read:
//
//	kind                     read by                              length                    file
//	C string                 bpf_probe_read_{user,kernel}_str     the helper gives it       str.go
//	a number of bytes        bpf_probe_read_{user,kernel}         it was asked for          str.go
//	bytes and their length   the same, then up to the first NUL   the smaller of the two    str.go (countedText)
//	the name of a task       bpf_get_current_comm                 not known: 16 bytes       copy.go
//	a char[N] in registers   nobody, its words are numbers        not known: all bytes      chars.go
//	a list of strings        one C string after the other         that of all together      strlist.go
//	the path of a file       name by name, from its end           that of all together      path.go
//
// e.args.filename of openat() is the first kind. Its type says Cap 257 for --str-max 256: that many bytes and a NUL.
// The read asks the helper for 258 bytes. A result of 12 is a string of 11 bytes and its NUL. A result of 258 says that
// there is no NUL among the first 257 bytes: the string counts as cut, with a length of 256. A negative result is
// FAULT: flags has wire.RefFault then, and the length is 0.
//
// Lengths and flags are numbers at run time, and the verifier follows the program with what it knows of them. What uses
// a length as an offset or a size masks it and tests it again right before, for the reasons that stand at saneLen and
// loopBound.

// texts reads strings, and compares, tests and joins them.
type texts struct{ *code }

// strExpr reads a string into memory of its own. One byte more than the type
// has room for is read: only so a string that was cut can be told from one
// that just fits.
func (b texts) strExpr(e *tree.Expr) val {
	room := layout.StringRoom(e.Type.Cap + 1)
	m := b.allocText(room)
	return b.strInto(e, m, b.addr(m, 0))
}

// strInto reads the string e to address dst, which has room for one byte more
// than the type. m is what dst is in, nil where that is not at a constant place.
func (b texts) strInto(e *tree.Expr, m *region, dst *ir.Value) val {
	src := b.Add(reads(b).base(e.Args[0]), e.Int)
	s := &str{mem: m, room: layout.StringRoom(e.Type.Cap)}
	if m == nil {
		s.addr = dst
	}
	if e.Counted {
		s.n, s.flags = b.countedText(e, dst, src)
		return val{t: e.Type, s: s}
	}
	limit, cut, mayCut := b.strLimit(e)
	var rc *ir.Value
	if e.Type.Kind == types.Bytes {
		rc = reads(b).probeRead(e.Str, dst, limit, src)
		s.n, s.flags = b.bytesResult(rc, limit, cut)
	} else {
		rc = reads(b).readWith(e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, dst, limit, src)
		if e.Edge {
			rc = b.upToEdge(e, rc, dst, src)
		}
		s.n, s.flags = b.strResult(rc, e.Type.Cap, mayCut)
	}
	return val{t: e.Type, s: s}
}

// countedText reads as many bytes as the second operand says, and no byte behind them; those that have no room are cut
// off. The string ends at a NUL, as all do. A length that could not be read makes a string that could not be read.
func (b texts) countedText(e *tree.Expr, dst, src *ir.Value) (n, flags *ir.Value) {
	pair := types.TupleOf(types.I64, types.I64)
	length := b.expr(e.Args[1])
	most := int64(e.Type.Cap) - 1
	j := b.newJoin(pair)
	b.unless(ir.UGT, length.x, most, func() {
		b.jumpWith(j, pairOf(pair, b.Const(most), b.Const(wire.RefCut)))
	})
	b.jumpWith(j, pairOf(pair, length.x, b.Const(0)))
	v := b.enter(j)
	n, flags = v.elems[0].x, v.elems[1].x
	if length.tag != nil {
		flags = b.Op(ir.OpOr, flags, b.Imm(ir.OpShl, length.tag, tagToFlags))
	}
	copies(b).clearStack(dst, layout.StringRoom(e.Type.Cap)) // what a helper fills with a computed number of bytes
	rc := reads(b).probeRead(e.Str, dst, n, src)
	j = b.newJoin(pair)
	b.unless(ir.NE, rc, 0, func() { b.endsBefore(e, j, n, flags, dst, src) })
	read := b.upToNUL(dst, n, e.Type.Cap)
	ended := b.Imm(ir.OpMul, b.Cmp(ir.NE, read, n), wire.RefCut) // nothing is cut off behind a NUL
	flags = b.Op(ir.OpAnd, flags, b.Imm(ir.OpXor, ended, -1))
	b.jumpWith(j, pairOf(pair, read, flags))
	v = b.enter(j)
	return v.elems[0].x, v.elems[1].x
}

// endsBefore reads the string up to its NUL where not all n bytes can be read, and goes on at j with its length and its
// flags. Where there is no NUL among those that can be read it cannot be read.
func (b texts) endsBefore(e *tree.Expr, j *join, n, flags, dst, src *ir.Value) {
	pair := j.t
	rc := reads(b).readWith(e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, dst, n, src)
	b.unless(ir.SLT, rc, 1, func() { b.jumpWith(j, pairOf(pair, b.Const(0), b.Const(wire.RefFault))) })
	b.jumpWith(j, pairOf(pair, b.Add(rc, -1), b.Imm(ir.OpAnd, flags, ^wire.RefCut)))
}

// upToNUL is how many of n bytes at dst, which has room for one more, come before the first NUL.
func (b texts) upToNUL(dst, n *ir.Value, room int) *ir.Value {
	if dst.Op != ir.OpSlot { // what is on the stack was cleared
		b.Store(1, b.Op(ir.OpAdd, dst, n), 0, b.Const(0))
	}
	rc := b.Call(helperProbeReadKernelStr, dst, b.Const(int64(room)), dst)
	j := b.newJoin(types.U64)
	b.unless(ir.SLT, rc, 1, func() { b.jumpWith(j, intVal(types.U64, b.Const(0))) })
	b.jumpWith(j, intVal(types.U64, b.Add(rc, -1)))
	return b.enter(j).x
}

// tagToFlags is by how many bits a tag is shifted to be the flags of a string: TagNone to RefNone, all kinds of FAULT
// to RefFault.
const tagToFlags = 14

// upToEdge reads the bytes that the string may have again where reading it with those behind them has failed: rc then
// says, as that of a string that is too long, that there is no NUL among them.
func (b texts) upToEdge(e *tree.Expr, rc, dst, src *ir.Value) *ir.Value {
	j := b.newJoin(types.I64)
	b.unless(ir.SLT, rc, 0, func() {
		again := reads(b).probeRead(e.Str, dst, b.Const(int64(e.Type.Cap)-1), src)
		b.unless(ir.NE, again, 0, func() { b.jumpWith(j, intVal(types.I64, rc)) })
		b.jumpWith(j, intVal(types.I64, b.Const(int64(e.Type.Cap)+1)))
	})
	b.jumpWith(j, intVal(types.I64, rc))
	return b.enter(j).x
}

// strLimit is the number of bytes to read: of a C string with the NUL, of bytes without one. cut is wire.RefCut where
// there are more bytes, nil where that is not known before they are read. mayCut reports whether a string that fills
// all of them counts as cut: it does where the room of the type is the limit, and not where the script has asked for a
// number of bytes.
func (b texts) strLimit(e *tree.Expr) (n, cut *ir.Value, mayCut bool) {
	room := int64(e.Type.Cap)
	extra := int64(1) // for the NUL
	if e.Type.Kind == types.Bytes {
		extra = 0
	}
	if len(e.Args) < 2 {
		return b.Const(room + extra), nil, true
	}
	if a := e.Args[1]; a.Op == tree.OpConst {
		if a.Int+extra <= room {
			return b.Const(max(a.Int, 0) + extra), nil, false
		}
		return b.Const(room + extra), nil, true
	}
	n = b.number(e.Args[1])
	if extra == 0 {
		n, cut = b.bytesLimit(n, room)
		return n, cut, true
	}
	fits, over := b.NewBlock(), b.NewBlock()
	j := b.newJoin(types.U64)
	b.BranchImm(ir.ULE, n, room, fits, over)
	b.Begin(fits)
	b.jumpWith(j, intVal(types.U64, n))
	b.Begin(over)
	b.jumpWith(j, intVal(types.U64, b.Const(room)))
	// Added behind the test: of x+1+1, as x+2, the verifier would not know that x+1 is limited.
	return b.Add(b.enter(j).x, extra), nil, true
}

// bytesLimit is how many of n bytes have room, and wire.RefCut where not all have.
func (b texts) bytesLimit(n *ir.Value, room int64) (limit, cut *ir.Value) {
	pair := types.TupleOf(types.U64, types.I64)
	j := b.newJoin(pair)
	b.unless(ir.UGT, n, room, func() { b.jumpWith(j, pairOf(pair, b.Const(room), b.Const(wire.RefCut))) })
	b.jumpWith(j, pairOf(pair, n, b.Const(0)))
	v := b.enter(j)
	return v.elems[0].x, v.elems[1].x
}

// strResult makes length and flags of what a probe_read_*_str helper gave:
// the bytes with the NUL, or an error. Kernels before 6.18 give 0 for "" in
// user memory.
func (b texts) strResult(rc *ir.Value, room int, mayCut bool) (n, flags *ir.Value) {
	pair := types.TupleOf(types.I64, types.I64)
	j := b.newJoin(pair)
	odd, some := b.NewBlock(), b.NewBlock()
	from := b.Cur
	b.BranchImm(ir.SLE, rc, 0, odd, some)
	b.Likely(2, from)
	b.Begin(odd) // the sign says fault; 0 is the empty string
	fault := b.Imm(ir.OpAnd, b.Imm(ir.OpAShr, rc, 63), wire.RefFault)
	b.jumpWith(j, pairOf(pair, b.Const(0), fault))
	b.Begin(some)
	if mayCut {
		b.unless(ir.UGT, rc, int64(room), func() {
			b.jumpWith(j, pairOf(pair, b.Const(int64(room)-1), b.Const(wire.RefCut)))
		})
	}
	b.jumpWith(j, pairOf(pair, b.Add(rc, -1), b.Const(0)))
	v := b.enter(j)
	return v.elems[0].x, v.elems[1].x
}

// bytesResult makes length and flags of what a probe_read_* helper gave: 0, or an error.
func (b texts) bytesResult(rc, limit, cut *ir.Value) (n, flags *ir.Value) {
	pair := types.TupleOf(types.I64, types.I64)
	j := b.newJoin(pair)
	b.unless(ir.SLT, rc, 0, func() {
		b.jumpWith(j, pairOf(pair, b.Const(0), b.Const(wire.RefFault)))
	})
	if cut == nil {
		cut = b.Const(0)
	}
	b.jumpWith(j, pairOf(pair, limit, cut))
	v := b.enter(j)
	return v.elems[0].x, v.elems[1].x
}
