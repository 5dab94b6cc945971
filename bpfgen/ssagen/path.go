package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// path(x): the walk from a dentry to the root, of at most `maxSteps` names and mounts.
//
// The path of a file is walked from the leaf to the root, since a directory entry of the kernel (a dentry) has its own
// name and leads to its parent. So it is written from the end of the buffer to its beginning. What results is an
// ordinary string that starts somewhere in the buffer. Of /usr/bin/ls, where /usr is a mount of its own, the buffer
// becomes
//
//	        /ls      the leaf
//	    /bin/ls      its parent; the parent of that is the root of the mount
//	/usr/bin/ls      the dentry on which the mount is mounted; its parent is the root
//
// A path that does not fit loses its beginning, has "…" there, and keeps the leaf.
//
// At each dentry: if it is the root of its mount, go on at the dentry on which the mount is mounted, and end at a mount
// without a parent; else write "/" and the name and go on at the parent (prepend_path in fs/d_path.c does the same).
// Nothing guards against a rename at the same time: the path may then be one that never was. A read that fails makes
// the whole path FAULT.

const (
	// maxSteps bounds the names and the mounts of one path together.
	maxSteps = 80
	// maxName is NAME_MAX of include/uapi/linux/limits.h.
	maxName = 255
	// minPath is the least room in which a path is made; the last bytes of it
	// are the result where less is wanted.
	minPath = 64

	deletedMark = " (deleted)"
	cutMark     = "…"
)

// The offsets of the words of pathWalk.state.
const (
	walkOff    = 0  // where the text begins in the buffer
	walkDentry = 8  // the address of the current dentry
	walkMount  = 16 // the address of the struct mount that the dentry is in
	walkRoot   = 24 // the address of the dentry that is the root of this mount
	walkNumber = 32 // the number of an inode, as far as its digits are not written yet
	walkFlags  = 40 // the flags of the result: 0, wire.RefNone or wire.RefFault
	walkSize   = 48 // the bytes of all
	walkLeft   = 48 // where the kernel runs the loop, behind them: why the walk has ended
)

// paths writes the text of a path.
type paths struct{ *generator }

// path is OpPath.
func (b paths) path(e *tree.Expr) val {
	if b.Tree.Path == nil {
		b.fail("path without the kernel's offsets")
	}
	w := &pathWalk{b: b.code, e: e, o: b.Tree.Path, end: max(int64(e.Type.Cap)-1, minPath), addr: b.addr}
	for _, j := range []**join{&w.rooted, &w.full, &w.done, &w.fault} {
		*j = b.newJoin(types.Type{})
	}
	size := walkSize
	if lists(b).kernelRuns() {
		size = walkLeft + 8
	}
	w.alloc(size)
	w.set(walkOff, b.Const(w.end))
	w.set(walkFlags, b.Const(0))
	w.begin(w.address())
	w.leaf()
	if lists(b).kernelRuns() {
		b.climbByKernel(w)
	} else {
		b.rounds(maxSteps, func(*ir.Value) { w.step() })
	}
	w.cutShort()
	b.enter(w.rooted)
	w.root()
	b.jump(w.done)
	b.enter(w.full)
	w.markAt(b.Const(0))
	b.enter(w.fault)
	w.absent(wire.RefFault)
	b.enter(w.done)
	return w.value()
}

// absent makes the result None or FAULT. That is said in memory, as all of
// the result: the verifier then follows one way from here, not three.
func (w *pathWalk) absent(flag int64) {
	w.set(walkOff, w.b.Const(w.end))
	w.set(walkFlags, w.b.Const(flag))
	w.b.jump(w.done)
}

// address is the address of the file, path or dentry, known to be there.
func (w *pathWalk) address() *ir.Value {
	b := w.b
	v := b.expr(w.e.Args[0])
	if v.tag != nil {
		b.unless(ir.UGE, v.tag, wire.TagFault, func() { b.jump(w.fault) })
	}
	if v.x == nil {
		b.fail("path of a %s", v.t)
	}
	b.unless(ir.EQ, v.x, 0, func() { w.absent(wire.RefNone) })
	return v.x
}

// mounts reports whether the walk goes on beyond the mount of the file: a dentry alone does not tell its mount.
func (w *pathWalk) mounts() bool { return w.e.Str != "dentry" }

// alloc takes the memory of the walk, size bytes of it for the state. All of it is scratch memory, see rounds.go.
func (w *pathWalk) alloc(size int) {
	o := w.o
	room := layout.StringRoom(w.e.Type.Cap)
	w.buf = w.b.allocScratch(int(w.end) + max(room, maxName+1) + 8)
	w.state = w.b.allocScratch(size)
	w.dent = newPiece(w.b, field{o.DentryPprev, 8}, field{o.DentryParent, 8}, field{o.DentryName, 8},
		field{o.DentryNameLen, 4})
	w.mnt = newPiece(w.b, field{o.MountParent, 8}, field{o.MountMountpoint, 8})
}

