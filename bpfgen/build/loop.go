package build

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// A loop is a SFor under construction.
type loop struct {
	next, exit *join
	bound      int64    // what is known of it while its body is built
	inner      bodyCost // of loops in it, beyond their first iterations
}

// forStmt counts iterations from 0 up to a number that is computed before the
// loop, and tests the constant bound too, so that the verifier sees an end.
// An iteration past the bound ends the handler.
func (b *builder) forStmt(s *tree.Stmt) {
	bound, err := strconv.ParseInt(s.Str, 10, 32)
	if err != nil {
		b.fail("bound of a loop: %v", err)
	}
	if b.calledLoops[s] && b.reached[b.cur] && b.inRounds(s, bound) {
		return
	}
	step := s.Exprs[2].Int
	start, stop := b.expr(s.Exprs[0]).x, b.expr(s.Exprs[1]).x
	n := b.iterations(start, stop, step)
	if !b.HasLoop && computed(s) && b.severalLoops() {
		n = b.forget(n) // a loop that ends after k rounds tells that n is k, to all that share it
	}

	head := b.f.NewBlock()
	vars := b.loopVars(s.Then)
	args := []*ir.Value{b.konst(0), start}
	for _, i := range vars {
		args = b.comps(b.variable(i), args)
	}
	l := &loop{exit: b.newJoin(types.Type{}), bound: bound}
	if computed(s) {
		l.bound = min(bound, halfBound)
	}
	b.cur.Jump(b.pos, head, args...)
	b.reach(head)
	b.begin(head)
	k, x := head.Param(b.pos), head.Param(b.pos)
	for _, i := range vars {
		b.setVar(int64(i), assemble(b.variable(i).t, func() *ir.Value { return head.Param(b.pos) }))
	}
	l.exit.saved = b.save()
	b.loopBody(s, l, loopState{head, k, x, n, bound, step, vars})
}

// loopState is what goes round a loop.
type loopState struct {
	head        *ir.Block
	k, x, n     *ir.Value
	bound, step int64
	vars        []int64
}

func (b *builder) loopBody(s *tree.Stmt, l *loop, ls loopState) {
	more, body, done := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	b.branch(ir.ULT, ls.k, ls.n, more, done)
	saved, pos, first := b.save(), b.pos, len(b.f.Blocks)
	b.begin(more)
	b.reach(body)
	b.begin(body)
	b.setVar(s.Int, intVal(b.prog.Locals[s.Int].Type, ls.x))
	l.next = b.newJoin(types.Type{})
	b.loops = append(b.loops, l)
	b.block(s.Then)
	b.jump(l.next)
	b.enter(l.next)
	b.loops = b.loops[:len(b.loops)-1]
	parted := b.parts(append([]*ir.Block{body}, b.f.Blocks[first:]...))
	args := []*ir.Value{b.imm(ir.OpAdd, ls.k, 1), b.add(ls.x, ls.step)}
	for _, i := range ls.vars {
		v := b.variable(i)
		if parted && ls.bound > minBound && isPlain(v.t) {
			v = b.forgotten(v)
		}
		args = b.comps(v, args)
	}
	b.cur.Jump(b.pos, ls.head, args...)
	b.restore(saved)
	b.begin(more)
	b.pos = pos
	bound := b.bound(s, l, ls.bound, append([]*ir.Block{body}, b.f.Blocks[first:]...))
	b.unless(ir.UGE, ls.k, bound, func() { b.errorSite(fmt.Sprintf("loop of more than %d iterations", bound)) })
	b.cur.Jump(b.pos, body)
	b.restore(saved)
	b.begin(done)
	b.jump(l.exit)
	b.enter(l.exit)
	if computed(s) && b.severalLoops() {
		b.forgetVars(ls.vars)
	}
}

