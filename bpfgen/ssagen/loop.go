package ssagen

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// for loops that the verifier follows round by round.

// forStmt counts iterations from 0 up to a number that is computed before the
// loop, and tests the constant bound too, so that the verifier sees an end.
// An iteration past the bound ends the handler.
func (b loops) forStmt(s *tree.Stmt) {
	bound, err := strconv.ParseInt(s.Str, 10, 32)
	if err != nil {
		b.fail("bound of a loop: %v", err)
	}
	if b.calledLoops[s] && b.Reached() && (rounds(b)).inRounds(s, bound) {
		return
	}
	step := s.Exprs[2].Int
	start, stop := b.expr(s.Exprs[0]).x, b.expr(s.Exprs[1]).x
	n := b.iterations(start, stop, step)
	if computed(s) && b.learns() {
		n = b.forget(n) // a loop that ends after k rounds tells that n is k, to all that share it
	}

	head := b.NewBlock()
	vars := b.loopVars(s.Then)
	args := []*ir.Value{b.Const(0), start}
	for _, i := range vars {
		args = b.comps(b.variable(i), args)
	}
	l := &loop{exit: b.newJoin(types.Type{}), bound: bound}
	if computed(s) {
		l.bound = min(bound, halfBound)
	}
	b.Jump(head, args...)
	b.Begin(head)
	k, x := head.Param(b.Pos), head.Param(b.Pos)
	for _, i := range vars {
		b.setVar(int64(i), assemble(b.variable(i).t, func() *ir.Value { return head.Param(b.Pos) }))
	}
	l.exit.saved = b.save()
	b.loopBody(s, l, loopState{head, k, x, n, bound, step, vars})
}

// loopState is what goes round a loop.
type loopState struct {
	// head is the block to which each round comes back. Its parameters are what goes round.
	head *ir.Block
	// k is the number of the round from 0, x the value of the loop's variable, and n the number of rounds.
	k, x, n *ir.Value
	// bound is the most rounds that there can be, step what x grows by.
	bound, step int64
	// vars are the variables that the body changes, by their numbers.
	vars []int64
}

func (b loops) loopBody(s *tree.Stmt, l *loop, ls loopState) {
	more, body, done := b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.Branch(ir.ULT, ls.k, ls.n, more, done)
	saved, pos, first := b.save(), b.Pos, len(b.Func.Blocks)
	b.Begin(more)
	b.Reach(body)
	b.Begin(body)
	b.setVar(s.Int, intVal(b.prog.Locals[s.Int].Type, ls.x))
	l.next = b.newJoin(types.Type{})
	b.loops, b.inLoops = append(b.loops, l), b.inLoops+1
	b.block(s.Then)
	b.jump(l.next)
	b.enter(l.next)
	b.loops, b.inLoops = b.loops[:len(b.loops)-1], b.inLoops-1
	parted := b.parts(append([]*ir.Block{body}, b.Func.Blocks[first:]...))
	args := []*ir.Value{b.Imm(ir.OpAdd, ls.k, 1), b.Add(ls.x, ls.step)}
	for _, i := range ls.vars {
		v := b.variable(i)
		if parted && ls.bound > minBound && isPlain(v.t) {
			v = b.forgotten(v)
		}
		args = b.comps(v, args)
	}
	b.Jump(ls.head, args...)
	b.restore(saved)
	b.Begin(more)
	b.Pos = pos
	bound := b.bound(s, l, ls.bound, append([]*ir.Block{body}, b.Func.Blocks[first:]...))
	b.unless(ir.UGE, ls.k, bound, func() { b.errorSite(fmt.Sprintf("loop of more than %d iterations", bound)) })
	b.Jump(body)
	b.restore(saved)
	b.Begin(done)
	b.jump(l.exit)
	b.enter(l.exit)
	if computed(s) && b.learns() {
		b.forgetVars(ls.vars)
	}
}

