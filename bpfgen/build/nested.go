package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Calls of functions nest. Their entries lie in one hash map by thread and
// depth; the one of depth 0 also says how many are open. An entry is found
// again by its frame, the place on the stack where the call began: an end whose
// start was missed finds none, and a start that finds entries of frames deeper
// than its own drops them, as does an end that finds its own behind others, for these calls have been left by other
// ways than a return (longjmp, an exception, the end of a coroutine). Frames are compared only
// within one stack: interrupts and signals run on others.
//
// Only the thread itself touches its entries.

// nested is a nested span as one program uses it.
type nested struct {
	key          *region
	frame, place *ir.Value
	ret          *ir.Value // the return address; 0 where nothing but a return leaves a call
	depth        *ir.Value // how many calls around this one are open
	first        *ir.Value // the entry of depth 0, where depth is not 0
}

// maxStale bounds the search for an entry one by one: what is above it is stale.
// An exception leaves all calls between its throw and its catch at once, so where
// that many are stale the others are found by halving.
const maxStale = 32

// maxHalvings is enough for a million open calls, more than a map of entries holds.
const maxHalvings = 20

// maxDropped bounds how many stale entries are deleted at once. Those that are
// left in the map are not open, and the next calls of their depths replace them.
const maxDropped = 32

// identity is the thread, the frame and the place of a call.
func (b *builder) identity(s *tree.Stmt) (key *region, frame, place *ir.Value) {
	key = b.alloc(layout.NestedKey)
	b.store(8, b.addr(key, 0), 0, b.expr(s.Exprs[0]).x)
	return key, b.expr(s.Exprs[1]).x, b.expr(s.Exprs[2]).x
}

// nestedLookup finds the entry of a depth.
func (b *builder) nestedLookup(name string, key *region, depth *ir.Value) *ir.Value {
	word := b.op(ir.OpOr, b.tgid(), b.imm(ir.OpShl, depth, 32))
	b.store(8, b.addr(key, 0), 8, word)
	return b.call(helperMapLookup, b.mapPtr(name), b.addr(key, 0))
}

// open is how many calls of the thread are open, with the entry of depth 0.
func (b *builder) open(first *ir.Value) *ir.Value {
	have := b.newJoin(types.U64)
	some, none := b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(ir.NE, first, 0, some, none)
	b.begin(none)
	b.jumpWith(have, intVal(types.U64, b.konst(0)))
	b.begin(some)
	b.jumpWith(have, intVal(types.U64, b.load(8, first, layout.NestedOpen)))
	return b.enter(have).x
}

// spanEnter finds the depth of a call that begins.
func (b *builder) spanEnter(s *tree.Stmt) {
	_, name := b.span()
	key, frame, place := b.identity(s)
	b.tgid()
	ret := b.returnsTo()
	first := b.nestedLookup(name, key, b.konst(0))
	open := b.open(first)
	b.nested = &nested{key: key, frame: frame, place: place, ret: ret, first: first}
	depth := b.behindLeft(name, open)
	b.dropStale(name, key, first, open, depth)
	b.nested.depth = depth
}

// behindLeft is the depth behind the entries of calls that have been left when a
// call begins.
func (b *builder) behindLeft(name string, open *ir.Value) *ir.Value {
	n := b.nested
	return b.unwind(name, n.key, open, n.frame, func(entry *ir.Value, stale, found func()) {
		// How far this frame is above the entry's; a huge number where it is below.
		above := b.op(ir.OpSub, n.frame, b.load(8, entry, layout.NestedFrame))
		b.unless(ir.UGE, above, b.stackSize(), found)
		b.unless(ir.NE, above, 0, stale)
		b.unlessEqual(b.load(8, entry, layout.NestedPlace), n.place, stale)
		b.unlessReplaced(entry, stale)
		found() // a tail call: both return at once
	}, nil, nil)
}

// unlessReplaced goes on where the call that begins has replaced the one of entry,
// whose frame is its own. It then returns to where that one would have; a call that
// the same caller makes after a longjmp comes from elsewhere. Where the kernel
// has replaced the return address, its trampoline is in its place, which
// begins a page (uprobe_get_trampoline_vaddr, kernel/events/uprobes.c).
func (b *builder) unlessReplaced(entry *ir.Value, stale func()) {
	if !b.inUser() {
		return
	}
	n := b.nested
	other, same := b.f.NewBlock(), b.newJoin(types.Type{})
	differs := b.op(ir.OpSub, n.ret, b.load(8, entry, layout.NestedReturn))
	on := b.f.NewBlock()
	b.branchImm(ir.NE, differs, 0, other, on)
	saved := b.save()
	b.begin(other)
	b.unless(ir.NE, b.imm(ir.OpAnd, n.ret, pageMask), 0, stale)
	b.jump(same)
	b.restore(saved)
	b.begin(on)
	b.jump(same)
	b.enter(same)
}

