package build

import (
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// A span without a key keeps one entry a thread: key u32 tid, value layout.Span. An entry
// is made at the thread's first start and kept; a busy word says whether it is
// open. Only the thread itself uses it, and its exit removes it, so the
// slots stay as they are until the thread's next start.

// spanEntry is the entry of the span that ends here.
type spanEntry struct {
	p      *ir.Value
	layout *wire.Fixed
	slots  []types.Type
}

func (b *builder) span() (*tree.Span, string) {
	n := b.prog.Attach.Span
	return b.Tree.Spans[n], tree.SpanMap(n)
}

// tidKey is the key of the thread's entry.
func (b *builder) tidKey() *region {
	m := b.alloc(8)
	b.store(8, b.addr(m, 0), 0, b.tid())
	return m
}

// busyWord is what the busy word of an open entry holds: the time of the
// start in spans of the script, for span.items() and for the timeout.
func (b *builder) busyWord() *ir.Value {
	if !b.isSyscall() {
		return b.helperOnce("time_raw", helperKtimeGetNS)
	}
	word := b.imm(ir.OpAdd, b.syscallNr(), 1)
	span, _ := b.span()
	if len(span.Check) == 0 {
		return word
	}
	return b.op(ir.OpAdd, word, b.imm(ir.OpShl, b.registerMix(span), layout.SyscallBits))
}

// registerMix is a number made of the registers in span.Check, 0 for the
// calls that are exempt.
func (b *builder) registerMix(span *tree.Span) *ir.Value {
	mix := b.konst(0)
	for _, off := range span.Check {
		mix = b.op(ir.OpAdd, b.imm(ir.OpMul, mix, 31), b.register(strconv.Itoa(off)))
	}
	for _, nr := range span.Exempt {
		other := b.cmp(ir.NE, b.syscallNr(), b.konst(int64(nr)))
		mix = b.op(ir.OpAnd, mix, b.op(ir.OpNeg, other))
	}
	return mix
}

// usesOf counts what the program reads, with what the check of its span does.
func usesOf(s *Shared, p *tree.Program) uses {
	u := countUses(p)
	switch p.Attach.Kind {
	case tree.AttachSyscallEnter, tree.AttachSyscallExit:
		if p.Attach.Span < len(s.Tree.Spans) {
			for _, off := range s.Tree.Spans[p.Attach.Span].Check {
				u["reg:"+strconv.Itoa(off)]++
			}
		}
	}
	return u
}

// spanStart opens the entry with the slots. One that is open already belongs
// to a call that never ended.
func (b *builder) spanStart(s *tree.Stmt) {
	span, name := b.span()
	switch {
	case span.Nested:
		b.nestedStart(s, span, name)
		return
	case span.Key.Kind != types.Bot:
		b.keyedStart(s, span, name)
		return
	}
	f := layout.Span(span.Slots)
	var ls []leaf
	for i, e := range s.Exprs {
		ls = b.collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	done := b.newJoin(types.Type{})
	p := b.spanInsert(name, f.Size, done)
	b.countOpen(p, span, done)
	b.storeLeaves(func(off int64) *ir.Value { return b.add(p, off) }, 8, f.Size-8, ls)
	b.store(8, p, layout.SpanBusy, b.busyWord())
	b.jump(done)
	b.enter(done)
}

// spanInsert finds or makes the thread's entry, or counts and goes to done.
func (b *builder) spanInsert(name string, size int, done *join) *ir.Value {
	key := b.tidKey()
	defer b.release(key)
	return b.insert(name, key, size, func() {}, func(*ir.Value) {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
}

func (b *builder) countSpan(kind tree.SiteKind) {
	b.countSite(tree.Site{Kind: kind, Probe: b.prog.Probe, Container: -1, Pos: b.pos})
}

// countOpen counts a start that finds another one. Which of them wins is the
// span's choice; one that is too old never does.
func (b *builder) countOpen(p *ir.Value, span *tree.Span, done *join) {
	j := b.newJoin(types.Type{})
	b.unless(ir.NE, b.load(8, p, layout.SpanBusy), 0, func() {
		b.countSpan(tree.SiteOpenStart)
		switch {
		case span.First && span.Timeout != 0:
			b.unless(ir.SLT, b.age(p), span.Timeout, func() { b.jump(done) })
		case span.First:
			b.jump(done)
			return
		}
		b.jump(j)
	})
	b.jump(j)
	b.enter(j)
}

// spanEnd takes the entry. A thread without one had no start since the
// program was attached: see startless.
func (b *builder) spanEnd(s *tree.Stmt) {
	span, name := b.span()
	switch {
	case span.Nested:
		b.nestedEnd(s, span, name)
		return
	case span.Key.Kind != types.Bot:
		b.keyedEnd(s, span, name)
		return
	}
	key := b.tidKey()
	p := b.call(helperMapLookup, b.mapPtr(name), b.addr(key, 0))
	b.release(key)
	b.unless(ir.EQ, p, 0, func() { b.startless(s, span) })
	busy := b.load(8, p, layout.SpanBusy)
	ours := b.f.NewBlock()
	other := b.f.NewBlock()
	from := b.cur
	if !b.isSyscall() {
		b.branchImm(ir.NE, busy, 0, ours, other)
	} else {
		b.branchConst(ir.EQ, busy, b.busyWord(), ours, other)
	}
	b.likely(1, from)
	saved := b.save()
	b.begin(other)
	b.orphan(p, busy, s)
	b.begin(ours)
	b.restore(saved)
	if span.Timeout != 0 {
		age := b.age(p)
		b.store(8, p, layout.SpanBusy, b.konst(0))
		b.expire(span, age)
	} else {
		b.store(8, p, layout.SpanBusy, b.konst(0))
	}
	b.entry = &spanEntry{p, layout.Span(span.Slots), span.Slots}
}

// spanFiltered marks the end of a span whose start has a filter: an end
// without a start is then usual.
const spanFiltered = "filtered"

// startless is an end on a thread that had no start. The first of them may be that of a call that began before the
// tracing, or a child's return from fork, and is only noted.
func (b *builder) startless(s *tree.Stmt, span *tree.Span) {
	if !span.Ends {
		b.ret()
		return
	}
	if s.Else != nil {
		b.block(s.Else)
	}
	key := b.tidKey()
	rc := b.storeEntry(tree.EndsMap(b.prog.Attach.Span), key, key, updateNoExist)
	b.release(key)
	b.unless(ir.EQ, rc, errExist, func() {
		b.countSpan(tree.SiteOrphanEnd)
		b.ret()
	})
	b.ret()
}

// orphan is an end that found the entry closed, or open for another call,
// whose end was then missed.
func (b *builder) orphan(p, busy *ir.Value, s *tree.Stmt) {
	closed, open := b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(ir.EQ, busy, 0, closed, open)
	b.begin(closed)
	b.noStart(s)
	b.begin(open)
	b.countSpan(tree.SiteOpenStart)
	b.store(8, p, layout.SpanBusy, b.konst(0))
	b.ret()
}

func (b *builder) spanSlot(e *tree.Expr) val {
	if v, ok := b.cache.Get(slotKey(e.Int)); ok {
		return v // of a subprogram, its caller has read it
	}
	if b.entry == nil {
		b.fail("slot %d read before the span's end", e.Int)
	}
	n := e.Int
	v := b.convert(b.loadFixed(b.entry.p, b.entry.layout.Type.Elems[n], b.entry.slots[n]), e.Type)
	b.remember(slotKey(n), v)
	return v
}

// slotKey is the key of a slot in the cache.
type slotKey int64
