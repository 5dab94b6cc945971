package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Start and end of calls of functions that nest, as recursive ones, by depth; how many stale entries are looked at
// (`maxStale`).
//
// Calls of functions nest: a thread can be in several calls of one span at a time. Their entries lie in one hash map by
// thread, process and depth. The entry of depth 0 also says how many are open. While f calls g and g calls f, and the
// span is that of f, the thread has
//
//	depth 0   open 2   frame 0x7ffe80   place of f   return address   slots of the outer call
//	depth 1            frame 0x7ffe20   place of f   return address   slots of the inner call
//
// An end looks for its entry from the innermost out (unwind). It is found by the frame, which is the place on the stack
// where the call began, and by the function, the place.
//
//   - An end whose start was missed finds no entry. It is counted, unless the thread has no call open.
//   - Calls are left by other ways than a return, too: longjmp, an exception, the end of a coroutine. Their entries lie
//     deeper on the stack than the next call that begins or ends around them. That one drops them and counts them
//     (dropStale).
//   - A function can call another one as its last act and give it its frame (a tail call). Then the entries of two
//     functions have one frame, and both calls are open, see unlessReplaced.
//
// Frames are compared only within one stack (stackSize), as interrupts and signals run on others.
//
// Entries are made and changed only by programs that run in the thread, with one exception: CallFree (spankeepers.go)
// removes them when nothing runs in the thread any more. User space reads them (items()), and empties the map before
// the probe is attached again.

// maxStale bounds the search for an entry one by one: what is above it is stale.
// An exception leaves all calls between its throw and its catch at once, so where
// that many are stale the others are found by halving.
const maxStale = 32

// maxHalvings is enough for a million open calls, more than a map of entries holds.
const maxHalvings = 20

// depthMask has all bits that a depth can have. The verifier knows of a depth by how much it is less than the number of
// open calls (linked scalars, from 6.11 on), which differs in each round of a search, so that what follows, such as the
// loop that drops entries, would be verified once for each. The mask makes them one.
const depthMask = 1<<30 - 1

// maxDropped bounds how many stale entries are deleted at once. Those that are
// left in the map are not open, and the next calls of their depths replace them.
const maxDropped = 32

// nesting writes starts and ends of calls of functions, which nest.
type nesting struct{ *code }

// identity is the thread, the frame and the place of a call.
func (b nesting) identity(s *tree.Stmt) (key *region, frame, place *ir.Value) {
	key = b.alloc(layout.NestedKey)
	b.Store(8, b.addr(key, 0), 0, b.expr(s.Exprs[0]).x)
	return key, b.expr(s.Exprs[1]).x, b.expr(s.Exprs[2]).x
}

// nestedLookup finds the entry of a depth, 0 if there is none. It leaves the depth in the key.
func (b nesting) nestedLookup(name string, key *region, depth *ir.Value) *ir.Value {
	word := b.Op(ir.OpOr, b.tgid(), b.Imm(ir.OpShl, depth, 32))
	b.Store(8, b.addr(key, 0), 8, word)
	return b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
}

// open is how many calls of the thread are open, with the entry of depth 0.
func (b nesting) open(first *ir.Value) *ir.Value {
	have := b.newJoin(types.U64)
	some, none := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.NE, first, 0, some, none)
	b.Begin(none)
	b.jumpWith(have, intVal(types.U64, b.Const(0)))
	b.Begin(some)
	b.jumpWith(have, intVal(types.U64, b.Load(8, first, layout.NestedOpen)))
	return b.enter(have).x
}

// spanEnter finds the depth of a call that begins.
func (b nesting) spanEnter(s *tree.Stmt) {
	_, name := b.span()
	key, frame, place := b.identity(s)
	b.tgid()
	ret := b.returnsTo()
	first := b.nestedLookup(name, key, b.Const(0))
	open := b.open(first)
	b.nested = &nested{key: key, frame: frame, place: place, ret: ret, first: first}
	depth := b.behindLeft(name, open)
	b.dropStale(name, key, first, open, depth)
	b.nested.depth = depth
}

