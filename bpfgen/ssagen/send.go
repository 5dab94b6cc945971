package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The record of an event is put together and given to the ring; a full ring is counted here.
//
// An event is sent as a record: a header, a fixed part, and the bytes of strings behind it (package wire). Of
//
//	probe("syscall:openat", lambda e: printf("%s %s\n", e.comm, e.args.filename))
//
// the layout is
//
//	record r0 probe 0 fixed 24 max 304
//	  comm str@16+4
//	  args.filename str@20+4
//
// and where a process cat opens /etc/passwd the record is
//
//	 0  number of the record u32, CPU u32, time u64 in ns     the header
//	16  24 | 16<<16                                           comm: its offset and its length
//	20  40 | 11<<16                                           args.filename
//	24  "cat" and 13 NULs                                     comm is always sent as 16 bytes
//	40  "/etc/passwd"                                         the record ends here, at 51 bytes
//
// The record is put together on the stack or in the scratch memory, and the ring gets a copy of as many bytes as it
// has. Where a probe keeps events (keep=), the copy goes to a queue instead. Numbers are stored as soon as they are
// read, so that none waits in a register. The length of comm is known when the program is compiled, so the file name
// can begin at 40 in each record. The length of a file name is known only at run time. So what stands behind it begins
// at an offset that is computed, and the packer writes first what has a known length.
//
// Bytes of the fixed part that nothing else writes are set to zero. A record that the ring or the queue does not take
// is counted at a site, and the program goes on.

// sends writes the records of events.
type sends struct{ *code }

// send is SSend: it makes a record in memory and gives it to the ring, or to the queue of the probe.
func (b sends) send(s *tree.Stmt) {
	r := b.Tree.Records[s.Int]
	if len(s.Exprs) != len(r.Fields) {
		b.fail("record %d has %d fields, got %d", s.Int, len(r.Fields), len(s.Exprs))
	}
	m := b.recordMemory(r)
	at := func(off int64) *ir.Value { return b.addr(m, off) }
	var all []leaf
	for i, e := range s.Exprs {
		valLeaves(r.Fields[i].Type, e.Type, val{}, func(l leaf) { all = append(all, l) })
	}
	stores(b).zeroGaps(at, wire.HeaderSize, r.FixedSize, all)
	var texts []leaf
	for i, e := range s.Exprs {
		stores(b).leaves(r.Fields[i].Type, e.Type, e, func(l leaf) {
			if isText(l.t.Kind) {
				texts = append(texts, l)
			} else {
				stores(b).storeScalar(at, l, wordAlone(all, l))
			}
		})
	}
	if r.NoCPU {
		b.Store(8, at(0), wire.HeaderNumber, calls(b).recordNumber(s, r)) // and 0 for the CPU
	} else {
		b.Store(4, at(0), wire.HeaderNumber, calls(b).recordNumber(s, r))
		b.Store(4, at(0), wire.HeaderCPU, b.helperOnce("cpu_raw", helperGetSMPProcessorID))
	}
	b.Store(8, at(0), wire.HeaderTime, b.helperOnce("time_raw", helperKtimeGetNS))
	p := &packer{b: b.code, m: m, fixed: int64(r.FixedSize), all: all}
	for _, known := range []bool{true, false} {
		for _, l := range texts {
			if knownLen(l) == known {
				p.text(l)
			}
		}
	}
	if b.Tree.Keep[b.prog.Probe] > 0 {
		b.keep(m, p.end())
	} else {
		b.output(m, p.end())
	}
	if b.prog.Attach.Kind() == tree.AttachIter {
		b.countSent(m)
	}
	b.release(m)
}

// recordMemory is where a record is put together. Of one that is kept all bytes
// of its slot are copied, so it lies where these are always readable: kernels
// before 6.3 refuse bytes of the stack that nothing has written.
func (b sends) recordMemory(r *wire.Record) *region {
	size := r.MaxSize + 8 // a string that is cut writes one byte more
	if b.Tree.Keep[b.prog.Probe] == 0 {
		return b.alloc(size)
	}
	return b.allocScratch(b.Tree.KeepSize(b.prog.Probe))
}

// countSent writes a word of the record to the iterator's file: a read ends
// when it is full, so the reader bounds how many records come before it can
// drain the ring (bpf_seq_read, kernel/bpf/bpf_iter.c).
func (b sends) countSent(m *region) {
	meta := b.Load(8, b.ctx(), 0) // struct bpf_iter_meta, whose first member is seq
	b.Call(helperSeqWrite, b.Load(8, meta, 0), b.addr(m, 0), b.Const(8))
}

// knownLen reports whether the bytes that a string takes in a record are
// known: those of a constant, or the room of padded memory.
func knownLen(l leaf) bool {
	if l.text != nil {
		return l.text.Op == tree.OpBuiltin
	}
	return l.v.s.konst != nil || l.v.s.n == nil
}

// packer appends strings to one record.
type packer struct {
	// b is the function under construction.
	b *code
	// m is the memory of the record.
	m *region
	// all are the leaves of the record, those of the fixed part, too.
	all []leaf
	// fixed is where the next string begins, as long as off is nil.
	fixed int64
	// off is where the next string begins, from the first string of unknown length on. It is nil before.
	off *ir.Value
}

// end is the offset at which the next string begins.
func (p *packer) end() *ir.Value {
	if p.off == nil {
		return p.b.Const(p.fixed)
	}
	return p.off
}

