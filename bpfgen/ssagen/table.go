package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Tables and cells: get, set, pop, update, entries that find no room.
//
// A container is a map of the unit. What kernel halves do with it becomes calls of the kernel's map helpers:
//
//	in the script        map                      what is done
//	t[k], t.get(k)       hash of entries          look up, copy the value
//	k in t               hash                     look up
//	t.pop(k)             hash                     look up, copy, delete
//	t[k] = v             hash                     look up and store the word, or update
//	t[k] += v            hash                     upsert: the entry is made of zeros, then the word is changed
//	c.set(v)             array of one value       store the word, or copy
//	c.add(n)             array of one value       the word is changed
//	a[k].add(v)          hash                     upsert, then each member's words are changed (agg.go)
//	a.add(v)             array of one value       each member's words are changed (agg.go)
//
// Programs run at once on all CPUs, and one can interrupt another. So a sum is an atomic add to a word in place, and
// never a load and a store. What makes an entry is exact, too (insert): two programs that find no entry both try to
// make one of zeros, the kernel refuses the second, and both add to the one that is there. A value of several words
// that one program stores can be read by another when half of it is there.
//
// A value is copied before it is used, since the entry can change or go at any time (loadFixed). An update that the map
// does not take is counted at a site: SiteFull if it has no room, SiteNoMem for all else.
//
// User space takes an aggregation's values (take()) by switching banks, see bank.go.

// tables writes what handlers do with tables and cells.
type tables struct{ *code }

// mapOf is the name of a container's map.
func mapOf(c *tree.Container) string { return tree.ContainerMap(c.ID) }

// containerExpr is an expression that reads a table or a cell.
func (b tables) containerExpr(e *tree.Expr) val {
	c := b.container(e.Int)
	if e.Op == tree.OpCellGet {
		return b.convert(stores(b).loadFixed(b.MapValue(mapOf(c), 0), c.ValueLayout.Type, c.Value), e.Type)
	}
	key := stores(b).fixed(c.KeyLayout, c.Key, e.Args[0])
	p := b.lookup(c, key)
	defer b.release(key)
	switch e.Op {
	case tree.OpTableHas:
		return intVal(e.Type, b.Cmp(ir.NE, p, b.Const(0)))
	case tree.OpTableIndex:
		b.unless(ir.EQ, p, 0, func() { b.errorSite("key not in table") })
		return b.convert(stores(b).loadFixed(p, c.ValueLayout.Type, c.Value), e.Type)
	}
	return b.tableGet(c, e, key, p)
}

// tableGet is get and pop: None, or what is said instead, where the key is missing, for pop also where
// another context removed the entry first.
func (b tables) tableGet(c *tree.Container, e *tree.Expr, key *region, p *ir.Value) val {
	missing, have := b.NewBlock(), b.NewBlock()
	j := b.newJoin(e.Type)
	none := func() {
		if len(e.Args) > 1 {
			b.jumpWith(j, b.expr(e.Args[1]))
		} else {
			b.jumpWith(j, b.absent(e.Type, wire.TagNone))
		}
	}
	b.BranchImm(ir.EQ, p, 0, missing, have)
	saved := b.save()
	b.Begin(missing)
	none()
	b.restore(saved)
	b.Begin(have)
	v := stores(b).loadFixed(p, c.ValueLayout.Type, c.Value)
	if e.Op == tree.OpTablePop {
		rc := b.Call(helperMapDelete, b.MapPtr(mapOf(c)), b.addr(key, 0))
		b.unless(ir.NE, rc, 0, none)
	}
	b.jumpWith(j, v)
	return b.enter(j)
}

// lookup is the address of the key's value, 0 if there is no entry.
func (b tables) lookup(c *tree.Container, key *region) *ir.Value {
	return b.Call(helperMapLookup, b.MapPtr(mapOf(c)), b.addr(key, 0))
}

// tableSet stores a value. One word is stored in place if the key is there:
// that is much cheaper than an update, and as atomic.
func (b tables) tableSet(c *tree.Container, k, v *tree.Expr) {
	key := stores(b).fixed(c.KeyLayout, c.Key, k)
	var val *region
	j := b.newJoin(types.Type{})
	if isWord(c) {
		x := b.convert(b.expr(v), c.Value).x
		val = b.alloc(8)
		p := b.lookup(c, key)
		missing, have := b.NewBlock(), b.NewBlock()
		b.BranchImm(ir.EQ, p, 0, missing, have)
		b.Begin(have)
		b.Store(8, p, 0, x)
		b.jump(j)
		b.Begin(missing)
		b.Store(8, b.addr(val, 0), 0, x)
		b.update(c, key, val, j)
	} else {
		val = stores(b).fixed(c.ValueLayout, c.Value, v)
		b.update(c, key, val, j)
	}
	b.enter(j)
	b.release(key, val)
}

// isWord reports whether the values of c are one word. A bool and its tag have
// the room of one, but are two.
func isWord(c *tree.Container) bool {
	return c.ValueLayout.Size == 8 && isScalar(c.Value) && !hasTag(c.Value)
}