// behindLeft is the depth behind the entries of calls that have been left when a
// call begins.
func (b nesting) behindLeft(name string, open *ir.Value) *ir.Value {
	n := b.nested
	return b.unwind(name, n.key, open, n.frame, func(entry *ir.Value, stale, found func()) {
		// How far this frame is above the entry's; a huge number where it is below.
		above := b.Op(ir.OpSub, n.frame, b.Load(8, entry, layout.NestedFrame))
		b.unless(ir.UGE, above, b.stackSize(), found)
		b.unless(ir.NE, above, 0, stale)
		b.unlessEqual(b.Load(8, entry, layout.NestedPlace), n.place, func() { b.again(entry, stale) })
		b.unlessReplaced(entry, stale)
		found() // a tail call: both return at once
	}, nil, nil)
}

// again is where a call begins whose frame and place are those of entry. Where the function begins with the head of a
// loop, and this one returns to the same place, it is a turn of that one: the program ends. Where the kernel has
// replaced the return address, its trampoline is in its place, which no call puts there.
func (b nesting) again(entry *ir.Value, stale func()) {
	turns := 0
	at := b.prog.Attach.At()
	for i := range at {
		if at[i].Turns {
			turns++
		}
	}
	if turns > 0 {
		b.unless(ir.EQ, b.Imm(ir.OpAnd, b.nested.ret, pageMask), 0, b.ret)
	}
	if turns > 0 && turns == len(at) {
		b.unlessEqual(b.Load(8, entry, layout.NestedReturn), b.nested.ret, b.ret)
	}
	stale()
}

// noStart ends the program at an end that no start is known of, and counts it. Where the function begins with the head
// of a loop nothing is missing: a kernel without sessions of probes has replaced the return address once more at each
// turn, and each is an end. Which of many functions do so is asked of some only; of more, no such end is counted.
func (b nesting) noStart(s *tree.Stmt, place *ir.Value) {
	at := b.prog.Attach.At()
	turning := slices.DeleteFunc(slices.Clone(at), func(p tree.Place) bool { return !p.Turns })
	if n := len(turning); n > 0 && (n == len(at) || n > mostAsked) {
		b.ret()
		return
	}
	for _, p := range turning {
		b.unless(ir.EQ, place, int64(p.Cookie), b.ret)
	}
	entries(b).noStart(s)
}

// mostAsked is up to how many functions are told apart where an end has no start.
const mostAsked = 16

// unlessReplaced goes on where the call that begins has replaced the one of entry,
// whose frame is its own. It then returns to where that one would have; a call that
// the same caller makes after a longjmp comes from elsewhere. Where the kernel
// has replaced the return address, its trampoline is in its place, which
// begins a page (uprobe_get_trampoline_vaddr, kernel/events/uprobes.c).
func (b nesting) unlessReplaced(entry *ir.Value, stale func()) {
	if !b.inUser() {
		return
	}
	n := b.nested
	other, same := b.NewBlock(), b.newJoin(types.Type{})
	differs := b.Op(ir.OpSub, n.ret, b.Load(8, entry, layout.NestedReturn))
	on := b.NewBlock()
	b.BranchImm(ir.NE, differs, 0, other, on)
	saved := b.save()
	b.Begin(other)
	b.unless(ir.NE, b.Imm(ir.OpAnd, n.ret, pageMask), 0, stale)
	b.jump(same)
	b.restore(saved)
	b.Begin(on)
	b.jump(same)
	b.enter(same)
}

// pageMask are the bits of an address within the smallest page.
const pageMask = 1<<12 - 1

// inUser reports whether the calls are those of user code.
func (b nesting) inUser() bool { return b.prog.Attach.Kind().InUser() }

// returnsTo is where the call that begins is to return to. Calls of the kernel
// are left by returns alone.
func (b nesting) returnsTo() *ir.Value {
	if !b.inUser() {
		return b.Const(0)
	}
	return registers(b).returnAddress()
}

// stackSize is the distance within which two frames are taken to be on one
// stack: x86 and arm64 have 16 KiB for a kernel thread; user stacks may be
// larger, and entries of calls that were left farther away count as another stack's.
func (b nesting) stackSize() int64 { return 1 << b.stackBits() }

func (b nesting) stackBits() int64 {
	if b.inUser() {
		return 20
	}
	return 14
}

