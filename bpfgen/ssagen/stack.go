package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/bpfgen/unwind"
	"github.com/startrace/startrace/internal/wire"
)

// e.stack() and e.ustack(): stacks taken, hashed and kept once in a map.
//
// A stack becomes an id of 8 bytes under which MapStacks keeps it once. The id is a hash of the addresses and, of a
// user stack, of the process. A stack that e.ustack(3) gives a thousand times is one entry of the map, and events and
// keys have the id only:
//
//	id → second hash, number of addresses, mark, process, 3 addresses     (wire.StackCheck and so on)
//
// Of files that a process has loaded one after another at the same addresses the id tells by which ones a walk came.
//
// The second hash tells apart two stacks that have one id. The later one is then counted and lost. Ids have 63 bits, so
// that is to be expected only among some 2^32 different stacks. The kernel's own table of stacks (bpf_get_stackid) has
// ids of a few bits, and loses what collides.

// userStack is BPF_F_USER_STACK. Below it is how many frames to skip.
const userStack = 1 << 8

// The two hashes multiply and shift, with odd constants of even spread (the
// fractional parts of the golden ratio and of the square root of 2).
const (
	hashFactor  = -0x61c8864680b583eb
	checkFactor = 0x6a09e667f3bcc909
	hashShift   = 29
)

// stacks takes call stacks.
type stacks struct{ *generator }

// callStack is OpStack.
func (b stacks) callStack(e *tree.Expr) val {
	b.Uses[tree.MapStacks] = true
	user := e.Str == tree.User
	m := b.stackEntry(e.Int, user)
	out := b.newJoin(types.Type{Kind: types.Stack})
	give := func(id *ir.Value) { b.jumpWith(out, val{t: types.Type{Kind: types.Stack}, x: id}) }
	lost := func() { give(b.Const(wire.LostStack)) }
	space, absent, owner := int64(0), int64(wire.NoStack), b.Const(b.ofProgram(e.Int))
	if user {
		space, absent, owner = userStack, wire.NoUserStack, b.tgid()
	}
	none := func() { give(b.Const(absent)) }
	var count *ir.Value
	seed := owner
	if user && b.Unwind {
		if b.knowsImages() { // what runs after exec has other names for the same addresses
			seed = b.Op(ir.OpXor, owner, b.image())
		}
		count = b.walked(m, e.Int, none)
		seed = b.Op(ir.OpXor, seed, b.walk(m).Files())
	} else {
		count = b.byFramePointers(m, e.Int, space, none)
	}
	id, check := b.hashWords(m, count, e.Int, seed)
	key := b.alloc(8)
	b.Store(8, b.addr(key, 0), 0, id)
	p := b.Call(helperMapLookup, b.MapPtr(tree.MapStacks), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, func() {
		b.keepStack(m, key, stackEntry{count, owner, check, b.stackMark(m, e, user)}, lost)
		switch {
		case user:
			b.announce(m, id, b.tgid(), ringForceWakeup)
		case b.Tree.UserStacks:
			b.announce(m, id, b.Const(0), 0)
		}
		give(id)
	})
	b.unlessSame(b.Load(8, p, wire.StackCheck), check, func() {
		b.countHere(tree.SiteStackClash)
		lost()
	})
	give(id)
	v := b.enter(out)
	b.release(m, key)
	return v
}

// byFramePointers has the kernel take a stack: at most n addresses, of which it gives the number. If there is no stack,
// none ends the way.
func (b stacks) byFramePointers(m *region, n, space int64, none func()) *ir.Value {
	user := space != 0
	count := b.framesBehind(m, n, space|b.skipped(user))
	b.unless(ir.SLE, count, 0, none)
	if user && b.Tree.Walk.Steps() && !b.prog.Attach.Kind().InUser() {
		b.Store(8, b.addr(m, 0), wire.StackAddrs, b.stepped(b.Load(8, b.addr(m, 0), wire.StackAddrs)))
	}
	if n > 1 && b.lacksCaller(user) {
		count = b.withReturn(m, count, n, space)
	}
	return count
}

// frames has the kernel write at most n addresses from place first on, and
// gives their number, 0 or less if there are none.
func (b stacks) frames(m *region, first, n, flags int64) *ir.Value {
	to := b.addr(m, wire.StackAddrs+8*first)
	rc := b.Call(helperGetStack, b.ctx(), to, b.Const(8*n), b.Const(flags))
	return b.Imm(ir.OpAShr, b.Extend(rc, 32, true), 3)
}

