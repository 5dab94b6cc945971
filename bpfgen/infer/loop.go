package infer

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// for loops in kernel halves: written out, over range(), over computed numbers, with the variables that they assign,
// and how many iterations one may have.
//
// A loop over something constant is written out. Any other loop goes over a
// range, and its bound is known to the verifier.
//
// A variable that the body assigns and that has a value before the loop is
// pinned: it lives in one local of the tree from here on, of a type that
// holds all that is assigned, so every way through the loop finds it there.
// The type is found by walking the body, and throwing the result away, until
// no assignment widens it. From an assignment to the next place where several
// ways meet the variable is what was assigned (read), with its own type: an int
// without a sign has none, though the variable has one elsewhere.

// writeOut counts an iteration that is written out. Of too many a loop around it is walked anew as one that is not.
func (b walker) writeOut(pos plan.Pos) {
	switch b.written++; {
	case b.written > maxWritten && b.rollable.IsValid():
		b.u.rolled[b.rollable] = true
		refusal.AfterMistake()
	case b.written > maxWritten+1:
		refusal.AfterMistake()
	case b.written > maxWritten:
		wrong(pos, "the loops around and in this one have more than %d iterations together, which are written out "+
			"one by one: too many for a kernel half", maxWritten)
	}
}

// A rangeObj is range(…) that is not written out.
type rangeObj struct {
	start, stop val
	step        int64
	bound       int64
	rolled      bool // written out it was too large
}

func (*rangeObj) what() string { return "a range" }

func (b walker) forStmt(s *syntax.ForStmt) bool {
	pos := start(s)
	over := b.sequence(s.X)
	if r, ok := over.obj.(*rangeObj); ok {
		b.pinned(s, func() { b.rangeLoop(s, r) })
		return true
	}
	if n := over.arrayLen(); n > maxUnroll {
		refuse(pos, "this loop has %d iterations; a kernel half takes %d of an array", n, maxUnroll)
	}
	if over.comp {
		over = b.steady(over, pos)
	}
	elems, ok := b.elements(over, start(s.X))
	if !ok && b.attributes().isList(over, pos) {
		refuse(pos, "%s", eachOfList)
	}
	b.attributes().noPointer(over, pos)
	if !ok {
		noElements(over, start(s.X))
		refuse(pos, "a loop in a kernel half goes over range(…), a constant list or an array, got %s",
			over.describe())
	}
	if len(elems) > maxUnroll {
		refuse(pos, "this loop has %d iterations; a kernel half takes %d of a list", len(elems), maxUnroll)
	}
	if b.u.rolled[pos] && b.rolled(s, over) {
		return true
	}
	return b.noteWritten(pos, b.noteRollable(pos, over, func() bool {
		if branches(s.Body) {
			b.pinned(s, func() { b.unrolledLoop(s, elems) })
			return true
		}
		for _, v := range elems {
			b.writeOut(pos)
			b.assignTo(s.Vars, v, pos)
			if !b.stmts(s.Body) {
				return false
			}
		}
		return true
	}))
}

// steady is what a loop goes through, as it is before the first round: of a list that is written there the body can
// change what its elements are made of.
//
//	for j in (5, x):
//	    x = 50            # the second round has x as it was
func (b walker) steady(v val, pos plan.Pos) val {
	out := v
	out.elems = make([]val, len(v.elems))
	for i, e := range v.elems {
		switch {
		case e.comp:
			out.elems[i] = b.steady(e, pos)
		case e.expr != nil && b.mayChange(e.expr):
			out.elems[i] = b.bind("", e, pos)
		default:
			out.elems[i] = e
		}
	}
	return out
}

// mayChange reports whether statements can change what an expression gives: it has a variable of a loop, or what a
// container has.
func (b walker) mayChange(e *tree.Expr) (is bool) {
	tree.WalkExpr(e, func(*tree.Stmt) {}, func(e *tree.Expr) {
		switch e.Op {
		case tree.OpLocal:
			is = is || b.pinLocals.At(e.Int)
		case tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpTableHas, tree.OpCellGet:
			is = true
		}
	})
	return is
}