// unwind walks open entries from the innermost out. test ends each round by found, or by stale, which goes on with the
// next one. The depth behind the entry that was found is returned: 2 for the one of depth 1. After maxStale rounds the
// entries of deeper frames are passed at once. none is called where all entries are stale, and far where the search has
// ended before. Where these are nil the depth that was reached is returned.
func (b nesting) unwind(name string, key *region, open, frame *ir.Value,
	test func(entry *ir.Value, stale, found func()), none, far func()) *ir.Value {
	head := b.NewBlock()
	b.Jump(head, open, b.Const(0))
	out := b.newJoin(types.U64)
	saved := b.save()
	b.Begin(head)
	depth, round := head.Param(b.Pos), head.Param(b.Pos)
	give := func() { b.jumpWith(out, intVal(types.U64, b.Imm(ir.OpAnd, depth, depthMask))) }
	if none == nil {
		none, far = give, give
	}
	again := func(depth, round *ir.Value) {
		b.Jump(head, depth, round)
		b.End()
	}
	b.unless(ir.EQ, depth, 0, none)
	b.unless(ir.EQ, round, maxStale, func() { again(b.behindDeeper(name, key, depth, frame), b.Const(maxStale+1)) })
	b.unless(ir.UGT, round, 2*maxStale, far)
	inner := b.Add(depth, -1)
	next := func() { again(inner, b.Add(round, 1)) }
	entry := b.nestedLookup(name, key, inner)
	b.unless(ir.EQ, entry, 0, next)
	test(entry, next, give)
	b.restore(saved)
	return b.enter(out).x
}

// behindDeeper is the depth behind the entries of deeper frames, of which the
// innermost is one. On one stack each frame is deeper than those around it.
func (b nesting) behindDeeper(name string, key *region, open, frame *ir.Value) *ir.Value {
	head := b.NewBlock()
	b.Jump(head, b.Const(0), open, b.Const(0))
	out := b.newJoin(types.U64)
	saved := b.save()
	b.Begin(head)
	low, high, round := head.Param(b.Pos), head.Param(b.Pos), head.Param(b.Pos)
	give := func() { b.jumpWith(out, intVal(types.U64, high)) }
	b.unless(ir.EQ, b.Op(ir.OpSub, high, low), 0, give)
	b.unless(ir.UGE, round, maxHalvings, give)
	mid := b.Imm(ir.OpLShr, b.Op(ir.OpAdd, low, high), 1)
	entry := b.nestedLookup(name, key, mid)
	b.unless(ir.EQ, entry, 0, give)
	// Without a branch: the verifier would follow all combinations of them.
	above := b.Op(ir.OpSub, frame, b.Load(8, entry, layout.NestedFrame))
	far := b.Imm(ir.OpLShr, b.Add(above, -1), b.stackBits()) // 0 where the entry's frame is deeper
	around := b.Imm(ir.OpAShr, b.Op(ir.OpOr, far, b.Op(ir.OpNeg, far)), 63)
	deeper := b.Imm(ir.OpXor, around, -1)
	part := func(whole, of, to *ir.Value) *ir.Value {
		return b.Op(ir.OpAdd, of, b.Op(ir.OpAnd, whole, b.Op(ir.OpSub, to, of)))
	}
	b.Jump(head, part(around, low, b.Add(mid, 1)), part(deeper, high, mid), b.Add(round, 1))
	b.End()
	b.restore(saved)
	return b.enter(out).x
}

// dropStale deletes the entries that are open at depth and above, and counts
// them.
func (b nesting) dropStale(name string, key *region, first, open, depth *ir.Value) {
	span, _ := b.span()
	b.drop(name, key, first, open, depth, dropping{left(span, tree.SiteOpenStart), maxDropped})
}

// dropping says where entries are counted that are dropped, and how many of them are deleted at most.
type dropping struct {
	site tree.Site
	most int64
}