// framesBehind is frames without those of Attach.Tracing: one that comes first is
// skipped, too. Where nothing is cut user space leaves them out.
func (b stacks) framesBehind(m *region, n, flags int64) *ir.Value {
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
		leaf, again := b.Load(8, b.addr(m, 0), wire.StackAddrs), b.NewBlock()
		for _, code := range tracing {
			other := b.NewBlock()
			b.BranchImm(ir.ULT, b.Op(ir.OpSub, leaf, b.Const(int64(code.Start))), int64(code.Size), again, other)
			b.Begin(other)
		}
		done(count)
		b.Begin(again)
	}
	done(b.frames(m, 0, n, flags+int64(most)))
	return b.enter(out).x
}

// lacksCaller reports whether a stack is one of a function that has no frame of
// its own yet: arm64's kernel goes by frame pointers, too.
func (b stacks) lacksCaller(user bool) bool {
	a := &b.prog.Attach
	if user {
		return b.atEntry() && b.caller() != tree.CallerThere
	}
	behind := func(p tree.Place) bool { return p.Offset != 0 }
	return b.Arch.Link != 0 && a.Kind() == tree.AttachKprobe && !slices.ContainsFunc(a.At(), behind)
}

// withReturn adds the caller where a function has no frame. The kernel goes by
// frame pointers, and the one it finds is the caller's: so it gives the
// caller's caller. Where it looks for the caller itself, it is there (tree.Caller); where nobody knows
// whether it does, and in the kernel, the second address tells.
func (b stacks) withReturn(m *region, count *ir.Value, n, space int64) *ir.Value {
	out := b.newJoin(types.U64)
	asItIs := func() { b.jumpWith(out, intVal(types.U64, count)) }
	back := registers{b.code}.returnAddress()
	b.unless(ir.EQ, back, 0, asItIs)
	if space&userStack == 0 || b.caller() == tree.CallerUnknown {
		b.unlessSecond(m, count, back, space, asItIs)
	}
	more := b.frames(m, 1, n-1, space)
	b.Store(8, b.addr(m, 0), wire.StackAddrs, b.Load(8, b.addr(m, 0), wire.StackAddrs+8))
	b.Store(8, b.addr(m, 0), wire.StackAddrs+8, back)
	b.jumpWith(out, intVal(types.U64, b.Add(more, 1)))
	return b.enter(out).x
}

// unlessSecond runs there where the second address of the stack is the caller's already, and nothing needs to be
// added. A function that calls itself from one place has that address there, too. Then the caller's frame tells, if it
// is a program's.
func (b stacks) unlessSecond(m *region, count, back *ir.Value, space int64, there func()) {
	saved, add, several := b.save(), b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.SLE, count, 1, add, several)
	b.Begin(several)
	same, other := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.EQ, b.Op(ir.OpSub, b.Load(8, b.addr(m, 0), wire.StackAddrs+8), back), 0, same, other)
	b.Begin(other)
	b.Jump(add)
	b.Begin(same)
	if space&userStack != 0 && b.Arch.BP != 0 {
		b.Call(helperProbeReadUser, b.temp(), b.Const(8), b.Imm(ir.OpAdd, b.Load(8, b.ctx(), b.Arch.BP), 8))
		recursive, first := b.NewBlock(), b.NewBlock()
		b.BranchImm(ir.EQ, b.Op(ir.OpSub, b.Load(8, b.temp(), 0), back), 0, recursive, first)
		b.Begin(recursive)
		b.Jump(add)
		b.Begin(first)
	}
	there()
	b.Begin(add)
	b.restore(saved)
}

// caller says whether the kernel puts the caller into stacks at the places of the program. It is the same at all of
// them, since places where it differs have a program of their own.
func (b stacks) caller() tree.Caller {
	if len(b.prog.Attach.At()) == 0 {
		return tree.CallerMissing
	}
	return b.prog.Attach.At()[0].Caller
}

// skipped is how many frames of the tracing come first for certain: those
// would count among the frames that were asked for.
func (b stacks) skipped(user bool) int64 {
	if user {
		return 0
	}
	if b.prog.Attach.Exact() || !b.prog.Attach.Kind().Traced() {
		return 0 // the stack is taken by registers that were there before
	}
	return 2 + b.Arch.Repeats // the program, and what called it: bpf_trace_run or the trampoline
}

// ofProgram is what a kernel stack has in place of a process: of a probe at one
// function the number of the program, so that the stack begins with the
// function.
func (b stacks) ofProgram(frames int64) int64 {
	a := b.prog.Attach
	if !a.Kind().Trampoline() && a.Kind() != tree.AttachKretprobe {
		return 0
	}
	if i := slices.Index(b.Tree.Programs, b.prog); i >= 0 && i <= wire.StackProgramNumber && len(a.At()) == 1 {
		return wire.StackProgram | frames<<wire.StackProgramAsked | int64(i)
	}
	return 0
}

