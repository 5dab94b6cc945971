package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Start and end of spans that are paired by thread, as of syscall:.
//
// A span is a start and an end that belong together. Its programs find each other by an entry in a map, the span's own.
// A start stores there what the end needs of it: the slots. Of the script
//
//	probe("syscall:read", lambda e: printf("%s %d\n", e.comm, e.duration))
//
// the tree has one slot, the time of the start:
//
//	span 0 probe 0 size 10240 syscalls [0 1027]
//	  slot 0 time u64
//	program "p0_read_in"                            program "p0_read_out"
//	  spanstart (builtin:u64 time)                    spanend
//	                                                  send r0 … (sub:s64 (builtin:u64 time) (slot:u64 0))
//
// spanstart stores the slots, spanend finds the entry or ends the program, and each slot is loaded behind it. What the
// key of the entry is, and who removes it, depends on the kind of span:
//
//	kind               key                        entry is made       entry is removed     file
//	by thread          tid, 8 bytes               at the first start  when the thread ends span.go
//	by a key (key=)    what key= gives            at each start       at its end           keyspan.go, spanrace.go
//	calls that nest    task, process and depth    at each start       at its end           nested.go
//
// The entry of a span by thread stays for the next start of the thread, because making it costs more than filling it.
// Its first word, the busy word (layout.SpanBusy), says whether it is open. No program but those that run in the thread
// uses it, so the slots stay as they are until the thread's next start. What keeps such entries true when a thread ends
// or gets another number is in spankeepers.go.

// spans writes starts and ends of spans that are paired by thread. Those by a key are keyed, those of calls that nest
// are nesting.
type spans struct{ *code }

// pairing is the way in which the starts and ends of a span find each other. name is that of the span's map.
type pairing interface {
	// spanStart writes a start, SSpanStart. The program goes on behind it, also where the start was lost and counted.
	spanStart(s *tree.Stmt, span *tree.Span, name string)
	// spanEnd writes an end, SSpanEnd. The program ends where there is no start; else code.entry is the start's entry.
	spanEnd(s *tree.Stmt, span *tree.Span, name string)
}

// pairingOf gives the way of a span.
func pairingOf(span *tree.Span, b *code) pairing {
	switch {
	case span.Nested:
		return nesting{b}
	case span.Key.Kind != types.Bot:
		return keyed{b}
	}
	return spans{b}
}

// spanStart opens the entry with the slots. One that is open already belongs
// to a call that never ended.
func (b spans) spanStart(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Span(span.Slots)
	var ls []leaf
	for i, e := range s.Exprs {
		if e.Op == tree.OpUnread {
			ls = append(ls, leaf{w: f.Type.Elems[i], t: span.Slots[i], unread: true})
			continue
		}
		ls = stores(b).collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	done := b.newJoin(types.Type{})
	p := b.spanInsert(name, f.Size, done)
	b.countOpen(p, span, done)
	stores(b).storeLeaves(func(off int64) *ir.Value { return b.Add(p, off) }, 8, f.Size-8, ls)
	b.Store(8, p, layout.SpanBusy, entries(b).busyWord())
	b.jump(done)
	b.enter(done)
}

// spanInsert finds or makes the thread's entry, or counts and goes to done.
func (b spans) spanInsert(name string, size int, done *join) *ir.Value {
	key := b.tidKey()
	defer b.release(key)
	return tables(b).insert(name, key, size, func() {}, func(*ir.Value) {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
}

// countOpen counts a start that finds another one. Which of them wins is the
// span's choice; one that is too old never does.
func (b spans) countOpen(p *ir.Value, span *tree.Span, done *join) {
	j := b.newJoin(types.Type{})
	b.unless(ir.NE, b.Load(8, p, layout.SpanBusy), 0, func() {
		b.countSpan(tree.SiteOpenStart)
		switch {
		case span.First && span.Timeout != 0:
			b.unless(ir.SLT, entries(b).age(span, p), span.Timeout, func() { b.jump(done) })
		case span.First:
			b.jump(done)
			return
		}
		b.jump(j)
	})
	b.jump(j)
	b.enter(j)
}

// spanEnd closes the entry, and lets the rest of the program load its slots. A thread without an entry had no start
// since the probe was attached, or the map was full then: see startless.
func (b spans) spanEnd(s *tree.Stmt, span *tree.Span, name string) {
	key := b.tidKey()
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	b.release(key)
	b.unless(ir.EQ, p, 0, func() { b.startless(s, span) })
	busy := b.Load(8, p, layout.SpanBusy)
	ours := b.NewBlock()
	other := b.NewBlock()
	from := b.Cur
	if !b.isSyscall() {
		b.BranchImm(ir.NE, busy, 0, ours, other)
	} else {
		b.branchConst(ir.EQ, busy, entries(b).busyWord(), ours, other)
	}
	b.Likely(1, from)
	saved := b.save()
	b.Begin(other)
	b.orphan(p, busy, s)
	b.Begin(ours)
	b.restore(saved)
	if span.Timeout != 0 {
		age := entries(b).age(span, p)
		b.Store(8, p, layout.SpanBusy, b.Const(0))
		entries(b).expire(span, age, nil)
	} else {
		b.Store(8, p, layout.SpanBusy, b.Const(0))
	}
	b.entry = &spanEntry{p, layout.Span(span.Slots), span.Slots}
}

// startless is an end on a thread that had no start. The first of them may be that of a call that began before the
// tracing, or a child's return from fork, and is only noted.
func (b spans) startless(s *tree.Stmt, span *tree.Span) {
	if !span.Ends || s.Str == spanFiltered {
		b.ret()
		return
	}
	if s.Else != nil {
		b.block(s.Else)
	}
	key := b.tidKey()
	rc := entries(b).storeEntry(tree.EndsMap(b.prog.Attach.Span), key, key, updateNoExist)
	b.release(key)
	b.unless(ir.EQ, rc, errExist, func() {
		b.countSpan(tree.SiteOrphanEnd)
		b.ret()
	})
	b.ret()
}

// orphan is an end that found the entry closed, or open for another call,
// whose end was then missed.
func (b spans) orphan(p, busy *ir.Value, s *tree.Stmt) {
	closed, open := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.EQ, busy, 0, closed, open)
	b.Begin(closed)
	entries(b).noStart(s)
	b.Begin(open)
	b.countSpan(tree.SiteOpenStart)
	b.Store(8, p, layout.SpanBusy, b.Const(0))
	b.ret()
}

// spanSlot is OpSpanSlot: a slot of the entry, loaded once.
func (b spans) spanSlot(e *tree.Expr) val {
	if v, ok := b.cache.Get(slotKey(e.Int)); ok {
		return v // of a subprogram, its caller has read it
	}
	if b.entry == nil {
		b.fail("slot %d read before the span's end", e.Int)
	}
	n := e.Int
	v := b.convert(stores(b).loadFixed(b.entry.p, b.entry.layout.Type.Elems[n], b.entry.slots[n]), e.Type)
	b.remember(slotKey(n), v)
	return v
}