// drop counts the entries from depth to open, makes depth the number of open calls, and deletes the entries, at most
// how.most of them. first is the entry of depth 0, 0 if there is none.
func (b nesting) drop(name string, key *region, first, open, depth *ir.Value, how dropping) {
	head, out := b.NewBlock(), b.newJoin(types.Type{})
	stale := b.Op(ir.OpSub, open, depth)
	b.unless(ir.EQ, stale, 0, func() { b.jump(out) })
	b.unless(ir.EQ, first, 0, func() { b.jump(out) })
	b.countSiteBy(how.site, stale)
	b.Store(8, first, layout.NestedOpen, depth)
	b.Jump(head, open, b.Const(0))
	saved := b.save()
	b.Begin(head)
	top, round := head.Param(b.Pos), head.Param(b.Pos)
	b.unlessEqual(top, depth, func() { b.jump(out) })
	b.unless(ir.UGE, round, how.most, func() { b.jump(out) })
	inner := b.Add(top, -1)
	b.Store(8, b.addr(key, 0), 8, b.Op(ir.OpOr, b.tgid(), b.Imm(ir.OpShl, inner, 32)))
	b.Call(helperMapDelete, b.MapPtr(name), b.addr(key, 0))
	b.Jump(head, inner, b.Add(round, 1))
	b.End()
	b.restore(saved)
	b.enter(out)
}

// spanStart makes the entry of a call that begins.
func (b nesting) spanStart(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Nested(span.Slots)
	n := b.nested
	m := b.alloc(f.Size)
	at := func(off int64) *ir.Value { return b.addr(m, off) }
	var ls []leaf
	for i, e := range s.Exprs {
		ls = stores(b).collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	stores(b).storeLeaves(at, layout.NestedSlots, f.Size-8, ls)
	b.Store(8, at(int64(f.Size)-8), 0, b.Const(0))
	b.Store(8, at(0), layout.NestedOpen, b.Const(1))
	b.Store(8, at(0), layout.NestedFrame, n.frame)
	b.Store(8, at(0), layout.NestedPlace, n.place)
	b.Store(8, at(0), layout.NestedReturn, n.ret)
	word := b.Op(ir.OpOr, b.tgid(), b.Imm(ir.OpShl, n.depth, 32))
	b.Store(8, b.addr(n.key, 0), 8, word)
	done := b.newJoin(types.Type{})
	if span.MaxDepth != 0 {
		b.unless(ir.UGE, n.depth, int64(span.MaxDepth), func() {
			b.countSpan(tree.SiteSpanDeep)
			b.jump(done)
		})
	}
	rc := b.Call(helperMapUpdate, b.MapPtr(name), b.addr(n.key, 0), at(0), b.Const(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
	b.unless(ir.EQ, n.depth, 0, func() { b.jump(done) })
	b.unless(ir.EQ, n.first, 0, func() { b.jump(done) })
	b.Store(8, n.first, layout.NestedOpen, b.Add(n.depth, 1))
	b.jump(done)
	b.enter(done)
	b.release(m, n.key)
	b.opened = true
}

// spanEnd takes the entry of a call that ends: its bytes are copied, and it is deleted. A thread that has no call open
// may have been in this call when the probe was attached, so that is not counted.
func (b nesting) spanEnd(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Nested(span.Slots)
	key, frame, place := b.identity(s)
	b.tgid()
	first := b.nestedLookup(name, key, b.Const(0))
	b.unless(ir.EQ, first, 0, b.ret)
	m := b.alloc(f.Size - 8)
	open := b.Load(8, first, layout.NestedOpen)
	noStart := func() { b.noStart(s, place) }
	depth := b.unwind(name, key, open, frame, func(entry *ir.Value, stale, found func()) {
		b.unlessSame(b.Load(8, entry, layout.NestedFrame), frame, stale)
		b.unlessSame(b.Load(8, entry, layout.NestedPlace), place, stale)
		b.OpImm(ir.OpCopy, int64(f.Size)-8, b.addr(m, 0), entry)
		found()
	}, noStart, noStart)
	b.dropStale(name, key, first, open, depth)
	inner := b.Add(depth, -1)
	b.Store(8, first, layout.NestedOpen, inner)
	b.Store(8, b.addr(key, 0), 8, b.Op(ir.OpOr, b.tgid(), b.Imm(ir.OpShl, inner, 32)))
	b.Call(helperMapDelete, b.MapPtr(name), b.addr(key, 0))
	b.release(key)
	b.nested = &nested{frame: frame, place: place, depth: inner}
	b.entry = &spanEntry{b.addr(m, 0), f, span.Slots}
}