// pageMask are the bits of an address within the smallest page.
const pageMask = 1<<12 - 1

// inUser reports whether the calls are those of user code.
func (b *builder) inUser() bool {
	k := b.prog.Attach.Kind
	return k == tree.AttachUprobe || k == tree.AttachUretprobe
}

// returnsTo is where the call that begins is to return to. Calls of the kernel
// are left by returns alone.
func (b *builder) returnsTo() *ir.Value {
	if !b.inUser() {
		return b.konst(0)
	}
	return b.returnAddress()
}

// stackSize is the distance within which two frames are taken to be on one
// stack: x86 and arm64 have 16 KiB for a kernel thread; user stacks may be
// larger, and entries of calls that were left farther away count as another stack's.
func (b *builder) stackSize() int64 { return 1 << b.stackBits() }

func (b *builder) stackBits() int64 {
	if b.inUser() {
		return 20
	}
	return 14
}

// unwind walks open entries from the innermost out. test ends each round by
// found or by stale, which goes on; the depth behind the one found is returned.
// After maxStale rounds those of deeper frames are passed at once.
// none is called where all are stale, far where the search ends before; nil: the
// depth that was reached is returned.
func (b *builder) unwind(name string, key *region, open, frame *ir.Value,
	test func(entry *ir.Value, stale, found func()), none, far func()) *ir.Value {
	head := b.f.NewBlock()
	b.cur.Jump(b.pos, head, open, b.konst(0))
	b.reach(head)
	out := b.newJoin(types.U64)
	saved := b.save()
	b.begin(head)
	depth, round := head.Param(b.pos), head.Param(b.pos)
	give := func() { b.jumpWith(out, intVal(types.U64, depth)) }
	if none == nil {
		none, far = give, give
	}
	again := func(depth, round *ir.Value) {
		b.cur.Jump(b.pos, head, depth, round)
		b.reach(head)
		b.end()
	}
	b.unless(ir.EQ, depth, 0, none)
	b.unless(ir.EQ, round, maxStale, func() { again(b.behindDeeper(name, key, depth, frame), b.konst(maxStale+1)) })
	b.unless(ir.UGT, round, 2*maxStale, far)
	inner := b.add(depth, -1)
	next := func() { again(inner, b.add(round, 1)) }
	entry := b.nestedLookup(name, key, inner)
	b.unless(ir.EQ, entry, 0, next)
	test(entry, next, give)
	b.restore(saved)
	return b.enter(out).x
}

// behindDeeper is the depth behind the entries of deeper frames, of which the
// innermost is one. On one stack each frame is deeper than those around it.
func (b *builder) behindDeeper(name string, key *region, open, frame *ir.Value) *ir.Value {
	head := b.f.NewBlock()
	b.cur.Jump(b.pos, head, b.konst(0), open, b.konst(0))
	b.reach(head)
	out := b.newJoin(types.U64)
	saved := b.save()
	b.begin(head)
	low, high, round := head.Param(b.pos), head.Param(b.pos), head.Param(b.pos)
	give := func() { b.jumpWith(out, intVal(types.U64, high)) }
	b.unless(ir.EQ, b.op(ir.OpSub, high, low), 0, give)
	b.unless(ir.UGE, round, maxHalvings, give)
	mid := b.imm(ir.OpLShr, b.op(ir.OpAdd, low, high), 1)
	entry := b.nestedLookup(name, key, mid)
	b.unless(ir.EQ, entry, 0, give)
	// Without a branch: the verifier would follow all combinations of them.
	above := b.op(ir.OpSub, frame, b.load(8, entry, layout.NestedFrame))
	far := b.imm(ir.OpLShr, b.add(above, -1), b.stackBits()) // 0 where the entry's frame is deeper
	around := b.imm(ir.OpAShr, b.op(ir.OpOr, far, b.op(ir.OpNeg, far)), 63)
	deeper := b.imm(ir.OpXor, around, -1)
	part := func(whole, of, to *ir.Value) *ir.Value {
		return b.op(ir.OpAdd, of, b.op(ir.OpAnd, whole, b.op(ir.OpSub, to, of)))
	}
	b.cur.Jump(b.pos, head, part(around, low, b.add(mid, 1)), part(deeper, high, mid), b.add(round, 1))
	b.reach(head)
	b.end()
	b.restore(saved)
	return b.enter(out).x
}

// dropStale deletes the entries that are open at depth and above, and counts
// them.
func (b *builder) dropStale(name string, key *region, first, open, depth *ir.Value) {
	span, _ := b.span()
	b.drop(name, key, first, open, depth, dropping{left(span, tree.SiteOpenStart), maxDropped})
}