// noteWritten notes what a loop that walk writes out comes to, unless it is in another one.
func (b walker) noteWritten(pos plan.Pos, walk func() bool) bool {
	if b.writing {
		return walk()
	}
	b.writing = true
	rounds, from := b.written, len(b.block.Stmts)
	falls := walk()
	b.writing = false
	loop := tree.WrittenLoop{Pos: pos, Rounds: b.written - rounds}
	tree.WalkBlock(&tree.Block{Stmts: b.block.Stmts[from:]}, func(*tree.Stmt) {}, func(*tree.Expr) { loop.Exprs++ })
	b.prog.Written = slices.DeleteFunc(b.prog.Written, func(l tree.WrittenLoop) bool { return l.Pos == pos })
	b.prog.Written = append(b.prog.Written, loop)
	return falls
}

// noteRollable makes walk, which writes out a loop over what, note that it could be rolled, unless one around it could
// be, or it was tried.
func (b walker) noteRollable(pos plan.Pos, over val, walk func() bool) func() bool {
	if _, ok := over.c.(plan.Range); !ok || b.rollable.IsValid() || b.u.rolled[pos] {
		return walk
	}
	return func() bool {
		b.rollable = pos
		if !slices.Contains(b.prog.Rollable, pos) {
			b.prog.Rollable = append(b.prog.Rollable, pos)
		}
		falls := walk()
		b.rollable = plan.Pos{}
		return falls
	}
}

// rolled walks a loop over a constant range as one that is not written out, if it can be one: not where the body wants
// a constant.
func (b walker) rolled(s *syntax.ForStmt, over val) bool {
	r, ok := rangeOf(over)
	if !ok {
		return false
	}
	m, back, diags := b.mark(), b.frame.keepLoops(), len(b.u.diags)
	block, refused := b.tries(func() { b.pinned(s, func() { b.rangeLoop(s, r) }) })
	if refused != nil || len(b.u.diags) > diags {
		b.back(m)
		back()
		for _, p := range b.frame.pins {
			b.prog.Locals[p.local].Type = p.t
		}
		return false
	}
	for _, st := range block.Stmts {
		b.emit(st)
	}
	return true
}

// rangeOf is a constant range of at least two numbers as one that is not written out.
func rangeOf(v val) (*rangeObj, bool) {
	list, ok := v.c.(plan.Range)
	if !ok || len(list) < 2 {
		return nil, false
	}
	from, _ := constant(list[0]).constInt()
	second, _ := constant(list[1]).constInt()
	last, _ := constant(list[len(list)-1]).constInt()
	step, stop := second-from, last+1
	if step < 0 {
		stop = last - 1
	}
	return &rangeObj{start: intVal(from), stop: intVal(stop), step: step, bound: int64(len(list)), rolled: true}, true
}

// keepLoops gives what brings the loops around a place of f, and their pins, back to what they are now.
func (f *frame) keepLoops() (back func()) {
	loop, pins, now := f.loop, maps.Clone(f.pins), map[*pin]pin{}
	for _, p := range pins {
		now[p] = *p
	}
	return func() {
		f.loop, f.pins = loop, pins
		for p, was := range now {
			*p = was
		}
	}
}

// sequence is the value of x where it is only gone through: a list that is
// written there is its elements.
func (b walker) sequence(x syntax.Expr) val {
	if l, ok := unparen(x).(*syntax.ListExpr); ok {
		return b.tuple(l.List)
	}
	return b.expr(x)
}

func (b walker) branchStmt(s *syntax.BranchStmt) bool {
	l := b.frame.loop
	if s.Token == syntax.PASS || l == nil {
		return true
	}
	op, inline := tree.SBreak, l.out
	if s.Token == syntax.CONTINUE {
		op, inline = tree.SContinue, l.next
	}
	st := &tree.Stmt{Op: op, Pos: start(s)}
	if l.unrolled {
		st.Op, st.Int = tree.SReturn, inline
	}
	b.emit(st)
	return false
}