// update stores the entry and counts a failure.
func (b tables) update(c *tree.Container, key, v *region, j *join) {
	b.countEntry(c)
	rc := b.Call(helperMapUpdate, b.MapPtr(mapOf(c)), b.addr(key, 0), b.addr(v, 0), b.Const(updateAny))
	b.unless(ir.NE, rc, 0, func() { b.lost(c, rc, j) })
	b.jump(j)
}

// countEntry counts what is put into a table that drops its oldest entries: as
// long as that is less than it has room for, none was dropped.
func (b tables) countEntry(c *tree.Container) {
	if c.LRU {
		b.countSite(tree.Site{Kind: tree.SiteLRU, Probe: b.prog.Probe, Container: c.ID, Pos: c.Pos})
	}
}

// lost counts an insert that failed and goes on at j. Before 6.4 a map's
// function gives an int, of which the upper 32 bits of R0 say nothing.
func (b tables) lost(c *tree.Container, rc *ir.Value, j *join) {
	rc = b.Extend(rc, 32, true)
	full, other := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.EQ, rc, errE2Big, full, other)
	b.Begin(full)
	b.countSite(tree.Site{Kind: tree.SiteFull, Probe: b.prog.Probe, Container: c.ID, Pos: b.Pos})
	b.jump(j)
	b.Begin(other)
	b.countSite(tree.Site{Kind: tree.SiteNoMem, Probe: b.prog.Probe, Container: c.ID, Pos: b.Pos})
	b.jump(j)
}

// tableRemove deletes an entry. It is no error if there is none.
func (b tables) tableRemove(c *tree.Container, k *tree.Expr) {
	key := stores(b).fixed(c.KeyLayout, c.Key, k)
	b.Call(helperMapDelete, b.MapPtr(mapOf(c)), b.addr(key, 0))
	b.release(key)
}

// upsert gives the address of the key's value, which is zero at first, to
// body. The order is what makes sums exact when contexts nest or are
// preempted: insert zero if absent, look up again, then add atomically.
func (b tables) upsert(c *tree.Container, key *region, size int, body func(p *ir.Value)) {
	done := b.newJoin(types.Type{})
	made := func() { b.countEntry(c) }
	body(b.insert(mapOf(c), key, size, made, func(rc *ir.Value) { b.lost(c, rc, done) }))
	b.jump(done)
	b.enter(done)
}

// insert gives the address of the key's value, which it makes of size zeros where there is none. made writes what is
// done before an entry is made. lost writes what is done where none could be made, with the error of the update, and
// goes elsewhere. The look-up before and the look-up behind the update are the same instructions: the verifier tells
// the second from the first by the lowest bit of tried, which it keeps of a number of which it knows nothing else.
func (b tables) insert(name string, key *region, size int, made func(), lost func(rc *ir.Value)) *ir.Value {
	head := b.NewBlock()
	b.Jump(head, b.Const(0))
	b.Begin(head)
	tried := head.Param(b.Pos) // 0, or the result of the update with the lowest bit set: E2BIG stays as it is
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(key, 0))
	hit, miss, fresh := b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.NE, p, 0, hit, miss)
	b.Likely(1, head)
	saved := b.save()
	b.Begin(miss)
	again := b.NewBlock()
	b.BranchImm(ir.SET, tried, 1, again, fresh)
	b.Begin(again)
	lost(tried)
	b.restore(saved)
	b.Begin(fresh)
	made()
	rc := b.Call(helperMapUpdate, b.MapPtr(name), b.addr(key, 0), b.zeros(size), b.Const(updateNoExist))
	b.Jump(head, b.Imm(ir.OpOr, rc, 1))
	b.restore(saved)
	b.Begin(hit)
	return p
}

// tableUpdate is t[k] op= v: a missing key starts at 0.
func (b tables) tableUpdate(c *tree.Container, k, v *tree.Expr, op string) {
	x := b.number(v)
	key := stores(b).fixed(c.KeyLayout, c.Key, k)
	b.upsert(c, key, c.ValueLayout.Size, func(p *ir.Value) { b.updateWord(c, p, x, op) })
	b.release(key)
}

// cellSet stores the value of a cell, one word at once, more of them one after another.
func (b tables) cellSet(c *tree.Container, v *tree.Expr) {
	p := b.MapValue(mapOf(c), 0)
	if isWord(c) {
		b.Store(8, p, 0, b.convert(b.expr(v), c.Value).x)
		return
	}
	m := stores(b).fixed(c.ValueLayout, c.Value, v)
	b.OpImm(ir.OpCopy, int64(c.ValueLayout.Size), p, b.addr(m, 0))
	b.release(m)
}

// cellAdd changes the int of a cell by an operator: that of c.add(n) is +.
func (b tables) cellAdd(c *tree.Container, v *tree.Expr, op string) {
	b.updateWord(c, b.MapValue(mapOf(c), 0), b.number(v), op)
}

// updateWord changes the int at p, if it is one: None and FAULT end the handler.
func (b tables) updateWord(c *tree.Container, p, x *ir.Value, op string) {
	w := c.ValueLayout.Type
	if w.TagOff >= 0 {
		tag := b.Load(1, p, int64(w.TagOff))
		b.unless(ir.NE, tag, wire.TagPresent, func() { b.errorSite("the entry is None or FAULT, an int was wanted") })
	}
	aggs(b).update64(c, b.Add(p, int64(w.Off)), x, op)
}