// forgetVars makes the verifier forget what variables are behind a loop that ends
// after any number of rounds. It knows a sum after each of them, and would follow
// what comes behind once for each: another loop some thousand times.
func (b *builder) forgetVars(vars []int64) {
	for _, i := range vars {
		if v := b.variable(i); v.t.Kind != types.Bot && isPlain(v.t) && b.reached[b.cur] {
			b.setVar(i, b.forgotten(v))
		}
	}
}

// severalLoops reports whether the program has more than one.
func (b *builder) severalLoops() bool { return b.loopsOf().all > 1 }

// loopNumbers are how many loops a program has.
type loopNumbers struct {
	all  int
	side int // over ranges that are computed, none of which is in another loop
}

func (b *builder) loopsOf() loopNumbers {
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
func (b *builder) parts(body []*ir.Block) bool {
	return slices.ContainsFunc(body, func(x *ir.Block) bool { return b.reached[x] && x.Term.Kind == ir.Branch })
}

// forgotten is v as a value of which the verifier knows nothing. What grows
// differently on two ways of a body and bounds something later would be another
// state for each way in each round, and the cost exponential.
func (b *builder) forgotten(v val) val {
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

// forget brings x over a word of the stack that is written in halves: what the
// verifier knows of a register is kept by whole words only.
func (b *builder) forget(x *ir.Value) *ir.Value {
	if b.halves == nil {
		b.stack += 8
		b.halves = b.f.NewSlot(8)
	}
	b.store(4, b.slotAddr(b.halves, 0), 0, x)
	b.store(4, b.slotAddr(b.halves, 4), 0, b.imm(ir.OpLShr, x, 32))
	return b.load(8, b.slotAddr(b.halves, 0), 0)
}

// bound is how many iterations the loop l may have whose body has been built.
func (b *builder) bound(s *tree.Stmt, l *loop, most int64, body []*ir.Block) int64 {
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
	if b.HasLoop && !b.calledLoops[s] && cost.tooMuch(s, most, outer, before) {
		b.calledLoops[s], b.again = true, true
	}
	more := cost.times(n - 1)
	if len(b.loops) > 0 {
		around := b.loops[len(b.loops)-1]
		around.inner = around.inner.plus(more)
	} else {
		b.extra = b.extra.plus(more)
	}
	return n
}

// share is by how much less a loop may cost because of those behind each other. Two may cost all of it. With bpf_loop the
// later ones are called.
func (b *builder) share() int64 {
	if side := b.loopsOf().side; !b.HasLoop && len(b.loops) == 0 && side > 2 {
		return int64(side+1) / 2
	}
	return 1
}

// iterations is how often range(start, stop, step) steps, as unsigned.
func (b *builder) iterations(start, stop *ir.Value, step int64) *ir.Value {
	if step == 0 {
		b.fail("loop with step 0")
	}
	lo, hi := start, stop
	if step < 0 {
		lo, hi, step = stop, start, -step
	}
	none := b.newJoin(types.U64)
	some, empty := b.f.NewBlock(), b.f.NewBlock()
	b.branch(ir.SLT, lo, hi, some, empty)
	b.begin(empty)
	b.jumpWith(none, intVal(types.U64, b.konst(0)))
	b.begin(some)
	d := b.op(ir.OpSub, hi, lo)
	if step > 1 {
		d = b.imm(ir.OpAdd, b.imm(ir.OpUDiv, b.add(d, -1), step), 1)
	}
	b.jumpWith(none, intVal(types.U64, d))
	return b.enter(none).x
}

// loopVars are the variables that the body changes and that are set before.
func (b *builder) loopVars(body *tree.Block) []int64 {
	var out []int64
	seen := map[int64]bool{}
	tree.WalkBlock(body, func(s *tree.Stmt) {
		if (s.Op == tree.SAssign || s.Op == tree.SFor) && !seen[s.Int] && b.variable(s.Int).t.Kind != types.Bot {
			seen[s.Int] = true
			out = append(out, s.Int)
		}
	}, func(*tree.Expr) {})
	return out
}