// forgetVars makes the verifier forget what variables are behind a loop that ends
// after any number of rounds. It knows a sum after each of them, and would follow
// what comes behind once for each: another loop some thousand times.
func (b loops) forgetVars(vars []int64) {
	for _, i := range vars {
		if v := b.variable(i); v.t.Kind != types.Bot && isPlain(v.t) && b.Reached() {
			b.setVar(i, b.forgotten(v))
		}
	}
}

// learns reports whether what the verifier learns of the number of rounds costs
// more than it gives: it would follow all that is behind the loop once for each
// number. Older kernels do not, behind the only loop of a program.
func (b loops) learns() bool { return b.HasLoop || b.loopsOf().all > 1 }

func (b loops) loopsOf() loopNumbers {
	if b.loopNumbers != nil {
		return *b.loopNumbers
	}
	var n loopNumbers
	inside := map[*tree.Stmt]bool{}
	count := func(s *tree.Stmt) {
		if s.Op != tree.SFor {
			return
		}
		n.all++
		if computed(s) && !inside[s] {
			n.side++
		}
		tree.WalkBlock(s.Then, func(s *tree.Stmt) { inside[s] = true }, func(*tree.Expr) {})
	}
	tree.WalkBlock(b.prog.Body, count, func(*tree.Expr) {})
	for _, v := range b.prog.Variants {
		tree.WalkBlock(v.Body, count, func(*tree.Expr) {})
	}
	b.loopNumbers = &n
	return n
}

// parts reports whether there are several ways through a body.
func (b loops) parts(body []*ir.Block) bool {
	return slices.ContainsFunc(body, func(x *ir.Block) bool { return b.CanReach(x) && x.Term.Kind == ir.Branch })
}

// forgotten is v as a value of which the verifier knows nothing. What grows
// differently on two ways of a body and bounds something later would be another
// state for each way in each round, and the cost exponential.
func (b loops) forgotten(v val) val {
	var words []*ir.Value
	for _, x := range b.comps(v, nil) {
		words = append(words, b.forget(x))
	}
	i := -1
	return assemble(v.t, func() *ir.Value {
		i++
		return words[i]
	})
}

// forget brings x over a word of the stack that is written in two parts: what the
// verifier knows of a register is kept by whole words only.
func (b loops) forget(x *ir.Value) *ir.Value {
	if b.split == nil {
		b.stack += 8
		b.split = b.Func.NewSlot(8)
	}
	b.Store(4, b.SlotAddr(b.split, 0), 0, x)
	b.Store(4, b.SlotAddr(b.split, 4), 0, b.Imm(ir.OpLShr, x, 32))
	return b.Load(8, b.SlotAddr(b.split, 0), 0)
}

// bound is how many iterations the loop l may have whose body has been built.
func (b loops) bound(s *tree.Stmt, l *loop, most int64, body []*ir.Block) int64 {
	cost := b.costOf(body, l.inner)
	cost.asks = cost.asks || b.asksOuter(body)
	outer := int64(1)
	for _, o := range b.loops {
		outer *= o.bound
	}
	n := cost.boundFor(s, most, outer*b.share())
	before := bodyCost{} // in the loop
	if len(b.loops) == 0 {
		before = b.extra
	}
	if b.HasLoop && !b.calledLoops[s] && (cost.tooMuch(s, most, outer, before) ||
		len(b.loops) == 0 && b.loopsOf().side > 1 && computed(s) && b.beside.ways > 0 && cost.crowded(n, b.beside)) {
		b.calledLoops[s], b.again = true, true
	}
	more := cost.times(n - 1)
	if len(b.loops) > 0 {
		around := b.loops[len(b.loops)-1]
		around.inner = around.inner.plus(more)
	} else {
		if computed(s) && !b.calledLoops[s] {
			more = cost.asked().times(n)
			b.beside = b.beside.plus(more)
		}
		b.extra = b.extra.plus(more)
	}
	return n
}

// share is the number by which the cost of a loop is divided because of the loops behind each other. Two loops may
// cost all of it. Where there is bpf_loop, the later ones are called.
func (b loops) share() int64 {
	if side := b.loopsOf().side; !b.HasLoop && len(b.loops) == 0 && side > 2 {
		return int64(side+1) / 2
	}
	return 1
}