// dropping is where entries are counted that are deleted, and how many are at once.
type dropping struct {
	site tree.Site
	most int64
}

func (b *builder) drop(name string, key *region, first, open, depth *ir.Value, how dropping) {
	head, out := b.f.NewBlock(), b.newJoin(types.Type{})
	stale := b.op(ir.OpSub, open, depth)
	b.unless(ir.EQ, stale, 0, func() { b.jump(out) })
	b.unless(ir.EQ, first, 0, func() { b.jump(out) })
	b.countSiteBy(how.site, stale)
	b.store(8, first, layout.NestedOpen, depth)
	b.cur.Jump(b.pos, head, open, b.konst(0))
	b.reach(head)
	saved := b.save()
	b.begin(head)
	top, round := head.Param(b.pos), head.Param(b.pos)
	b.unlessEqual(top, depth, func() { b.jump(out) })
	b.unless(ir.UGE, round, how.most, func() { b.jump(out) })
	inner := b.add(top, -1)
	b.store(8, b.addr(key, 0), 8, b.op(ir.OpOr, b.tgid(), b.imm(ir.OpShl, inner, 32)))
	b.call(helperMapDelete, b.mapPtr(name), b.addr(key, 0))
	b.cur.Jump(b.pos, head, inner, b.add(round, 1))
	b.reach(head)
	b.end()
	b.restore(saved)
	b.enter(out)
}

// nestedStart makes the entry of a call that begins.
func (b *builder) nestedStart(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Nested(span.Slots)
	n := b.nested
	m := b.alloc(f.Size)
	at := func(off int64) *ir.Value { return b.addr(m, off) }
	var ls []leaf
	for i, e := range s.Exprs {
		ls = b.collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	b.storeLeaves(at, layout.NestedSlots, f.Size-8, ls)
	b.store(8, at(int64(f.Size)-8), 0, b.konst(0))
	b.store(8, at(0), layout.NestedOpen, b.konst(1))
	b.store(8, at(0), layout.NestedFrame, n.frame)
	b.store(8, at(0), layout.NestedPlace, n.place)
	b.store(8, at(0), layout.NestedReturn, n.ret)
	word := b.op(ir.OpOr, b.tgid(), b.imm(ir.OpShl, n.depth, 32))
	b.store(8, b.addr(n.key, 0), 8, word)
	done := b.newJoin(types.Type{})
	if span.MaxDepth != 0 {
		b.unless(ir.UGE, n.depth, int64(span.MaxDepth), func() {
			b.countSpan(tree.SiteSpanDeep)
			b.jump(done)
		})
	}
	rc := b.call(helperMapUpdate, b.mapPtr(name), b.addr(n.key, 0), at(0), b.konst(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
	b.unless(ir.EQ, n.depth, 0, func() { b.jump(done) })
	b.unless(ir.EQ, n.first, 0, func() { b.jump(done) })
	b.store(8, n.first, layout.NestedOpen, b.add(n.depth, 1))
	b.jump(done)
	b.enter(done)
	b.release(m, n.key)
	b.opened = true
}

// nestedEnd takes the entry of a call that ends. A thread that has none open
// may have been in the call when it was attached to, so that is not counted.
func (b *builder) nestedEnd(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Nested(span.Slots)
	key, frame, place := b.identity(s)
	b.tgid()
	first := b.nestedLookup(name, key, b.konst(0))
	b.unless(ir.EQ, first, 0, b.ret)
	m := b.alloc(f.Size - 8)
	open := b.load(8, first, layout.NestedOpen)
	noStart := func() { b.noStart(s) }
	depth := b.unwind(name, key, open, frame, func(entry *ir.Value, stale, found func()) {
		b.unlessSame(b.load(8, entry, layout.NestedFrame), frame, stale)
		b.unlessSame(b.load(8, entry, layout.NestedPlace), place, stale)
		b.cur.AddImm(ir.OpCopy, b.pos, int64(f.Size)-8, b.addr(m, 0), entry)
		found()
	}, noStart, noStart)
	b.dropStale(name, key, first, open, depth)
	inner := b.add(depth, -1)
	b.store(8, first, layout.NestedOpen, inner)
	b.store(8, b.addr(key, 0), 8, b.op(ir.OpOr, b.tgid(), b.imm(ir.OpShl, inner, 32)))
	b.call(helperMapDelete, b.mapPtr(name), b.addr(key, 0))
	b.release(key)
	b.nested = &nested{frame: frame, place: place, depth: inner}
	b.entry = &spanEntry{b.addr(m, 0), f, span.Slots}
}

// unlessSame goes on where x is y.
func (b *builder) unlessSame(x, y *ir.Value, cold func()) {
	b.unless(ir.NE, b.op(ir.OpSub, x, y), 0, cold)
}
