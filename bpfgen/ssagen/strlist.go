package ssagen

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

// A listReader reads a char **, such as the arguments of execve(). The strings are read one behind the other into buf,
// which has room for a whole string behind the last place where one can begin. So each read may ask for the same
// constant number of bytes. The list of "ls" and "-l" is
//
//	OpStrList   01 "ls" 00 01 "-l" 00      before each string wire.ListString, or ListFault if it cannot be read
//	OpJoin      "ls" 20 "-l"               with the separator of the script, here a space
type listReader struct {
	// b is the function under construction.
	b *code
	// e is the OpStrList or OpJoin.
	e *tree.Expr
	// room is how many bytes of the list are kept, the last NUL among them.
	room int64
	// hole: at listHole of state is whether the first string is taken for one that cannot be read.
	hole bool
	// sep is the byte between the strings of an OpJoin. It is 0 for an OpStrList.
	sep int64
	// buf has room bytes for the list, and room+1 for the string that is read last.
	buf *region
	// state is what goes round the loop: at listOff where the next string begins in buf, at listFlag 0, wire.RefCut or
	// RefFault.
	state *region
	// done is where the list has come to its end, or to that of its room.
	done *join
	// fault is where a pointer of the list could not be read. The whole list is FAULT then.
	fault *join
}

// The offsets of the words of listReader.state.
const (
	listOff  = 0
	listFlag = 8
	listHole = 16
)

// strList is OpStrList and OpJoin. Joined strings are packed as the others,
// with the separator in the place of each NUL but the last.
func (b texts) strList(e *tree.Expr) val {
	r := &listReader{b: b.code, e: e, room: int64(e.Type.Cap)}
	rest := e.Args[1:]
	if e.Op == tree.OpJoin {
		r.sep, rest = int64(rest[0].Str[0]), rest[1:]
	}
	list := b.Add(reads(b).base(e.Args[0]), e.Int)
	r.buf, r.state = b.allocScratch(2*int(r.room)+8), b.allocScratch(24)
	if r.hole = len(rest) > 0; r.hole {
		b.Store(8, b.addr(r.state, 0), listHole, b.expr(rest[0]).x)
	}
	b.Store(8, b.addr(r.state, 0), listOff, b.Const(0))
	b.Store(8, b.addr(r.state, 0), listFlag, b.Const(0))
	r.done, r.fault = b.newJoin(types.Type{}), b.newJoin(types.Type{})
	b.rounds(maxStrings+1, func(k *ir.Value) { r.round(list, k) })
	b.jump(r.done) // not reached: the last round cuts the list
	b.enter(r.fault)
	b.Store(8, b.addr(r.state, 0), listOff, b.Const(0))
	b.Store(8, b.addr(r.state, 0), listFlag, b.Const(wire.RefFault))
	b.jump(r.done)
	b.enter(r.done)
	return r.value()
}

// round reads one string, or finds the end of the list.
func (r *listReader) round(list, k *ir.Value) {
	b := r.b
	rc := texts{b}.listPointer(r.e, list, k)
	b.unless(ir.NE, rc, 0, func() { b.jump(r.fault) })
	p := b.Load(pointerSize(r.e), b.temp(), 0)
	b.unless(ir.EQ, p, 0, func() { b.jump(r.done) })
	b.unless(ir.UGE, k, maxStrings, func() {
		r.cut()
		b.jump(r.done)
	})
	off := b.Load(8, b.addr(r.state, 0), listOff)
	b.unless(ir.UGT, off, r.room, func() { b.jump(r.done) }) // for the verifier
	end := b.Op(ir.OpAdd, off, r.one(off, p, k))
	b.unless(ir.UGT, end, r.room, func() {
		r.cut()
		b.Store(8, b.addr(r.state, 0), listOff, b.Const(r.room))
		b.jump(r.done)
	})
	b.Store(8, b.addr(r.state, 0), listOff, end)
	if r.sep != 0 {
		b.Store(1, b.Op(ir.OpAdd, b.addr(r.buf, 0), end), -1, b.Const(r.sep))
	}
}

