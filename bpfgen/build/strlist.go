package build

import (
	"encoding/binary"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// maxStrings bounds the strings of a list; more are cut.
const maxStrings = 128

// A listReader reads a char **: the strings are read one behind the other
// into buf, which has room for a whole string behind the last place where one
// can begin. That spares a size that is not constant.
type listReader struct {
	b    *builder
	e    *tree.Expr
	room int64   // bytes of the list that are kept, with the last NUL
	sep  int64   // of OpJoin, 0: none
	buf  *region // room bytes, and room+1 for the last string
	// state goes round the loop: the offset of the next string, and RefCut.
	state *region
	done  *join
	fault *join
}

const (
	listOff  = 0
	listFlag = 8
)

// strList is OpStrList and OpJoin. Joined strings are packed as the others,
// with the separator in the place of each NUL but the last.
func (b *builder) strList(e *tree.Expr) val {
	r := &listReader{b: b, e: e, room: int64(e.Type.Cap)}
	if e.Op == tree.OpJoin {
		r.sep = int64(e.Args[1].Str[0])
	}
	list := b.add(b.base(e.Args[0]), e.Int)
	r.buf, r.state = b.allocScratch(2*int(r.room)+8), b.allocScratch(16)
	b.store(8, b.addr(r.state, 0), listOff, b.konst(0))
	b.store(8, b.addr(r.state, 0), listFlag, b.konst(0))
	r.done, r.fault = b.newJoin(types.Type{}), b.newJoin(types.Type{})
	b.rounds(maxStrings+1, func(k *ir.Value) { r.round(list, k) })
	b.jump(r.done) // not reached: the last round cuts the list
	b.enter(r.fault)
	b.store(8, b.addr(r.state, 0), listOff, b.konst(0))
	b.store(8, b.addr(r.state, 0), listFlag, b.konst(wire.RefFault))
	b.jump(r.done)
	b.enter(r.done)
	return r.value()
}

// round reads one string, or finds the end of the list.
func (r *listReader) round(list, k *ir.Value) {
	b := r.b
	rc := b.listPointer(r.e, list, k)
	b.unless(ir.NE, rc, 0, func() { b.jump(r.fault) })
	p := b.load(pointerSize(r.e), b.temp(), 0)
	b.unless(ir.EQ, p, 0, func() { b.jump(r.done) })
	b.unless(ir.UGE, k, maxStrings, func() {
		r.cut()
		b.jump(r.done)
	})
	off := b.load(8, b.addr(r.state, 0), listOff)
	b.unless(ir.UGT, off, r.room, func() { b.jump(r.done) }) // for the verifier
	end := b.op(ir.OpAdd, off, r.one(off, p))
	b.unless(ir.UGT, end, r.room, func() {
		r.cut()
		b.store(8, b.addr(r.state, 0), listOff, b.konst(r.room))
		b.jump(r.done)
	})
	b.store(8, b.addr(r.state, 0), listOff, end)
	if r.sep != 0 {
		b.store(1, b.op(ir.OpAdd, b.addr(r.buf, 0), end), -1, b.konst(r.sep))
	}
}

// one reads a string and gives its bytes with the NUL, in a list also with the byte before it that says whether it
// could be read.
func (r *listReader) one(off, p *ir.Value) *ir.Value {
	b := r.b
	dst := b.op(ir.OpAdd, b.addr(r.buf, 0), off)
	head := int64(0)
	if r.sep == 0 {
		head = 1
		b.store(1, dst, 0, b.konst(wire.ListString))
	}
	rc := b.readWith(r.e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, b.add(dst, head), b.konst(r.room+1), p)
	used := b.newJoin(types.I64)
	b.unless(ir.SLE, rc, 0, func() { // kernels before 6.18 give 0 for ""
		b.store(1, dst, head, b.konst(0))
		b.unless(ir.SLT, rc, 0, func() { b.jumpWith(used, intVal(types.I64, r.unreadable(dst))) })
		b.jumpWith(used, intVal(types.I64, b.konst(1+head)))
	})
	b.jumpWith(used, intVal(types.I64, b.add(rc, head)))
	return b.enter(used).x
}

// faultText is what FAULT prints as, in 8 bytes.
const faultText = "<fault>\x00"

// unreadable is what stands for a string that cannot be read: in a joined list its text.
func (r *listReader) unreadable(dst *ir.Value) *ir.Value {
	b := r.b
	if r.sep == 0 {
		b.store(1, dst, 0, b.konst(wire.ListFault))
		return b.konst(2)
	}
	b.store(8, dst, 0, b.konst(int64(binary.LittleEndian.Uint64([]byte(faultText)))))
	return b.konst(int64(len(faultText)))
}

func (r *listReader) cut() {
	r.b.store(8, r.b.addr(r.state, 0), listFlag, r.b.konst(wire.RefCut))
}

// value is the list as it lies in memory.
func (r *listReader) value() val {
	b := r.b
	s := &str{mem: r.buf, room: layout.StringRoom(r.e.Type.Cap)}
	s.flags = b.load(8, b.addr(r.state, 0), listFlag)
	s.n = b.load(8, b.addr(r.state, 0), listOff)
	if r.sep != 0 {
		s.n = r.withoutLast(s.n)
	}
	return val{t: r.e.Type, s: s}
}

// withoutLast leaves out the separator behind the last string, or the byte
// that the NUL would take.
func (r *listReader) withoutLast(n *ir.Value) *ir.Value {
	b := r.b
	j := b.newJoin(types.I64)
	b.unless(ir.EQ, n, 0, func() { b.jumpWith(j, intVal(types.I64, n)) })
	b.jumpWith(j, intVal(types.I64, b.add(n, -1)))
	return b.enter(j).x
}

// pointerSize is how many bytes the pointers of the list have.
func pointerSize(e *tree.Expr) int {
	if e.BitSize == 32 {
		return 4
	}
	return 8
}

// listPointer reads pointer k of the list into b.temp(); it gives what the helper returns.
func (b *builder) listPointer(e *tree.Expr, list, k *ir.Value) *ir.Value {
	size, shift := pointerSize(e), int64(3)
	if size == 4 {
		shift = 2
	}
	return b.probeRead(e.Str, b.temp(), b.konst(int64(size)), b.op(ir.OpAdd, list, b.imm(ir.OpShl, k, shift)))
}

// listLen is OpListLen.
func (b *builder) listLen(e *tree.Expr) val {
	list := b.add(b.base(e.Args[0]), e.Int)
	done := b.newJoin(types.I64)
	b.rounds(maxStrings+1, func(k *ir.Value) {
		rc := b.listPointer(e, list, k)
		b.unless(ir.NE, rc, 0, func() { b.jumpWith(done, intVal(types.I64, b.konst(-1))) })
		b.unless(ir.EQ, b.load(pointerSize(e), b.temp(), 0), 0, func() { b.jumpWith(done, intVal(types.I64, k)) })
	})
	b.jumpWith(done, intVal(types.I64, b.konst(-1)))
	return b.enter(done)
}
