package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Memory and reads of a walk along a path.

// A pathWalk builds one OpPath.
type pathWalk struct {
	// b is the function under construction.
	b *code
	// addr is the address of a byte of the walk's memory in that function.
	addr func(r *region, off int64) *ir.Value
	// e is the OpPath. Its Str says what the address is of: "file", "path" or "dentry".
	e *tree.Expr
	// o has the offsets of the members of the kernel's structs that are read.
	o *tree.PathOffsets
	// end is the offset in buf at which the text ends.
	end int64
	// buf has the text up to end. Behind that it has room for a read that begins at end.
	buf *region
	// state is what goes round the loop: the words walkOff and so on.
	state *region
	// dent is what was read of the current dentry, and mnt what was read of the mount that was left last.
	dent, mnt *piece
	// rooted is where the walk has reached the root. full is where the text does not fit: the result is all of buf up
	// to end, with the mark at its beginning. done is where the text is complete. fault is where a read has failed.
	rooted, full, done, fault *join
}

// A piece of a struct is read as a whole: the bytes from lo to hi, into m.
type piece struct {
	m      *region
	lo, hi int64
}

// A field is a member of a struct of the kernel: its offset and its size in bytes.
type field struct{ off, size int }

// newPiece gives memory for the least piece that holds the fields.
func newPiece(b *code, fields ...field) *piece {
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

// readPiece reads a piece of the struct at base.
func (w *pathWalk) readPiece(s *piece, base *ir.Value) {
	w.read(w.addr(s.m, 0), w.b.Const(s.hi-s.lo), w.b.Add(base, s.lo))
}

// of is a field of 8 bytes of what was read.
func (w *pathWalk) of(s *piece, off int) *ir.Value {
	return w.b.Load(8, w.addr(s.m, int64(off)-s.lo), 0)
}

// follow is the pointer at base+off.
func (w *pathWalk) follow(base *ir.Value, off int) *ir.Value {
	w.read(w.b.temp(), w.b.Const(8), w.b.Add(base, int64(off)))
	return w.b.Load(8, w.b.temp(), 0)
}

// get loads a word of the state.
func (w *pathWalk) get(word int64) *ir.Value { return w.b.Load(8, w.addr(w.state, word), 0) }

// set stores a word of the state.
func (w *pathWalk) set(word int64, v *ir.Value) { w.b.Store(8, w.addr(w.state, word), 0, v) }

// offset is where the text begins, bounded for the verifier.
func (w *pathWalk) offset() *ir.Value {
	off := w.get(walkOff)
	w.b.unless(ir.UGT, off, w.end, func() { w.b.jump(w.fault) })
	return off
}

// at is the address of byte off+c of the buffer.
func (w *pathWalk) at(off *ir.Value, c int64) *ir.Value {
	return w.b.Op(ir.OpAdd, w.addr(w.buf, c), off)
}