// place is the address at which the next string begins.
func (p *packer) place() *ir.Value {
	if p.off == nil {
		return p.b.addr(p.m, p.fixed)
	}
	return p.b.Op(ir.OpAdd, p.b.addr(p.m, 0), p.off)
}

// text appends the bytes of l and stores its reference.
func (p *packer) text(l leaf) {
	b := p.b
	defer b.at(b.Pos)()
	words := l.text == nil || l.text.Op == tree.OpBuiltin
	if words && p.off == nil {
		// the bytes are written in words, which the stack takes only where they are aligned
		p.fixed = (p.fixed + 7) &^ 7
	}
	start := p.end()
	var s *str
	switch {
	case l.text != nil && l.text.Op == tree.OpBuiltin:
		b.Call(helperGetCurrentComm, p.place(), b.Const(commSize)) // readers end it at its NUL
		s = &str{room: commSize}
	case l.text != nil:
		b.at(l.text.Pos)
		s = texts{b}.strInto(l.text, nil, p.place()).s
	case l.v.s.konst == nil && l.v.s.n != nil:
		p.counted(l.v.s, l.w, start)
		return
	default:
		s = l.v.s
		copies{b}.copyBytes(p.place(), s, s.room)
	}
	p.advance(s) // first: the record's size is moved to an argument, which leaves the length to be overwritten
	p.reference(l.w, start, s)
}

// counted appends a string whose length came over a join: the verifier must
// see its bound.
func (p *packer) counted(s *str, w wire.Type, start *ir.Value) {
	b := p.b
	j := b.newJoin(types.I64)
	sane := *s
	sane.n = copies{b}.saneLen(s.n)
	b.unless(ir.UGT, sane.n, int64(s.room), func() { b.jumpWith(j, intVal(types.I64, start)) })
	b.Call(helperProbeReadKernel, p.place(), sane.n, b.strAddr(s, 0))
	p.reference(w, start, &sane)
	b.jumpWith(j, intVal(types.I64, b.Op(ir.OpAdd, start, sane.n)))
	p.off = b.enter(j).x
}

// reference stores u16 offset and u16 length with flags.
func (p *packer) reference(w wire.Type, start *ir.Value, s *str) {
	b := p.b
	n, known := p.length(s)
	if known && s.flags == nil && start.Op == ir.OpConst {
		b.Store(p.referenceSize(w), b.addr(p.m, int64(w.Off)), 0, b.Const(start.Imm|n.Imm<<16))
		return
	}
	if s.flags != nil {
		n = b.Op(ir.OpOr, n, s.flags)
	}
	if start.Op == ir.OpConst {
		b.Store(p.referenceSize(w), b.addr(p.m, int64(w.Off)), 0, start)
		b.Store(2, b.addr(p.m, int64(w.Off)+2), 0, n)
		return
	}
	ref := b.Op(ir.OpOr, b.Imm(ir.OpShl, n, 16), start)
	b.Store(p.referenceSize(w), b.addr(p.m, int64(w.Off)), 0, ref)
}

// referenceSize is how many bytes the store of a reference writes: its word,
// where nothing else is in that.
func (p *packer) referenceSize(w wire.Type) int {
	if aloneInWord(p.all, w) {
		return 8
	}
	return w.Size
}

// length is the bytes that s takes in the record.
func (p *packer) length(s *str) (n *ir.Value, known bool) {
	switch {
	case s.konst != nil:
		return p.b.Const(int64(len(*s.konst))), true
	case s.n == nil:
		return p.b.Const(int64(s.room)), true
	}
	return s.n, false
}

// advance goes behind s.
func (p *packer) advance(s *str) {
	n, known := p.length(s)
	if known && p.off == nil {
		p.fixed += n.Imm
		return
	}
	p.off = p.b.Op(ir.OpAdd, p.end(), n)
}

// output hands the record over. The reader comes by its timer, each few
// milliseconds, in which the ring does not fill: waking it costs more than the
// record (an interrupt, and a look at where the reader stands, on every CPU).
func (b sends) output(m *region, size *ir.Value) {
	b.Uses[tree.MapRing] = true
	rc := b.Call(helperRingbufOutput, b.MapPtr(tree.MapRing), b.addr(m, 0), size, b.Const(ringNoWakeup))
	b.countFailed(rc, tree.SiteRing)
}

// keep puts the record among the last of its probe. All entries of the queue are of one size, so the size of the record
// stands in the last 8 bytes. The queue drops its oldest entry where it is full. The push fails only where the program
// has interrupted another one that was at the queue.
func (b sends) keep(m *region, size *ir.Value) {
	slot := b.Tree.KeepSize(b.prog.Probe)
	b.Store(8, b.addr(m, 0), int64(slot-8), size)
	rc := b.Call(helperMapPush, b.MapPtr(tree.KeepMap(b.prog.Probe)), b.addr(m, 0), b.Const(updateExist))
	b.countFailed(rc, tree.SiteKeep)
}

// countFailed counts a record that was not taken, and goes on.
func (b sends) countFailed(rc *ir.Value, kind tree.SiteKind) {
	j := b.newJoin(types.Type{})
	b.unless(ir.NE, rc, 0, func() {
		b.countSite(tree.Site{Kind: kind, Probe: b.prog.Probe, Container: -1})
		b.jump(j)
	})
	b.jump(j)
	b.enter(j)
}
