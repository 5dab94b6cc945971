package build

import (
	"slices"

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

// userStack is BPF_F_USER_STACK. Below it is how many frames to skip.
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
	m := b.stackEntry(e.Int)
	out := b.newJoin(types.Type{Kind: types.Stack})
	give := func(id *ir.Value) { b.jumpWith(out, val{t: types.Type{Kind: types.Stack}, x: id}) }
	lost := func() { give(b.konst(wire.LostStack)) }
	space, absent, owner := int64(0), int64(wire.NoStack), b.konst(b.ofProgram(e.Int))
	if user {
		space, absent, owner = userStack, wire.NoUserStack, b.tgid()
	}
	count := b.framesBehind(m, e.Int, space|b.skipped(user))
	b.unless(ir.SLE, count, 0, func() { give(b.konst(absent)) })
	if e.Int > 1 && b.lacksCaller(user) {
		count = b.withReturn(m, count, e.Int, space)
	}
	id, check := b.hashWords(m, count, e.Int, owner)
	key := b.alloc(8)
	b.store(8, b.addr(key, 0), 0, id)
	p := b.call(helperMapLookup, b.mapPtr(tree.MapStacks), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, func() {
		b.keepStack(m, key, stackEntry{count, owner, check, b.stackMark(e, user)}, lost)
		if user {
			b.announce(m, id)
		}
		give(id)
	})
	b.unlessSame(b.load(8, p, wire.StackCheck), check, func() {
		b.countSpan(tree.SiteStackClash)
		lost()
	})
	give(id)
	v := b.enter(out)
	b.release(m, key)
	return v
}

// frames has the kernel write at most n addresses from place first on, and
// gives their number, 0 or less if there are none.
func (b *builder) frames(m *region, first, n, flags int64) *ir.Value {
	to := b.addr(m, wire.StackAddrs+8*first)
	rc := b.call(helperGetStack, b.ctx(), to, b.konst(8*n), b.konst(flags))
	return b.imm(ir.OpAShr, b.extend(rc, 32, true), 3)
}

// framesBehind is frames without those of Attach.Tracing: one that comes first is
// skipped, too. Where nothing is cut user space leaves them out.
func (b *builder) framesBehind(m *region, n, flags int64) *ir.Value {
	tracing := b.prog.Attach.Tracing
	if flags&userStack != 0 || n == wire.MaxStack || len(tracing) == 0 {
		return b.frames(m, 0, n, flags)
	}
	out := b.newJoin(types.U64)
	done := func(count *ir.Value) { b.jumpWith(out, intVal(types.U64, count)) }
	most := len(tracing) + int(b.Arch.Repeats)
	for skipped := range most {
		count := b.frames(m, 0, n, flags+int64(skipped))
		b.unless(ir.SLE, count, 0, func() { done(count) })
		leaf, again := b.load(8, b.addr(m, 0), wire.StackAddrs), b.f.NewBlock()
		for _, code := range tracing {
			other := b.f.NewBlock()
			b.branchImm(ir.ULT, b.op(ir.OpSub, leaf, b.konst(int64(code.Start))), int64(code.Size), again, other)
			b.begin(other)
		}
		done(count)
		b.begin(again)
	}
	done(b.frames(m, 0, n, flags+int64(most)))
	return b.enter(out).x
}

// lacksCaller reports whether a stack is one of a function that has no frame of
// its own yet: arm64's kernel goes by frame pointers, too.
func (b *builder) lacksCaller(user bool) bool {
	a := &b.prog.Attach
	if user {
		return a.Bare && a.Kind == tree.AttachUprobe && b.caller() != tree.CallerThere
	}
	behind := func(p tree.Place) bool { return p.Offset != 0 }
	return b.Arch.Link != 0 && a.Kind == tree.AttachKprobe && !slices.ContainsFunc(a.Places, behind)
}

// withReturn adds the caller where a function has no frame. The kernel goes by
// frame pointers, and the one it finds is the caller's: so it gives the
// caller's caller. Where it looks for the caller itself, it is there (tree.Caller); where nobody knows
// whether it does, and in the kernel, the second address tells.
func (b *builder) withReturn(m *region, count *ir.Value, n, space int64) *ir.Value {
	out := b.newJoin(types.U64)
	asItIs := func() { b.jumpWith(out, intVal(types.U64, count)) }
	back := b.returnAddress()
	b.unless(ir.EQ, back, 0, asItIs)
	if space&userStack == 0 || b.caller() == tree.CallerUnknown {
		b.unlessSecond(m, count, back, space, asItIs)
	}
	more := b.frames(m, 1, n-1, space)
	b.store(8, b.addr(m, 0), wire.StackAddrs, b.load(8, b.addr(m, 0), wire.StackAddrs+8))
	b.store(8, b.addr(m, 0), wire.StackAddrs+8, back)
	b.jumpWith(out, intVal(types.U64, b.add(more, 1)))
	return b.enter(out).x
}

