package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// The pieces of text of a path: names, the mark that something is missing, pipes, sockets, namespaces.
//
// The pieces of a path, each written in front of the text that is there. The
// offset at which the text begins is bounded each time that it is loaded,
// which the verifier asks for and which never fails.

// prepend writes constant text.
func (w *pathWalk) prepend(text string) {
	b := w.b
	off := b.Add(w.offset(), -int64(len(text)))
	b.unless(ir.UGT, off, w.end, func() { b.jump(w.full) }) // below 0
	b.storeBytes(w.at(off, 0), text)
	w.set(walkOff, off)
}

// name writes the name of the current dentry with a prefix of one byte or
// none, or ends at done if it does not fit.
func (w *pathWalk) name(prefix string) {
	b := w.b
	off := w.offset()
	n := b.Load(4, w.addr(w.dent.m, int64(w.o.DentryNameLen)-w.dent.lo), 0)
	b.unless(ir.UGT, n, maxName, func() { b.jump(w.fault) })
	start := b.Add(b.Op(ir.OpSub, off, n), -int64(len(prefix)))
	b.unless(ir.UGT, start, w.end, func() { w.tail(off, n) })
	b.storeBytes(w.at(start, 0), prefix)
	w.read(w.at(start, int64(len(prefix))), n, w.of(w.dent, w.o.DentryName))
	w.set(walkOff, start)
}

// tail writes the mark and as much of the end of a name as fits behind it.
func (w *pathWalk) tail(off, n *ir.Value) {
	b := w.b
	mark := int64(len(cutMark))
	m := b.Add(off, -mark)
	b.unless(ir.UGT, m, w.end, func() { b.jump(w.full) }) // below 0
	w.read(w.addr(w.buf, mark), m, b.Op(ir.OpAdd, w.of(w.dent, w.o.DentryName), b.Op(ir.OpSub, n, m)))
	b.jump(w.full)
}

// markAt makes the text begin at off, with the mark that something is missing.
func (w *pathWalk) markAt(off *ir.Value) {
	w.b.storeBytes(w.at(off, 0), cutMark)
	w.set(walkOff, off)
	w.b.jump(w.done)
}

// storeBytes writes constant bytes to an address in a map, aligned or not.
func (b *code) storeBytes(dst *ir.Value, text string) {
	for i := 0; i < len(text); {
		size := 8
		for size > len(text)-i {
			size /= 2
		}
		b.Store(size, dst, int64(i), b.Const(word(text[i:i+size])))
		i += size
	}
}

// File systems of the kernel's own: include/uapi/linux/magic.h.
const (
	magicPipe    = 0x50495045
	magicSock    = 0x534f434b
	magicAnon    = 0x09041934
	magicTmp     = 0x01021994
	magicHugetlb = 0x958458f6
	magicPid     = 0x50494446
	magicNs      = 0x6e736673
)

// pseudo writes what stands in /proc/PID/fd for files in no folder, by their
// file system, as the d_dname functions of the kernel do, and ends.
func (w *pathWalk) pseudo() {
	b := w.b
	inode := w.follow(w.get(walkDentry), w.o.DentryInode)
	w.read(w.addr(w.state, walkNumber), b.Const(8), b.Add(inode, int64(w.o.InodeIno)))
	magic := w.follow(w.follow(inode, w.o.InodeSb), w.o.SbMagic)
	numbered, temporary := b.newJoin(types.Type{}), b.newJoin(types.Type{})
	b.unless(ir.EQ, magic, magicPipe, func() { b.jump(numbered) })
	b.unless(ir.EQ, magic, magicSock, func() { b.jump(numbered) })
	b.unless(ir.EQ, magic, magicNs, func() { b.jump(numbered) })
	b.unless(ir.EQ, magic, magicPid, func() {
		w.prepend("anon_inode:[pidfd]")
		b.jump(w.done)
	})
	n := b.Load(4, w.addr(w.dent.m, int64(w.o.DentryNameLen)-w.dent.lo), 0)
	b.unless(ir.EQ, n, 1, func() { b.jump(w.rooted) }) // "/": the root of a file system
	b.unless(ir.EQ, magic, magicTmp, func() { b.jump(temporary) })
	b.unless(ir.EQ, magic, magicHugetlb, func() { b.jump(temporary) })
	w.name("")
	w.prepend("anon_inode:")
	b.jump(w.done)
	b.enter(temporary)
	w.prepend(deletedMark)
	w.name("/")
	b.jump(w.done)
	b.enter(numbered)
	w.number()
	b.unless(ir.EQ, magic, magicPipe, func() {
		w.prepend("pipe:[")
		b.jump(w.done)
	})
	b.unless(ir.EQ, magic, magicNs, func() {
		w.namespace()
		b.jump(w.done)
	})
	w.prepend("socket:[")
	b.jump(w.done)
}

// namespace writes what kind of namespace the file stands for (ns_dname in
// fs/nsfs.c): "mnt:[".
func (w *pathWalk) namespace() {
	b := w.b
	w.prepend(":[")
	inode := w.follow(w.get(walkDentry), w.o.DentryInode)
	kind := w.follow(w.follow(inode, w.o.InodePrivate), w.o.NsOps)
	name := w.follow(kind, w.o.NsOpsName)
	const room = 24 // "pid_for_children" is the longest
	m := b.allocScratch(room)
	rc := b.Call(helperProbeReadKernelStr, b.addr(m, 0), b.Const(room), name)
	b.unless(ir.SLE, rc, 0, func() { b.jump(w.fault) })
	n := b.Add(rc, -1)
	off := b.Op(ir.OpSub, w.offset(), n)
	b.unless(ir.UGT, off, w.end, func() { b.jump(w.full) }) // below 0
	w.read(w.at(off, 0), n, b.addr(m, 0))
	w.set(walkOff, off)
}

// number writes the inode's number and a bracket.
func (w *pathWalk) number() {
	b := w.b
	ready := b.newJoin(types.Type{})
	b.Store(1, w.addr(w.buf, w.end-1), 0, b.Const(']'))
	b.rounds(20, func(k *ir.Value) { // digits of 2^64
		x := w.get(walkNumber)
		at := b.Op(ir.OpSub, b.Const(w.end-2), k)
		b.Store(1, w.at(at, 0), 0, b.Imm(ir.OpAdd, b.Imm(ir.OpUMod, x, 10), '0'))
		w.set(walkOff, at)
		rest := b.Imm(ir.OpUDiv, x, 10)
		w.set(walkNumber, rest)
		b.unless(ir.EQ, rest, 0, func() { b.jump(ready) })
	})
	b.jump(ready) // not reached: a word has no more digits
	b.enter(ready)
}