// begin finds the dentry and the mount to start from.
func (w *pathWalk) begin(addr *ir.Value) {
	b := w.b
	if !w.mounts() {
		w.visit(addr)
		return
	}
	if w.e.Str == "file" {
		addr = b.Add(addr, int64(w.o.FilePath))
	}
	p := newPiece(w.b, field{w.o.PathMnt, 8}, field{w.o.PathDentry, 8})
	w.readPiece(p, addr)
	w.enterMount(b.Add(w.of(p, w.o.PathMnt), -int64(w.o.MountMnt)))
	w.visit(w.of(p, w.o.PathDentry))
}

// enterMount makes a struct mount the current one.
func (w *pathWalk) enterMount(mount *ir.Value) {
	w.set(walkMount, mount)
	w.read(w.addr(w.state, walkRoot), w.b.Const(8), w.b.Add(mount, int64(w.o.MountMnt+w.o.VfsmountRoot)))
}

// visit makes a dentry the current one.
func (w *pathWalk) visit(dentry *ir.Value) {
	w.set(walkDentry, dentry)
	w.readPiece(w.dent, dentry)
}

// leaf writes what only the first dentry tells: that it is deleted, or that
// it is in no folder at all.
func (w *pathWalk) leaf() {
	b := w.b
	alone, child := b.NewBlock(), b.NewBlock()
	climb := b.newJoin(types.Type{})
	b.Branch(ir.EQ, w.get(walkDentry), w.of(w.dent, w.o.DentryParent), alone, child)
	b.Begin(alone)
	if w.mounts() {
		b.unlessEqual(w.get(walkDentry), w.get(walkRoot), func() { b.jump(climb) })
	}
	w.pseudo()
	b.Begin(child) // d_unlinked: not hashed, and not a root
	b.unless(ir.EQ, w.of(w.dent, w.o.DentryPprev), 0, func() {
		w.prepend(deletedMark)
		b.jump(climb)
	})
	b.jump(climb)
	b.enter(climb)
}

// step writes the name of a dentry and goes to its parent, or leaves a mount. At the root it ends at rooted.
func (w *pathWalk) step() {
	b := w.b
	step := b.newJoin(types.U64)
	dentry := w.get(walkDentry)
	if w.mounts() {
		b.unlessEqual(dentry, w.get(walkRoot), func() { w.leaveMount(step) })
	}
	b.unlessEqual(dentry, w.of(w.dent, w.o.DentryParent), func() { b.jump(w.rooted) })
	w.name("/")
	b.jumpWith(step, intVal(types.U64, w.of(w.dent, w.o.DentryParent)))
	w.visit(b.enter(step).x)
}

// cutShort is where all steps were not enough: what is missing stands above.
func (w *pathWalk) cutShort() {
	b := w.b
	off := w.offset()
	b.unless(ir.ULT, off, int64(len(cutMark)), func() { b.jump(w.full) })
	w.markAt(b.Add(off, -int64(len(cutMark))))
}

// leaveMount goes on at the dentry on which the mount is mounted.
func (w *pathWalk) leaveMount(step *join) {
	b := w.b
	mount := w.get(walkMount)
	w.readPiece(w.mnt, mount)
	parent := w.of(w.mnt, w.o.MountParent)
	b.unlessEqual(w.get(walkMount), parent, func() { b.jump(w.rooted) })
	w.enterMount(parent)
	b.jumpWith(step, intVal(types.U64, w.of(w.mnt, w.o.MountMountpoint)))
}

// root writes the path of the root itself.
func (w *pathWalk) root() {
	b := w.b
	j := b.newJoin(types.Type{})
	b.unless(ir.EQ, w.get(walkOff), w.end, func() {
		w.prepend("/")
		b.jump(j)
	})
	b.jump(j)
	b.enter(j)
}

// value is the text.
func (w *pathWalk) value() val {
	b := w.b
	off := w.get(walkOff)
	b.unless(ir.UGT, off, w.end, b.ret) // as in offset: never
	s := &str{addr: w.at(off, 0), n: b.Op(ir.OpSub, b.Const(w.end), off), flags: w.get(walkFlags)}
	s.room = layout.StringRoom(w.e.Type.Cap)
	v := val{t: w.e.Type, s: s}
	if limit := int64(w.e.Type.Cap) - 1; limit < w.end {
		j := b.newJoin(w.e.Type)
		b.unless(ir.UGT, s.n, limit, func() { b.jumpWith(j, w.last(limit)) })
		b.jumpWith(j, v)
		v = b.enter(j)
	}
	return v
}

// last is the last limit bytes of the text, marked as cut if the mark fits.
func (w *pathWalk) last(limit int64) val {
	b := w.b
	at := w.end - limit
	if limit >= int64(len(cutMark)) {
		b.storeBytes(b.addr(w.buf, at), cutMark)
	}
	s := &str{addr: b.addr(w.buf, at), n: b.Const(limit), room: layout.StringRoom(w.e.Type.Cap)}
	return val{t: w.e.Type, s: s}
}