// pinned runs the walk of a loop with its variables pinned.
func (b walker) pinned(s *syntax.ForStmt, walk func()) {
	pins := b.pinVars(s)
	defer func() { // also where a mistake ends the walk, which then goes on behind the loop
		for bind := range pins {
			delete(b.frame.pins, bind)
		}
	}()
	list := slices.DeleteFunc(assigned([]syntax.Stmt{s}), func(bind *resolve.Binding) bool {
		return b.frame.pins[bind] == nil
	})
	sortBindings(list)
	for range maxRounds {
		for _, p := range pins {
			p.widened = false
		}
		b.rehearse(list, walk)
		if !widened(pins) {
			break
		}
	}
	for _, p := range pins {
		b.prog.Locals[p.local].Type = p.t
	}
	for _, bind := range list {
		if p := pins[bind]; p != nil {
			b.assignPin(p, b.frame.Vars.At(bind), start(s))
		}
	}
	b.readPins(list, start(s))
	before := b.frame.Vars
	walk()
	b.frame.Vars = before // temporaries of the body are gone
	b.readPins(list, start(s))
}

// readPins makes variables be read where they are pinned: several ways meet here.
func (b walker) readPins(list []*resolve.Binding, pos plan.Pos) {
	for _, bind := range list {
		b.frame.Vars.Set(bind, exprVal(b.local(b.frame.pins[bind].local, pos)))
	}
}

func widened(pins map[*resolve.Binding]*pin) bool {
	for _, p := range pins {
		if p.widened {
			return true
		}
	}
	return false
}

// pinVars makes the pins of the variables that the loop assigns and that are
// not pinned by a loop around it.
func (b walker) pinVars(s *syntax.ForStmt) map[*resolve.Binding]*pin {
	pins := map[*resolve.Binding]*pin{}
	for _, bind := range assigned([]syntax.Stmt{s}) {
		v, ok := b.frame.Vars.Get(bind)
		if !ok || b.frame.pins[bind] != nil || pins[bind] != nil {
			continue
		}
		t := chosen(b.rv(v, start(s)))
		p := &pin{t: t, local: b.newLocal(bind.First.Name, t)}
		pins[bind] = p
		if b.frame.pins == nil {
			b.frame.pins = map[*resolve.Binding]*pin{}
		}
		b.frame.pins[bind] = p
		b.pinLocals.Set(p.local, true)
	}
	return pins
}

// rehearse walks a loop that assigns variables without leaving anything but wider pins.
func (b walker) rehearse(list []*resolve.Binding, walk func()) {
	m := b.mark()
	for _, p := range b.frame.pins {
		b.prog.Locals[p.local].Type = p.t
	}
	b.readPins(list, plan.Pos{})
	b.inBlock(walk)
	b.back(m)
}

// set gives a variable a value: a pinned one is assigned in its place.
func (b walker) set(id *syntax.Ident, v val, pos plan.Pos) {
	bind := id.Binding.(*resolve.Binding)
	if p := b.frame.pins[bind]; p != nil {
		b.frame.Vars.Set(bind, b.assignPin(p, v, pos))
		return
	}
	b.frame.Vars.Set(bind, b.bind(id.Name, v, pos))
}

// assignPin assigns a pinned variable, and gives what it is until several ways meet: its place, or the value, if that
// is an int of another type.
func (b walker) assignPin(p *pin, v val, pos plan.Pos) val {
	e := beside(b.u, b.rv(v, pos), p.t)
	t, ok := types.Join(withTexts(p.t, e.Type), chosen(e))
	if !ok {
		begin := ""
		if v.typ().Label != "" || p.t.Label != "" {
			begin = "; let it begin with None"
		}
		refuse(pos, "this is %s, but the variable was %s before the loop%s", v.describe(), inWords(p.t), begin)
	}
	if !t.Equal(p.t) {
		p.t, p.widened = t, true
		b.prog.Locals[p.local].Type = t
	}
	own := e.Type.Kind == types.Int && t.Kind == types.Int && !e.Type.Equal(t)
	if own {
		e = b.bind(b.prog.Locals[p.local].Name, exprVal(e), pos).expr
	}
	b.emit(&tree.Stmt{Op: tree.SAssign, Int: p.local, Exprs: []*tree.Expr{convert(e, t)}, Pos: pos})
	if own {
		return exprVal(e)
	}
	return exprVal(b.local(p.local, pos))
}