// one reads a string and gives its bytes with the NUL, in a list also with the byte before it that says whether it
// could be read.
func (r *listReader) one(off, p, k *ir.Value) *ir.Value {
	b := r.b
	dst := b.Op(ir.OpAdd, b.addr(r.buf, 0), off)
	head := int64(0)
	if r.sep == 0 {
		head = 1
		b.Store(1, dst, 0, b.Const(wire.ListString))
	}
	used := b.newJoin(types.I64)
	if r.hole {
		on := b.newJoin(types.Type{})
		b.unless(ir.EQ, k, 0, func() { // which old verifiers know
			b.unless(ir.NE, b.Load(8, b.addr(r.state, 0), listHole), 0, func() {
				b.Store(1, dst, head, b.Const(0))
				b.jumpWith(used, intVal(types.I64, r.unreadable(dst)))
			})
			b.jump(on)
		})
		b.jump(on)
		b.enter(on)
	}
	rc := reads{b}.readWith(r.e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, b.Add(dst, head),
		b.Const(r.room+1), p)
	b.unless(ir.SLE, rc, 0, func() { // kernels before 6.18 give 0 for ""
		b.Store(1, dst, head, b.Const(0))
		b.unless(ir.SLT, rc, 0, func() { b.jumpWith(used, intVal(types.I64, r.unreadable(dst))) })
		b.jumpWith(used, intVal(types.I64, b.Const(1+head)))
	})
	b.jumpWith(used, intVal(types.I64, b.Add(rc, head)))
	return b.enter(used).x
}

// faultText is what FAULT prints as, in 8 bytes.
const faultText = "<fault>\x00"

// unreadable is what stands for a string that cannot be read: in a joined list its text.
func (r *listReader) unreadable(dst *ir.Value) *ir.Value {
	b := r.b
	if r.sep == 0 {
		b.Store(1, dst, 0, b.Const(wire.ListFault))
		return b.Const(2)
	}
	b.Store(8, dst, 0, b.Const(int64(binary.LittleEndian.Uint64([]byte(faultText)))))
	return b.Const(int64(len(faultText)))
}

// cut notes that strings are missing.
func (r *listReader) cut() {
	r.b.Store(8, r.b.addr(r.state, 0), listFlag, r.b.Const(wire.RefCut))
}

// value is the list as it lies in memory.
func (r *listReader) value() val {
	b := r.b
	s := &str{mem: r.buf, room: layout.StringRoom(r.e.Type.Cap)}
	s.flags = b.Load(8, b.addr(r.state, 0), listFlag)
	s.n = b.Load(8, b.addr(r.state, 0), listOff)
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
	b.jumpWith(j, intVal(types.I64, b.Add(n, -1)))
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
func (b texts) listPointer(e *tree.Expr, list, k *ir.Value) *ir.Value {
	size, shift := pointerSize(e), int64(3)
	if size == 4 {
		shift = 2
	}
	return reads(b).probeRead(e.Str, b.temp(), b.Const(int64(size)), b.Op(ir.OpAdd, list, b.Imm(ir.OpShl, k, shift)))
}

// listLen is OpListLen: how many strings a list has, with tree.ListHoles if one of them cannot be read. It is -1 for a
// list that cannot be read, and for one of more than maxStrings.
func (b texts) listLen(e *tree.Expr) val {
	list := b.Add(reads(b).base(e.Args[0]), e.Int)
	done := b.newJoin(types.I64)
	room := int64(e.Args[1].Int)
	text, holes := b.allocScratch(int(room)+8), b.allocScratch(8)
	b.Store(8, b.addr(holes, 0), 0, b.Const(0))
	b.rounds(maxStrings+1, func(k *ir.Value) {
		rc := b.listPointer(e, list, k)
		b.unless(ir.NE, rc, 0, func() { b.jumpWith(done, intVal(types.I64, b.Const(-1))) })
		p := b.Load(pointerSize(e), b.temp(), 0)
		b.unless(ir.EQ, p, 0, func() {
			b.jumpWith(done, intVal(types.I64, b.Op(ir.OpOr, b.Load(8, b.addr(holes, 0), 0), k)))
		})
		rc = reads(b).readWith(e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, b.addr(text, 0),
			b.Const(room+1), p)
		hole := b.Imm(ir.OpShl, b.Imm(ir.OpLShr, rc, 63), 32) // no branch, for old verifiers
		b.Store(8, b.addr(holes, 0), 0, b.Op(ir.OpOr, b.Load(8, b.addr(holes, 0), 0), hole))
	})
	b.jumpWith(done, intVal(types.I64, b.Const(-1)))
	return b.enter(done)
}
