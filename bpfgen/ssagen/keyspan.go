package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Start and end of spans with key=: one update, one delete, entries that are replaced.
//
// A span with a key begins on one CPU and ends on another, maybe in another
// task, so its entry is made whole by one update and taken by one delete: of
// two ends only one gets it. The value is that of layout.Span; the busy word
// is the time of the start where there is a timeout. Its highest bit marks the start of a
// process that is not traced (tree.Span.Muted): layout.SpanMuted.
//
// Between the look-up of an end and its delete a start with the same key can
// put another entry in that place: spanrace.go tells.

// keyed writes starts and ends of spans that are found by a key of the script.
type keyed struct{ *code }

func (b keyed) spanKey(span *tree.Span, e *tree.Expr) *region {
	return stores(b).fixed(layout.Fixed(span.Key), span.Key, e)
}

// spanStart makes the entry.
func (b keyed) spanStart(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Span(span.Slots)
	key := b.spanKey(span, s.Exprs[0])
	m := b.alloc(f.Size)
	at := func(off int64) *ir.Value { return b.addr(m, off) }
	slots := s.Exprs[1:]
	busy := entries(b).busyWord()
	var muted *ir.Value // nil: never
	if span.Muted {
		muted = b.expr(slots[len(slots)-1]).x
		slots = slots[:len(slots)-1]
		busy = b.Op(ir.OpOr, busy, b.Imm(ir.OpShl, muted, layout.SpanMuted))
	}
	var ls []leaf
	for i, e := range slots {
		ls = stores(b).collect(f.Type.Elems[i], span.Slots[i], e, ls)
	}
	stores(b).storeLeaves(at, 8, f.Size-8, ls)
	b.Store(8, at(int64(f.Size)-8), 0, b.Const(0))
	b.Store(8, at(layout.SpanBusy), 0, busy)
	place := races(b).racePlace(span, key)
	races(b).startBegins(place)
	done := b.newJoin(types.Type{})
	rc := entries(b).storeEntry(name, key, m, updateNoExist)
	b.unless(ir.NE, rc, 0, func() { lateStart{b.code, span, name, key, m, muted, done}.failed(rc) })
	b.jump(done)
	b.enter(done)
	races(b).startDone(place)
	b.release(key, m)
}

// A lateStart is a start that did not find its key free, or no room. All its
// ways end at done.
type lateStart struct {
	*code
	// span is the one that begins.
	span *tree.Span
	name string // of the map
	// key is the key of the entry, entry what was to be stored.
	key, entry *region
	// muted is not 0 for a process that is not traced; nil: all are.
	muted *ir.Value
	done  *join
}

func (s lateStart) failed(rc *ir.Value) {
	s.unlessExist(rc)
	if s.span.First && s.span.Timeout == 0 {
		s.lost(tree.SiteOpenStart)
		return
	}
	if s.span.First {
		p := s.Call(helperMapLookup, s.MapPtr(s.name), s.addr(s.key, 0))
		gone := s.newJoin(types.Type{})
		s.unless(ir.EQ, p, 0, func() { s.jump(gone) })
		s.unless(ir.SLT, entries{s.code}.age(s.span, p), s.span.Timeout, func() { s.lost(tree.SiteOpenStart) })
		s.jump(gone)
		s.enter(gone)
	}
	s.replace(replaceTries)
}

// lost counts this start, unless it is of a process that is not traced. Where
// no end without a start is counted, a lack of room always is: the end can be
// of one that is.
func (s lateStart) lost(kind tree.SiteKind) {
	if s.span.Filtered && kind == tree.SiteSpanFull {
		s.lostOf(nil, kind)
		return
	}
	s.lostOf(s.muted, kind)
}

// lostOf counts a start, unless muted is not 0.
func (s lateStart) lostOf(muted *ir.Value, kind tree.SiteKind) {
	if muted != nil {
		s.unless(ir.NE, muted, 0, func() { s.jump(s.done) })
	}
	s.countSpan(kind)
	s.jump(s.done)
}

// replaceTries bounds replace.
const replaceTries = 3

// replaced is muted of the start that this one finds: that is the one which never ends. Where it has gone meanwhile it
// is this one's. Another start can take that place before this one does; then what is counted is of one of them.
func (s lateStart) replaced() *ir.Value {
	if s.muted == nil {
		return nil
	}
	out := s.newJoin(types.U64)
	p := s.Call(helperMapLookup, s.MapPtr(s.name), s.addr(s.key, 0))
	s.unless(ir.EQ, p, 0, func() { s.jumpWith(out, intVal(types.U64, s.muted)) })
	s.jumpWith(out, intVal(types.U64, s.Imm(ir.OpLShr, s.Load(8, p, layout.SpanBusy), layout.SpanMuted)))
	return s.enter(out).x
}

// replace puts the entry in the place of an open one, which is counted, or
// there where an end has taken that one meanwhile. After its tries this start
// is the one that is counted.
func (s lateStart) replace(tries int) {
	if tries == 0 {
		s.lost(tree.SiteOpenStart)
		return
	}
	was := s.replaced()
	rc := entries{s.code}.storeEntry(s.name, s.key, s.entry, updateExist)
	s.unless(ir.EQ, rc, 0, func() { s.lostOf(was, tree.SiteOpenStart) })
	s.unless(ir.NE, rc, errNoEnt, func() { s.lost(tree.SiteSpanFull) })
	rc = entries{s.code}.storeEntry(s.name, s.key, s.entry, updateNoExist)
	s.unless(ir.EQ, rc, 0, func() { s.jump(s.done) })
	s.unlessExist(rc)
	s.replace(tries - 1)
}

// unlessExist counts a start that found no room, and goes on with one that
// found its key taken.
func (s lateStart) unlessExist(rc *ir.Value) {
	s.unless(ir.NE, rc, errExist, func() { s.lost(tree.SiteSpanFull) })
}

// spanEnd takes the entry: its slots are copied first, for another CPU may
// use the memory as soon as it is deleted.
func (b keyed) spanEnd(s *tree.Stmt, span *tree.Span, name string) {
	f := layout.Span(span.Slots)
	key := b.spanKey(span, s.Exprs[0])
	noStart := func() { entries(b).noStart(s) }
	place := races(b).racePlace(span, key)
	seen := races(b).beforeLookup(place)
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, noStart)
	m := b.alloc(f.Size - 8)
	b.OpImm(ir.OpCopy, int64(f.Size)-8, b.addr(m, 0), p)
	rc := b.Extend(b.Call(helperMapDelete, b.MapPtr(name), b.addr(key, 0)), 32, true)
	b.unless(ir.EQ, rc, errNoEnt, noStart)
	raced := func() { entries(b).endLost(tree.SiteSpanRace, s.Else) }
	b.unless(ir.NE, rc, 0, raced) // a program that this one interrupted holds the bucket
	b.unless(ir.NE, races(b).raced(place, seen), 0, raced)
	b.release(key)
	b.entry = &spanEntry{b.addr(m, 0), f, span.Slots}
	if span.Timeout != 0 {
		entries(b).expire(span, entries(b).age(span, b.entry.p), s.Else)
	}
}
