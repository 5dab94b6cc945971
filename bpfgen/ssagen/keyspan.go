package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// A span with a key begins on one CPU and ends on another, maybe in another
// task, so its entry is made whole by one update and taken by one delete: of
// two ends only one gets it. The value is that of layout.Span; the busy word
// is the time of the start where there is a timeout.
//
// Between the look-up of an end and its delete a start with the same key can
// put another entry in that place: race.go tells.

// keyed writes starts and ends of spans that are found by a key of the script.
type keyed struct{ *code }

func (b keyed) spanKey(span *tree.Span, e *tree.Expr) *region {
	return stores{b.code}.fixed(layout.Fixed(span.Key), span.Key, e)
}

// keyedStart makes the entry.
func (b keyed) keyedStart(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Span(span.Slots)
	key := b.spanKey(span, s.Exprs[0])
	m := b.alloc(f.Size)
	at := func(off int64) *ir.Value { return b.addr(m, off) }
	slots := s.Exprs[1:]
	busy := entries{b.code}.busyWord()
	if span.Muted {
		muted := b.expr(slots[len(slots)-1]).x
		slots = slots[:len(slots)-1]
		busy = b.Op(ir.OpAnd, busy, b.Add(muted, -1))
	}
	var ls []leaf
	for i, e := range slots {
		ls = stores{b.code}.collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	stores{b.code}.storeLeaves(at, 8, f.Size-8, ls)
	b.Store(8, at(int64(f.Size)-8), 0, b.Const(0))
	b.Store(8, at(layout.SpanBusy), 0, busy)
	place := races{b.code}.racePlace(span, key)
	races{b.code}.startBegins(place)
	done := b.newJoin(types.Type{})
	rc := entries{b.code}.storeEntry(name, key, m, updateNoExist)
	b.unless(ir.NE, rc, 0, func() { b.startFailed(rc, span, name, key, m, done) })
	b.jump(done)
	b.enter(done)
	races{b.code}.startDone(place)
	b.release(key, m)
}

// startFailed is a start that did not find its key free, or no room.
func (b keyed) startFailed(rc *ir.Value, span *tree.Span, name string, key, m *region, done *join) {
	b.unlessExist(rc, done)
	if span.First && span.Timeout == 0 {
		b.countSpan(tree.SiteOpenStart)
		b.jump(done)
		return
	}
	if span.First {
		p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
		gone := b.newJoin(types.Type{})
		b.unless(ir.EQ, p, 0, func() { b.jump(gone) })
		b.unless(ir.SLT, entries{b.code}.age(p), span.Timeout, func() {
			b.countSpan(tree.SiteOpenStart)
			b.jump(done)
		})
		b.jump(gone)
		b.enter(gone)
	}
	b.replace(name, key, m, replaceTries, done)
}

// replaceTries bounds replace.
const replaceTries = 3

// replace puts the entry in the place of an open one, which is counted, or
// there where an end has taken that one meanwhile. It goes to done; after its
// tries this start is the one that is counted.
func (b keyed) replace(name string, key, m *region, tries int, done *join) {
	if tries == 0 {
		b.countSpan(tree.SiteOpenStart)
		b.jump(done)
		return
	}
	rc := entries{b.code}.storeEntry(name, key, m, updateExist)
	b.unless(ir.EQ, rc, 0, func() {
		b.countSpan(tree.SiteOpenStart)
		b.jump(done)
	})
	b.unless(ir.NE, rc, errNoEnt, func() {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
	rc = entries{b.code}.storeEntry(name, key, m, updateNoExist)
	b.unless(ir.EQ, rc, 0, func() { b.jump(done) })
	b.unlessExist(rc, done)
	b.replace(name, key, m, tries-1, done)
}

// unlessExist counts a start that found no room, and goes on with one that
// found its key taken.
func (b keyed) unlessExist(rc *ir.Value, done *join) {
	b.unless(ir.NE, rc, errExist, func() {
		b.countSpan(tree.SiteSpanFull)
		b.jump(done)
	})
}

// keyedEnd takes the entry: its slots are copied first, for another CPU may
// use the memory as soon as it is deleted.
func (b keyed) keyedEnd(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Span(span.Slots)
	key := b.spanKey(span, s.Exprs[0])
	noStart := func() { entries{b.code}.noStart(s) }
	place := races{b.code}.racePlace(span, key)
	seen := races{b.code}.beforeLookup(place)
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, noStart)
	m := b.alloc(f.Size - 8)
	b.OpImm(ir.OpCopy, int64(f.Size)-8, b.addr(m, 0), p)
	rc := b.Extend(b.Call(helperMapDelete, b.MapPtr(name), b.addr(key, 0)), 32, true)
	b.unless(ir.EQ, rc, errNoEnt, noStart)
	raced := func() {
		b.countSpan(tree.SiteSpanRace)
		b.ret()
	}
	b.unless(ir.NE, rc, 0, raced) // a program that this one interrupted holds the bucket
	b.unless(ir.NE, races{b.code}.raced(place, seen), 0, raced)
	b.release(key)
	b.entry = &spanEntry{b.addr(m, 0), f, span.Slots}
	if span.Muted {
		b.unless(ir.EQ, b.Load(8, b.entry.p, layout.SpanBusy), 0, b.ret)
	}
	if span.Timeout != 0 {
		entries{b.code}.expire(span, entries{b.code}.age(b.entry.p))
	}
}
