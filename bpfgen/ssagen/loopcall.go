package ssagen

import (
	"fmt"
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// for loops that the kernel runs by bpf_loop (5.17), and the reasons why one cannot be so, as `startrace explain` gives
// them.
//
// A loop that the verifier would not follow to its end is left to the kernel
// (bpf_loop, 5.17): its body is a function that the kernel calls for each round,
// and the verifier follows it a few times only.
//
// It is given an address on the caller's stack, where the addresses are that it
// needs: the context, the state of the loop, its scratch memory, strings. Numbers
// are in the state, which lies in a map: of a number on the stack kernels before
// 6.7 think that it has the value of the first round in all of them. The body
// gives 0 to go on, 1 to leave the loop.

// The words of a loop on the stack, and those of its state.
const (
	roundCtx = iota
	roundState
	roundScratch
	roundAddrs // of strings

	stateLeft  = 0 // why the loop was left
	stateStart = 1 // the first value of the range
	stateVars  = 2
)

// Why a loop was left. Returns from inlines follow.
const (
	leftNever = iota
	leaveLoop // break
	leaveProgram
	leaveInlines
)

// room is how many words the bytes of a string take.
func (c carried) room() int { return layout.StringRoom(c.t.Cap) / 8 }

// loopsByKernel notes the loops of p that the kernel runs whatever they cost, or all of them.
func loopsByKernel(p *tree.Program, rounds map[*tree.Stmt]bool, all bool) {
	note := func(s *tree.Stmt) {
		if s.Op == tree.SFor && (all || s.ByKernel) {
			rounds[s] = true
		}
	}
	tree.WalkBlock(p.Body, note, func(*tree.Expr) {})
	for _, v := range p.Variants {
		tree.WalkBlock(v.Body, note, func(*tree.Expr) {})
	}
}

// A loopCall is a loop that becomes a call of bpf_loop.
type loopCall struct {
	// s is the loop.
	s *tree.Stmt
	// bound is the most rounds that it can have.
	bound int64
	// in are the variables that the body uses and does not change.
	in []int64
	// vars are the variables that it changes.
	vars []int64
	// b is what passes between the body and what is around it.
	b *boundary
	// n is the function of the body under construction.
	n *generator
	// sub is that function as the one with the loop sees it.
	sub *subprogram
	// consts are the constants that the function with the loop is given by its own caller, and gives on.
	consts []*tree.Expr
	// scalars are the words that the body is given in the state, from stateVars on.
	scalars []*ir.Value
	// addrs are the addresses that it is given on the stack, from roundAddrs on.
	addrs []*ir.Value
}

// inRounds makes s a call of bpf_loop, if it can be one.
func (b rounds) inRounds(s *tree.Stmt, bound int64) bool {
	l := &loopCall{s: s, bound: bound, vars: loops(b).loopVars(s.Then), b: &boundary{}}
	l.b.block(s.Then, 1)
	if why := b.loopRefusal(l); why != "" {
		b.reports = append(b.reports, Call{Name: loopName, Pos: s.Pos, Rounds: bound, Why: why})
		return false
	}
	inside := localsOf(s.Then)
	for _, n := range slices.Sorted(maps.Keys(inside.used)) {
		_, later := b.lazy[n]
		if inside.assigned[n] == 0 && n != s.Int && (later || b.variable(n).t.Kind != types.Bot) {
			l.in = append(l.in, n)
		}
	}
	b.callLoop(l)
	return true
}

// loopName is the name of loops in reports.
const loopName = "loop"

// loopRefusal says why a loop cannot be a call.
func (b rounds) loopRefusal(l *loopCall) string {
	switch {
	case l.b.refused != "":
		return l.b.refused
	case len(l.b.reads)+len(l.b.epochs) > maxLiveIns:
		return "it uses too many values of the event"
	}
	for _, v := range l.vars {
		if t := b.prog.Locals[v].Type; !isPlain(t) && !isText(t.Kind) {
			return "it changes a tuple with a string"
		}
	}
	open, why := map[int64]bool{}, ""
	tree.WalkBlock(l.s.Then, func(*tree.Stmt) {}, func(e *tree.Expr) {
		if e.Op == tree.OpInline {
			open[e.Int] = true
		}
	})
	tree.WalkBlock(l.s.Then, func(s *tree.Stmt) {
		if s.Op == tree.SReturn && !open[s.Int] && !isPlain(b.inlineType(s.Int)) {
			why = "a string is returned from it"
		}
	}, func(*tree.Expr) {})
	return why
}

// inlineType is the type of what inline n gives.
func (b rounds) inlineType(n int64) types.Type {
	if in := b.inlines[n]; in != nil {
		return in.done.t
	}
	if b.round == nil {
		b.fail("return from inline %d, which is not open", n)
	}
	return rounds{b.round.outer}.inlineType(n)
}

func (b rounds) callLoop(l *loopCall) {
	step := l.s.Exprs[2].Int
	start, stop := b.expr(l.s.Exprs[0]).x, b.expr(l.s.Exprs[1]).x
	count := loops(b).iterations(start, stop, step)
	var given []val
	for _, v := range l.in {
		t := b.prog.Locals[v].Type
		given = append(given, b.roomy(b.convert(b.expr(&tree.Expr{Op: tree.OpLocal, Int: v, Type: t}), t)))
	}
	for _, r := range l.b.reads {
		given = append(given, b.convert(b.expr(r.e), r.e.Type))
	}
	for _, c := range l.b.epochs {
		given = append(given, intVal(types.U64, subs(b).epochOf(c)))
	}
	tree.WalkBlock(l.s.Then, func(*tree.Stmt) {}, func(e *tree.Expr) {
		if b.given[e] != nil {
			l.consts = append(l.consts, e)
			given = append(given, intVal(types.U64, b.given[e]))
		}
	})
	for _, v := range given {
		b.sortComps(v, l)
	}
	l.buildBody(b.generator, step)
	b.startLoop(l, start, count)
	b.afterLoop(l, count)
}

// roomy is v with its strings in memory of the size that their types say. The body knows no more of it; of one that was
// chosen among several, or that is a constant, there may be less.
func (b rounds) roomy(v val) val {
	if s, room := v.s, layout.StringRoom(v.t.Cap); s != nil && (s.mem == nil || s.room < room) {
		m := b.allocText(room)
		copies{b.code}.copyBytes(b.addr(m, 0), s, room)
		v.s = &str{mem: m, room: room, n: b.strLen(s), flags: s.flags}
	}
	elems := make([]val, len(v.elems))
	for i, e := range v.elems {
		elems[i] = b.roomy(e)
	}
	v.elems = elems
	return v
}

// sortComps parts the words of v into addresses and numbers.
func (b rounds) sortComps(v val, l *loopCall) {
	addr := addressComps(v.t, nil)
	for i, x := range b.comps(v, nil) {
		if addr[i] {
			l.addrs = append(l.addrs, x)
		} else {
			l.scalars = append(l.scalars, x)
		}
	}
}

// addressComps tells of the words of comps which are addresses.
func addressComps(t types.Type, out []bool) []bool {
	if hasTag(t) {
		out = append(out, false)
	}
	switch {
	case t.Kind == types.None || t.Kind == types.Bot:
	case isText(t.Kind):
		out = append(out, true, false, false)
	case t.Kind == types.Tuple || t.Kind == types.Record:
		for _, e := range t.Elems {
			out = addressComps(e, out)
		}
	default:
		out = append(out, false)
	}
	return out
}

// buildBody builds the function.
func (l *loopCall) buildBody(b *generator, step int64) {
	n := newGenerator(b.Shared, b.prog, b.family)
	n.Func.Name, n.budget, n.Pos = subs{b}.subName(loopName), min(b.budget, subStack), l.s.Pos
	l.n, l.sub = n, &subprogram{f: n.Func}
	index, words := n.Op(ir.OpArg), n.Op(ir.OpArg)
	words.Imm = 1
	ctx := n.Load(8, words, 8*roundCtx)
	n.remember("ctx", intVal(types.U64, ctx))
	scratch := n.Load(8, words, 8*roundScratch)
	n.round = &round{outer: b, state: n.Load(8, words, 8*roundState), size: stateVars + len(l.scalars)}
	l.receive(n, words)
	start := n.Load(8, n.round.state, 8*stateStart)
	x := n.Op(ir.OpAdd, start, n.Op(ir.OpMul, index, n.Const(step)))
	n.setVar(l.s.Int, intVal(b.prog.Locals[l.s.Int].Type, x))
	rounds{n}.carry(l.vars)
	rounds{n}.roundBody(l.s)
	n.Func.Prune()
	l.sub.ctx = n.Func.CountUses()[ctx.ID] > 0
	if l.sub.scratch = n.Func.ScratchSize; l.sub.scratch > 0 {
		replaceScratch(n.Func, scratch)
	}
	l.sub.calls = n.called
	l.sub.cost = loops{n}.costOf(n.Func.Blocks, n.extra).times(roundsFollowed)
}

// roundsFollowed is how often the verifier follows a body, about.
const roundsFollowed = 4

// receive takes what the body is given in the order of sortComps.
func (l *loopCall) receive(n *generator, words *ir.Value) {
	addr, scalar := int64(roundAddrs), int64(stateVars)
	take := func(t types.Type) val {
		kinds, i := addressComps(t, nil), -1
		return assemble(t, func() *ir.Value {
			if i++; kinds[i] {
				addr++
				return n.Load(8, words, 8*(addr-1))
			}
			scalar++
			return n.Load(8, n.round.state, 8*(scalar-1))
		})
	}
	for _, v := range l.in {
		n.setVar(int64(v), take(n.prog.Locals[v].Type))
	}
	for _, r := range l.b.reads {
		v := take(r.e.Type)
		n.remember(r.key, v)
		if name, ok := readNames[r.key]; ok {
			n.remember(name, intVal(types.U64, v.x))
		}
	}
	for _, c := range l.b.epochs {
		n.remember(epochUse(c), take(types.U64))
	}
	for _, e := range l.consts {
		n.given[e] = take(types.U64).x
	}
}

// carry gives the variables that the loop changes their places in the state.
func (b rounds) carry(vars []int64) {
	r := b.round
	for _, v := range vars {
		c := carried{v, r.outer.variable(v).t, r.size}
		r.vars = append(r.vars, c)
		if isText(c.t.Kind) {
			r.size += c.room() + 2
		} else {
			r.size += len(addressComps(c.t, nil))
		}
		b.setVar(int64(v), b.takeCarried(c, r.state))
	}
	r.values = r.size
}

// takeCarried is the value of c in the state.
func (b rounds) takeCarried(c carried, state *ir.Value) val {
	word := c.word
	if isText(c.t.Kind) {
		word += c.room()
	}
	next := func() *ir.Value {
		word++
		return b.Load(8, state, int64(8*(word-1)))
	}
	if isText(c.t.Kind) {
		return val{t: c.t, s: &str{addr: b.Add(state, int64(8*c.word)), n: next(), flags: next(), room: 8 * c.room()}}
	}
	return assemble(c.t, next)
}

// putCarried stores the value of c in the state.
func (b rounds) putCarried(c carried, state *ir.Value) {
	v := b.convert(b.variable(c.local), c.t)
	word, words := c.word, []*ir.Value(nil)
	if isText(c.t.Kind) {
		copies{b.code}.copyBytes(b.Add(state, int64(8*c.word)), v.s, 8*c.room())
		word, words = word+c.room(), []*ir.Value{b.strLen(v.s), b.strFlags(v.s)}
	} else {
		words = b.comps(v, nil)
	}
	for i, x := range words {
		b.Store(8, state, int64(8*(word+i)), x)
	}
}

// putAll stores all that the loop changes.
func (b rounds) putAll() {
	for _, c := range b.round.vars {
		b.putCarried(c, b.round.state)
	}
}

// roundBody builds one round, and its two ends.
func (b rounds) roundBody(s *tree.Stmt) {
	l := &loop{exit: b.newJoin(types.Type{}), next: b.newJoin(types.Type{}), bound: roundsFollowed}
	b.loops = append(b.loops, l)
	b.block(s.Then)
	b.jump(l.next)
	b.enter(l.next)
	if b.Reached() {
		b.putAll()
	}
	b.Cur.Ret(b.Pos, nil)
	b.End()
	b.enter(l.exit)
	b.round.broken = b.Reached()
	if b.round.broken {
		b.putAll()
	}
	b.leaveRounds(leaveLoop)
	b.loops = b.loops[:len(b.loops)-1]
	b.extra = b.extra.plus(l.inner)
}

// leaveRounds ends the loop.
func (b rounds) leaveRounds(why int64) {
	if why == leaveProgram {
		b.round.stops = b.round.stops || b.Reached()
	}
	b.Store(8, b.round.state, 8*stateLeft, b.Const(why))
	b.Cur.Ret(b.Pos, b.Const(1))
	b.End()
}

// returnFromRounds leaves the loop for the end of inline n.
func (b rounds) returnFromRounds(n int64, v val) {
	if !b.Reached() {
		b.End()
		return
	}
	r := b.round
	i := slices.Index(r.returns, n)
	if i < 0 {
		i = len(r.returns)
		r.returns, r.given = append(r.returns, n), append(r.given, rounds{r.outer}.inlineType(n))
	}
	if t := r.given[i]; t.Kind != types.Bot {
		words := b.comps(b.convert(v, t), nil)
		for k, x := range words {
			b.Store(8, r.state, int64(8*(r.values+k)), x)
		}
		r.size = max(r.size, r.values+len(words))
	}
	b.leaveRounds(leaveInlines + int64(i))
}

// startLoop fills the words and calls.
func (b rounds) startLoop(l *loopCall, start, count *ir.Value) {
	r := l.n.round
	state := b.allocScratch(8 * r.size)
	l.sub.state = state
	put := func(word int, x *ir.Value) { b.Store(8, b.addr(state, int64(8*word)), 0, x) }
	put(stateLeft, b.Const(leftNever))
	put(stateStart, start)
	for i, x := range l.scalars {
		put(stateVars+i, x)
	}
	for _, c := range r.vars {
		b.putCarried(c, b.addr(state, 0))
	}
	addrs := []*ir.Value{roundCtx: b.Const(0), roundState: b.addr(state, 0), roundScratch: b.Const(0)}
	if l.sub.ctx {
		addrs[roundCtx] = b.ctx()
	}
	if l.sub.scratch > 0 {
		addrs[roundScratch] = b.addr(subs(b).scratchOf(l.sub), 0)
	}
	addrs = append(addrs, l.addrs...)
	slot := subs(b).callWords(len(addrs))
	for i, x := range addrs {
		b.Store(8, b.SlotAddr(slot, 0), int64(8*i), x)
	}
	f := b.Op(ir.OpFunc)
	f.Sym = l.n.Func.Name
	b.Call(helperLoop, b.atMost(count, l.bound), f, b.SlotAddr(slot, 0), b.Const(0))
	b.called = append(b.called, l.sub)
	b.reports = append(b.reports, Call{Name: loopName, Pos: l.s.Pos, Times: 1, Sub: l.n.Func.Name, Rounds: l.bound})
	cost := &b.extra
	if len(b.loops) > 0 {
		cost = &b.loops[len(b.loops)-1].inner
	}
	*cost = cost.plus(l.sub.cost)
}

// atMost is the lesser of x and n.
func (b rounds) atMost(x *ir.Value, n int64) *ir.Value {
	j := b.newJoin(types.U64)
	b.unless(ir.UGT, x, n, func() { b.jumpWith(j, intVal(types.U64, b.Const(n))) })
	b.jumpWith(j, intVal(types.U64, x))
	return b.enter(j).x
}

// afterLoop goes on as the body wants.
func (b rounds) afterLoop(l *loopCall, count *ir.Value) {
	r, at := l.n.round, func(word int) *ir.Value { return b.Load(8, b.addr(l.sub.state, int64(8*word)), 0) }
	for _, c := range r.vars {
		b.setVar(int64(c.local), b.takeCarried(c, b.addr(l.sub.state, 0)))
	}
	left := at(stateLeft)
	if r.stops {
		b.unless(ir.EQ, left, leaveProgram, b.ret)
	}
	for i, n := range r.returns {
		b.unless(ir.EQ, left, leaveInlines+int64(i), func() {
			word := r.values
			stmts(b).leaveInline(n, assemble(r.given[i], func() *ir.Value {
				word++
				return at(word - 1)
			}))
		})
	}
	if computed(l.s) {
		done := b.newJoin(types.Type{})
		if r.broken {
			b.unless(ir.EQ, left, leaveLoop, func() { b.jump(done) })
		}
		b.unless(ir.UGT, count, l.bound, func() {
			b.errorSite(fmt.Sprintf("loop of more than %d iterations", l.bound))
		})
		b.jump(done)
		b.enter(done)
	}
}

// leaveInline goes on behind inline n with its value v.
func (b stmts) leaveInline(n int64, v val) {
	switch in := b.inlines[n]; {
	case in != nil:
		b.jumpWith(in.done, v)
	case b.round != nil:
		rounds(b).returnFromRounds(n, v)
	default:
		b.fail("return from inline %d, which is not open", n)
	}
}