// stackMark is wire.StackMark of the stacks that e takes.
func (b stacks) stackMark(m *region, e *tree.Expr, user bool) *ir.Value {
	mark := e.Int
	if user && b.Unwind {
		return b.Imm(ir.OpOr, b.Imm(ir.OpShl, b.walk(m).Why(), wire.MarkWhyShift), mark)
	}
	if !user && !b.prog.Attach.Kind().Sample() {
		mark |= wire.MarkTraced
	}
	return b.Const(mark)
}

// stackEntry is memory for an entry of MapStacks. Where the entries have more
// room than this stack, the rest may be anything, which scratch memory is. And
// kernels before 5.12 do not let a loop read a program's own stack. The state of a walk lies behind the entry.
func (b stacks) stackEntry(frames int64, user bool) *region {
	size := max(wire.StackAddrs+8*b.Tree.StackFrames, wire.ProcessSize) // announce uses the same memory
	if user && b.Unwind {
		return b.allocScratch(size + unwind.StateSize)
	}
	if int(frames) < b.Tree.StackFrames || b.NoCmpXchg {
		return b.allocScratch(size)
	}
	return b.alloc(size)
}

// hashWords hashes count addresses, of which there is one at least and at most most.
func (b stacks) hashWords(m *region, count *ir.Value, most int64, owner *ir.Value) (id, check *ir.Value) {
	// Copies of one process have numbers that follow each other, and addresses of one loop. So the owner is spread over
	// all bits before the first address comes, or the differences of both would cancel each other.
	begin := b.mix(b.Imm(ir.OpAdd, owner, 1), b.Const(0), hashFactor)
	if most == 1 { // a loop of one round is none
		word := b.Load(8, b.addr(m, 0), wire.StackAddrs)
		h := b.mix(begin, word, hashFactor)
		return b.Imm(ir.OpOr, h, 1), b.mix(count, word, checkFactor)
	}
	head, body, done := b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.Jump(head, b.Const(0), begin, count)
	b.Begin(head)
	i, h, c := head.Param(b.Pos), head.Param(b.Pos), head.Param(b.Pos)
	inside := b.NewBlock()
	b.BranchImm(ir.ULT, i, most, inside, done)
	b.Begin(inside)
	b.Branch(ir.ULT, i, count, body, done)
	b.Begin(body)
	word := b.Load(8, b.Op(ir.OpAdd, b.addr(m, wire.StackAddrs), b.Imm(ir.OpShl, i, 3)), 0)
	b.Jump(head, b.Add(i, 1), b.mix(h, word, hashFactor), b.mix(c, word, checkFactor))
	b.Begin(done)
	// 0 is no stack.
	return b.Imm(ir.OpOr, h, 1), c
}

// mix takes a word into a hash.
func (b stacks) mix(h, word *ir.Value, factor int64) *ir.Value {
	x := b.Op(ir.OpMul, b.Op(ir.OpXor, h, word), b.Const(factor))
	return b.Op(ir.OpXor, x, b.Imm(ir.OpLShr, x, hashShift))
}

// A stackEntry is what an entry of MapStacks has besides addresses: count is their number, owner the process (or what
// ofProgram gives), check the second hash, and mark what stackMark gives.
type stackEntry struct {
	count, owner, check, mark *ir.Value
}

// keepStack makes the entry of a new stack.
func (b stacks) keepStack(m, key *region, e stackEntry, lost func()) {
	b.Store(8, b.addr(m, 0), wire.StackCheck, e.check)
	b.Store(2, b.addr(m, 0), wire.StackCount, e.count)
	b.Store(2, b.addr(m, 0), wire.StackMark, e.mark)
	b.Store(4, b.addr(m, 0), wire.StackProcess, e.owner)
	rc := b.Call(helperMapUpdate, b.MapPtr(tree.MapStacks), b.addr(key, 0), b.addr(m, 0), b.Const(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countHere(tree.SiteStackFull)
		lost()
	})
}

// announce tells user space that there is a new stack: of a process at once, so that it looks at the process's mappings
// while there are some, and of the kernel (process is 0) so that it takes the stack out of the table before that is
// full.
func (b stacks) announce(m *region, id, process *ir.Value, flags int64) {
	b.Uses[tree.MapRing] = true
	b.Store(8, b.addr(m, 0), wire.HeaderNumber, b.Const(wire.NumberProcess))
	b.Store(8, b.addr(m, 0), wire.HeaderTime, b.Call(helperKtimeGetNS))
	b.Store(8, b.addr(m, 0), wire.ProcessStack, id)
	b.Store(8, b.addr(m, 0), wire.ProcessNumber, process)
	b.Call(helperRingbufOutput, b.MapPtr(tree.MapRing), b.addr(m, 0), b.Const(wire.ProcessSize), b.Const(flags))
}
