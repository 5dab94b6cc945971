package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// A stack becomes the 8-byte id under which MapStacks keeps it once: a hash of
// its addresses and, of a user stack, of the process. A second hash in the entry
// tells two stacks of one id apart; the later one is then counted and lost,
// which takes 2^64 stacks on average. The kernel's own table of stacks
// (bpf_get_stackid) has ids of a few bits, and loses what collides.

// userStack is BPF_F_USER_STACK.
const userStack = 1 << 8

// The two hashes multiply and shift, with odd constants of even spread (the
// fractional parts of the golden ratio and of the square root of 2).
const (
	hashFactor  = -0x61c8864680b583eb
	checkFactor = 0x6a09e667f3bcc909
	hashShift   = 29
)

// callStack is OpStack.
func (b *builder) callStack(e *tree.Expr) val {
	b.Uses[tree.MapStacks] = true
	user := e.Str == tree.User
	size := int(8 * e.Int)
	m := b.stackEntry(e.Int)
	out := b.newJoin(types.Type{Kind: types.Stack})
	none := func() { b.jumpWith(out, val{t: types.Type{Kind: types.Stack}, x: b.konst(0)}) }
	flags, tgid := int64(0), b.konst(0)
	if user {
		flags, tgid = userStack, b.tgid()
	}
	rc := b.extend(b.call(helperGetStack, b.ctx(), b.addr(m, wire.StackAddrs), b.konst(int64(size)), b.konst(flags)), 32, true)
	b.unless(ir.SLE, rc, 0, none)
	count := b.imm(ir.OpLShr, rc, 3)
	id, check := b.hashWords(m, count, e.Int, tgid)
	key := b.alloc(8)
	b.store(8, b.addr(key, 0), 0, id)
	found := func() { b.jumpWith(out, val{t: types.Type{Kind: types.Stack}, x: id}) }
	p := b.call(helperMapLookup, b.mapPtr(tree.MapStacks), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, func() {
		b.keepStack(m, key, count, tgid, check, none)
		if user {
			b.announce(m)
		}
		found()
	})
	b.unlessSame(b.load(8, p, wire.StackCheck), check, func() {
		b.countSpan(tree.SiteStackClash)
		none()
	})
	found()
	v := b.enter(out)
	b.release(m, key)
	return v
}

// stackEntry is memory for an entry of MapStacks. Where the entries have more
// room than this stack, the rest may be anything, which scratch memory is.
func (b *builder) stackEntry(frames int64) *region {
	size := wire.StackAddrs + 8*b.Tree.StackFrames
	if int(frames) < b.Tree.StackFrames {
		return b.scratch(size)
	}
	return b.alloc(size)
}

// hashWords hashes count addresses, of which there are at most most.
func (b *builder) hashWords(m *region, count *ir.Value, most int64, tgid *ir.Value) (id, check *ir.Value) {
	head, body, done := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	b.cur.Jump(b.pos, head, b.konst(0), b.imm(ir.OpAdd, tgid, 1), count)
	b.reach(head)
	b.begin(head)
	i, h, c := head.Param(b.pos), head.Param(b.pos), head.Param(b.pos)
	inside := b.f.NewBlock()
	b.branchImm(ir.ULT, i, most, inside, done)
	b.begin(inside)
	b.branch(ir.ULT, i, count, body, done)
	b.begin(body)
	word := b.load(8, b.op(ir.OpAdd, b.addr(m, wire.StackAddrs), b.imm(ir.OpShl, i, 3)), 0)
	b.cur.Jump(b.pos, head, b.add(i, 1), b.mix(h, word, hashFactor), b.mix(c, word, checkFactor))
	b.begin(done)
	// 0 is no stack.
	return b.imm(ir.OpOr, h, 1), c
}

func (b *builder) mix(h, word *ir.Value, factor int64) *ir.Value {
	x := b.op(ir.OpMul, b.op(ir.OpXor, h, word), b.konst(factor))
	return b.op(ir.OpXor, x, b.imm(ir.OpLShr, x, hashShift))
}

// keepStack makes the entry of a new stack.
func (b *builder) keepStack(m, key *region, count, tgid, check *ir.Value, none func()) {
	b.store(8, b.addr(m, 0), wire.StackCheck, check)
	b.store(4, b.addr(m, 0), wire.StackCount, count)
	b.store(4, b.addr(m, 0), wire.StackProcess, tgid)
	rc := b.call(helperMapUpdate, b.mapPtr(tree.MapStacks), b.addr(key, 0), b.addr(m, 0), b.konst(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSpan(tree.SiteStackFull)
		none()
	})
}

// announce tells user space at once that there is a new stack of a process, so
// that it looks at the process's mappings while there are some.
func (b *builder) announce(m *region) {
	b.Uses[tree.MapRing] = true
	b.store(8, b.addr(m, 0), wire.HeaderNumber, b.konst(wire.NumberProcess))
	b.store(8, b.addr(m, 0), wire.HeaderTime, b.tgid())
	b.call(helperRingbufOutput, b.mapPtr(tree.MapRing), b.addr(m, 0), b.konst(wire.HeaderSize), b.konst(ringForceWakeup))
}