// unlessSecond does something where the second address is that of the caller already. A function that calls
// itself from one place has the same address there without: its caller's frame tells, if it is a program's.
func (b *builder) unlessSecond(m *region, count, back *ir.Value, space int64, there func()) {
	saved, add, several := b.save(), b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(ir.SLE, count, 1, add, several)
	b.begin(several)
	same, other := b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(ir.EQ, b.op(ir.OpSub, b.load(8, b.addr(m, 0), wire.StackAddrs+8), back), 0, same, other)
	b.begin(other)
	b.cur.Jump(b.pos, add)
	b.reach(add)
	b.begin(same)
	if space&userStack != 0 && b.Arch.BP != 0 {
		b.call(helperProbeReadUser, b.temp(), b.konst(8), b.imm(ir.OpAdd, b.load(8, b.ctx(), b.Arch.BP), 8))
		recursive, first := b.f.NewBlock(), b.f.NewBlock()
		b.branchImm(ir.EQ, b.op(ir.OpSub, b.load(8, b.temp(), 0), back), 0, recursive, first)
		b.begin(recursive)
		b.cur.Jump(b.pos, add)
		b.reach(add)
		b.begin(first)
	}
	there()
	b.begin(add)
	b.restore(saved)
}

// caller is what holds at all places of the program: those of which it does not are served by others.
func (b *builder) caller() tree.Caller {
	if len(b.prog.Attach.Places) == 0 {
		return tree.CallerMissing
	}
	return b.prog.Attach.Places[0].Caller
}

// returnAddress is where a function that has no frame returns to, 0 if it
// cannot be read.
func (b *builder) returnAddress() *ir.Value {
	if b.Arch.Link != 0 {
		return b.load(8, b.ctx(), b.Arch.Link)
	}
	b.call(helperProbeReadUser, b.temp(), b.konst(8), b.load(8, b.ctx(), int64(b.Arch.SP)))
	return b.load(8, b.temp(), 0) // 0 if the read fails
}

// skipped is how many frames of the tracing come first for certain: those
// would count among the frames that were asked for.
func (b *builder) skipped(user bool) int64 {
	if user {
		return 0
	}
	switch b.prog.Attach.Kind {
	case tree.AttachRawTracepoint, tree.AttachSyscallEnter, tree.AttachSyscallExit, tree.AttachFentry, tree.AttachFexit,
		tree.AttachHook:
		return 2 + b.Arch.Repeats // the program, and what called it: bpf_trace_run or the trampoline
	}
	return 0
}

// ofProgram is what a kernel stack has in place of a process: of a probe at one
// function the number of the program, so that the stack begins with the
// function.
func (b *builder) ofProgram(frames int64) int64 {
	switch a := b.prog.Attach; a.Kind {
	case tree.AttachFentry, tree.AttachFexit, tree.AttachHook, tree.AttachKretprobe:
		if i := slices.Index(b.Tree.Programs, b.prog); i >= 0 && i <= wire.StackProgramNumber && len(a.Places) == 1 {
			return wire.StackProgram | frames<<wire.StackProgramAsked | int64(i)
		}
	}
	return 0
}

// stackMark is wire.StackMark of the stacks that e takes.
func (b *builder) stackMark(e *tree.Expr, user bool) int64 {
	mark := e.Int
	switch b.prog.Attach.Kind {
	case tree.AttachProfile, tree.AttachInterval, tree.AttachPerf, tree.AttachWatchpoint:
	default:
		if !user {
			mark |= wire.MarkTraced
		}
	}
	return mark
}

// stackEntry is memory for an entry of MapStacks. Where the entries have more
// room than this stack, the rest may be anything, which scratch memory is. And
// kernels before 5.12 do not let a loop read a program's own stack.
func (b *builder) stackEntry(frames int64) *region {
	size := max(wire.StackAddrs+8*b.Tree.StackFrames, wire.ProcessSize) // announce uses the same memory
	if int(frames) < b.Tree.StackFrames || b.NoCmpXchg {
		return b.allocScratch(size)
	}
	return b.alloc(size)
}

// hashWords hashes count addresses, of which there are at most most.
func (b *builder) hashWords(m *region, count *ir.Value, most int64, owner *ir.Value) (id, check *ir.Value) {
	head, body, done := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	b.cur.Jump(b.pos, head, b.konst(0), b.imm(ir.OpAdd, owner, 1), count)
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

// A stackEntry is what an entry of MapStacks has besides addresses.
type stackEntry struct {
	count, owner, check *ir.Value
	mark                int64
}

// keepStack makes the entry of a new stack.
func (b *builder) keepStack(m, key *region, e stackEntry, lost func()) {
	b.store(8, b.addr(m, 0), wire.StackCheck, e.check)
	b.store(2, b.addr(m, 0), wire.StackCount, e.count)
	b.store(2, b.addr(m, 0), wire.StackMark, b.konst(e.mark))
	b.store(4, b.addr(m, 0), wire.StackProcess, e.owner)
	rc := b.call(helperMapUpdate, b.mapPtr(tree.MapStacks), b.addr(key, 0), b.addr(m, 0), b.konst(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSpan(tree.SiteStackFull)
		lost()
	})
}

// announce tells user space at once that there is a new stack of a process, so
// that it looks at the process's mappings while there are some.
func (b *builder) announce(m *region, id *ir.Value) {
	b.Uses[tree.MapRing] = true
	b.store(8, b.addr(m, 0), wire.HeaderNumber, b.konst(wire.NumberProcess))
	b.store(8, b.addr(m, 0), wire.HeaderTime, b.call(helperKtimeGetNS))
	b.store(8, b.addr(m, 0), wire.ProcessStack, id)
	b.store(8, b.addr(m, 0), wire.ProcessNumber, b.tgid())
	b.call(helperRingbufOutput, b.mapPtr(tree.MapRing), b.addr(m, 0), b.konst(wire.ProcessSize),
		b.konst(ringForceWakeup))
}