// rangeLoop is a loop over a range as a SFor.
func (b walker) rangeLoop(s *syntax.ForStmt, r *rangeObj) {
	pos := start(s)
	i := b.newLocal("", types.I64)
	saved := b.frame.loop
	b.frame.loop = &loop{outer: saved}
	blk := b.inBlock(func() {
		b.assignTo(s.Vars, exprVal(b.local(i, pos)), pos)
		b.stmts(s.Body)
	})
	b.frame.loop = saved
	b.emit(&tree.Stmt{Op: tree.SFor, Int: i, Then: blk, Str: fmt.Sprint(r.bound), Pos: pos, ByKernel: r.rolled,
		Exprs: []*tree.Expr{b.num(r.start, pos), b.num(r.stop, pos), intExpr(r.step, pos)}})
}

// unrolledLoop writes out a loop with break or continue: leaving it is a
// return from an inline around it.
func (b walker) unrolledLoop(s *syntax.ForStmt, elems []val) {
	pos := start(s)
	saved := b.frame.loop
	l := &loop{unrolled: true, out: int64(b.prog.Inlines), outer: saved}
	b.prog.Inlines++
	before := b.frame.Vars
	all := b.inBlock(func() {
		for _, v := range elems {
			b.writeOut(pos)
			// What an iteration learned or set, another way out of it did not.
			b.frame.Vars = before
			l.next = int64(b.prog.Inlines)
			b.prog.Inlines++
			b.frame.loop = l
			one := b.inBlock(func() {
				b.assignTo(s.Vars, v, pos)
				b.stmts(s.Body)
			})
			b.inlineNone(l.next, one, pos)
		}
	})
	b.frame.loop = saved
	b.inlineNone(l.out, all, pos)
}

// inlineNone emits a block that SReturn with its number leaves.
func (b walker) inlineNone(id int64, blk *tree.Block, pos plan.Pos) {
	e := &tree.Expr{Op: tree.OpInline, Type: types.NoneT, Int: id, Body: blk, Pos: pos}
	b.emit(&tree.Stmt{Op: tree.SDo, Exprs: []*tree.Expr{e}, Pos: pos})
}

// rangeBound is a bound of a range as it is where the range is made.
func (b *body) rangeBound(v val, pos plan.Pos) val {
	return b.bind("", exprVal(b.signedNum(v, "a range's bound", pos)), pos)
}

// callRange is range(start, stop, step): a list if it is short and known,
// else something that a loop can go over.
func callRange(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 3, "range(start, stop, step)", pos)
	r := &rangeObj{start: intVal(0), stop: a[0], step: 1, bound: maxRange}
	if len(a) > 1 {
		r.start, r.stop = a[0], a[1]
	}
	if len(a) == 3 {
		n, ok := a[2].constInt()
		if !ok {
			refuse(pos, "range takes a constant step in a kernel half: let it count how often, and multiply, as x = "+
				"first + i * step for i in range(n)")
		}
		if n == 0 {
			wrong(pos, "range with a step of 0")
		}
		r.step = n
	}
	from, ok1 := r.start.constInt()
	to, ok2 := r.stop.constInt()
	if !ok1 || !ok2 {
		r.bound = mostRounds(r.start, r.stop, r.step)
		r.start, r.stop = b.rangeBound(r.start, pos), b.rangeBound(r.stop, pos)
		return objVal(r)
	}
	r.bound = fold.Steps(from, to, r.step)
	if r.bound > maxLoop {
		refuse(pos, "this range has %d steps; a kernel half takes %d", r.bound, maxLoop)
	}
	if r.bound > maxUnroll {
		return objVal(r)
	}
	list, _ := fold.Range(from, to, r.step, maxUnroll)
	return constant(plan.Range(list))
}
