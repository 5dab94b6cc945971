package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// A pathWalk builds one OpPath.
type pathWalk struct {
	// b is the function under construction.
	b *code
	// e is the OpPath, and o the places of what it reads.
	e   *tree.Expr
	o   *tree.PathOffsets
	end int64   // where the text ends in buf
	buf *region // up to end the text, behind it room for reads of room bytes
	// state goes round the loop: offsets walkOff and so on.
	state *region
	// dent and mnt are what was read of the current dentry and mount.
	dent, mnt *piece
	// rooted: the walk has reached the root. full: the text takes the whole
	// buffer, less the mark. done: it is complete. fault: a read failed.
	rooted, full, done, fault *join
}

// A piece of a struct is read as a whole.
type piece struct {
	m      *region
	lo, hi int64
}

type field struct{ off, size int }

// newPiece gives memory for the least piece that holds the fields.
func (b paths) newPiece(fields ...field) *piece {
	s := &piece{lo: int64(fields[0].off)}
	for _, f := range fields {
		s.lo, s.hi = min(s.lo, int64(f.off)), max(s.hi, int64(f.off+f.size))
	}
	s.m = b.allocScratch(int(s.hi - s.lo))
	return s
}

// read copies size bytes of the kernel's memory, or ends in fault.
func (w *pathWalk) read(dst, size, src *ir.Value) {
	rc := w.b.Call(helperProbeReadKernel, dst, size, src)
	w.b.unless(ir.NE, rc, 0, func() { w.b.jump(w.fault) })
}

func (w *pathWalk) readPiece(s *piece, base *ir.Value) {
	w.read(w.b.addr(s.m, 0), w.b.Const(s.hi-s.lo), w.b.Add(base, s.lo))
}

// of is a field of what was read.
func (w *pathWalk) of(s *piece, off int) *ir.Value {
	return w.b.Load(8, w.b.addr(s.m, int64(off)-s.lo), 0)
}

// follow is the pointer at base+off.
func (w *pathWalk) follow(base *ir.Value, off int) *ir.Value {
	w.read(w.b.temp(), w.b.Const(8), w.b.Add(base, int64(off)))
	return w.b.Load(8, w.b.temp(), 0)
}

func (w *pathWalk) get(word int64) *ir.Value { return w.b.Load(8, w.b.addr(w.state, word), 0) }

func (w *pathWalk) set(word int64, v *ir.Value) { w.b.Store(8, w.b.addr(w.state, word), 0, v) }

// offset is where the text begins.
func (w *pathWalk) offset() *ir.Value {
	off := w.get(walkOff)
	w.b.unless(ir.UGT, off, w.end, func() { w.b.jump(w.fault) })
	return off
}

// at is the address of byte off+c of the buffer.
func (w *pathWalk) at(off *ir.Value, c int64) *ir.Value {
	return w.b.Op(ir.OpAdd, w.b.addr(w.buf, c), off)
}
