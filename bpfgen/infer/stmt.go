package infer

import (
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// Statements in kernel halves: assignments, x op= v, if, return, unpacking, nested functions, variables at branches,
// and `this statement cannot run in the kernel`.

// stmts walks statements and reports whether control reaches their end.
func (b walker) stmts(list []syntax.Stmt) bool {
	for _, s := range list {
		if !b.tryStmt(s) {
			return false
		}
	}
	return true
}

// tryStmt walks s; after a mistake in it the walk goes on behind it.
func (b walker) tryStmt(s syntax.Stmt) (falls bool) {
	b.u.stop.Poll()
	r := b.attempt(func() { falls = b.stmt(s) })
	if r == nil {
		return falls
	}
	if b.u.trying == 0 { // it must run in the kernel: what cannot is as wrong as any mistake
		r.Final = true
	}
	b.u.mistake(r)
	if ret, ok := s.(*syntax.ReturnStmt); ok {
		b.returned(objVal(poison{}), start(ret))
		return false
	}
	for _, bind := range assignedIn([]syntax.Stmt{s}) {
		b.frame.Vars.Set(bind, objVal(poison{}))
	}
	return true
}

func (b walker) stmt(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		b.exprStmt(s.X)
	case *syntax.AssignStmt:
		b.assignStmt(s)
	case *syntax.IfStmt:
		return b.ifStmt(s)
	case *syntax.ReturnStmt:
		b.returnStmt(s)
		return false
	case *syntax.DefStmt:
		b.frame.Vars.Set(s.Name.Binding.(*resolve.Binding), objVal(b.closure(s.Function.(*resolve.Function),
			s.Name.Name)))
	case *syntax.ForStmt:
		return b.forStmt(s)
	case *syntax.BranchStmt:
		return b.branchStmt(s)
	default:
		refuse(start(s), "this statement cannot run in the kernel")
	}
	return true
}

// asIf is the if that an expression is whose value nobody takes: of `n > 6 and f(n)` the operands need not be of one
// kind. nil: it is none.
func asIf(x syntax.Expr) *syntax.IfStmt {
	do := func(x syntax.Expr) []syntax.Stmt { return []syntax.Stmt{&syntax.ExprStmt{X: x}} }
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.AND:
			return &syntax.IfStmt{If: x.OpPos, Cond: x.X, True: do(x.Y)}
		case syntax.OR:
			mustCompare(x)
			return &syntax.IfStmt{If: x.OpPos, Cond: x.X, False: do(x.Y)}
		}
	case *syntax.CondExpr:
		return &syntax.IfStmt{If: x.If, Cond: x.Cond, True: do(x.True), False: do(x.False)}
	}
	return nil
}

func (b walker) exprStmt(x syntax.Expr) {
	if _, ok := x.(*syntax.Literal); ok {
		return // a docstring
	}
	if s := asIf(unparen(x)); s != nil {
		b.ifStmt(s)
		return
	}
	v := b.expr(x)
	if v.expr != nil && hasEffect(v.expr) {
		b.emit(&tree.Stmt{Op: tree.SDo, Exprs: []*tree.Expr{v.expr}, Pos: start(x)})
	}
}

func (b walker) assignStmt(s *syntax.AssignStmt) {
	pos := start(s)
	if s.Op != syntax.EQ {
		b.augmented(s)
		return
	}
	var v val
	if r := b.attempt(func() { v = b.expr(s.RHS) }); r != nil {
		if at, is := unparen(s.LHS).(*syntax.IndexExpr); is {
			b.tables().unsaidSet(r, b.expr(at.X), val{}, pos)
		}
		panic(r)
	}
	b.assignTo(s.LHS, v, pos)
}

// augmented is x op= v for a name; x[k] op= v was rewritten by the host.
func (b walker) augmented(s *syntax.AssignStmt) {
	id, ok := unparen(s.LHS).(*syntax.Ident)
	if dot, is := unparen(s.LHS).(*syntax.DotExpr); is {
		readOnly(dot, b.expr(dot.X))
	}
	if !ok {
		refuse(start(s), "%s= works on names and on elements of tables in a kernel half",
			s.Op-syntax.PLUS_EQ+syntax.PLUS)
	}
	x := b.expr(id)
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	b.assignTo(id, b.ops().binary(op, x, b.expr(s.RHS), s.OpPos), start(s))
}

func (b walker) assignTo(lhs syntax.Expr, v val, pos plan.Pos) {
	switch lhs := unparen(lhs).(type) {
	case *syntax.Ident:
		b.set(lhs, v, pos)
	case *syntax.TupleExpr:
		b.unpack(lhs.List, v, pos)
	case *syntax.ListExpr:
		b.unpack(lhs.List, v, pos)
	case *syntax.IndexExpr:
		to, k := b.expr(lhs.X), val{}
		if r := b.attempt(func() { k = b.expr(lhs.Y) }); r != nil {
			b.tables().unsaidSet(r, to, v, pos)
			panic(r)
		}
		b.tables().setIndex(to, k, v, pos)
	case *syntax.DotExpr:
		readOnly(lhs, b.expr(lhs.X))
		refuse(pos, "a field cannot be assigned in a kernel half: give the value a name of its own")
	default:
		refuse(pos, "this cannot be assigned to in a kernel half")
	}
}

func (b walker) unpack(to []syntax.Expr, v val, pos plan.Pos) {
	zeros := "(0" + strings.Repeat(", 0", len(to)-1) + ")"
	if len(to) == 1 {
		zeros = "(0,)"
	}
	if t := v.typ(); t.Kind == types.Tuple && t.MayNone && !t.MayFault {
		wrong(pos, "this may be None here, and a tuple is wanted: give it a name, as x = …, and unpack that behind "+
			"`if x != None:`; get() takes what to give instead, too, as get(k, %s)", zeros)
	}
	elems, ok := b.elements(b.bind("", v, pos), pos)
	if !ok && v.typ().Kind == types.Int && b.u.guesses() {
		refuse(pos, "%s cannot be unpacked in a kernel half: a table or cell has ints where nothing says what it has; "+
			"get() takes what to give instead, as get(k, %s), which says so", v.describe(), zeros)
	}
	if !ok {
		refuse(pos, "%s cannot be unpacked in a kernel half", v.describe())
	}
	if len(elems) != len(to) {
		wrong(pos, "%s for %s", format.Count(len(elems), "value"), format.Count(len(to), "name"))
	}
	for i, x := range to {
		b.assignTo(x, elems[i], pos)
	}
}

// ifStmt walks both ways unless the condition is known. What a variable is
// afterwards is the join of both ways.
func (b walker) ifStmt(s *syntax.IfStmt) bool {
	var c cond
	if r := refusal.Attempt(func() { c = b.cond(s.Cond) }); r != nil {
		b.learn(r, s.True, s.False)
		panic(r)
	}
	if c.known {
		if c.value {
			return b.stmts(s.True)
		}
		return b.stmts(s.False)
	}
	before := b.frame.Vars
	way := func(list []syntax.Stmt, facts facts) (*tree.Block, vars, bool) {
		b.frame.Vars = before
		b.apply(facts)
		var falls bool
		block := b.inBlock(func() { falls = b.stmts(list) })
		return block, b.frame.Vars, falls
	}
	then, tv, tf := way(s.True, c.ifTrue)
	els, ev, ef := way(s.False, c.ifFalse)
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{c.expr}, Then: then, Else: els, Pos: start(s)})
	switch {
	case tf && ef:
		b.frame.Vars = b.merge(tv, ev, then, els, start(s))
	case tf:
		b.frame.Vars = tv
	case ef:
		b.frame.Vars = ev
	}
	return tf || ef
}

// learn walks the ways of an if whose condition wants the value of a table that
// nothing has set so far: `if t.get(k) == None: t[k] = …` says there what it is.
// All else waits for the next round.
func (b walker) learn(r *refusal.Refusal, ways ...[]syntax.Stmt) {
	if !r.Silent || b.u.unknown.Len() == 0 {
		return
	}
	said, before := b.u.messages, b.frame.Vars
	for _, way := range ways {
		b.frame.Vars = before
		refusal.Attempt(func() { b.inBlock(func() { b.stmts(way) }) })
	}
	b.u.messages, b.frame.Vars = said, before
}

// merge joins the variables of two ways: one that differs gets a local that
// both ways assign. One that is unset on one way is unset: a use says so.
func (b walker) merge(x, y vars, then, els *tree.Block, pos plan.Pos) vars {
	var differ []*resolve.Binding
	persistent.Diff(x, y, func(bind *resolve.Binding, _, _ *val) { differ = append(differ, bind) })
	sortBindings(differ) // so that the tree is the same every time
	out := x
	if y.Len() < x.Len() {
		out = y
	}
	for _, bind := range differ {
		xv, inX := x.Get(bind)
		yv, inY := y.Get(bind)
		switch {
		case !inX || !inY:
			out.Delete(bind)
		case same(xv, yv):
			out.Set(bind, xv)
		case b.inPin(bind, xv, yv):
			out.Set(bind, exprVal(b.local(b.frame.pins[bind].local, pos)))
		default:
			out.Set(bind, b.joinVar(bind.First.Name, xv, yv, then, els, pos))
		}
	}
	return out
}

// inPin reports whether a variable that is x on one way and y on the other is read where it is pinned: both are there,
// and together they are of no other type.
func (b walker) inPin(bind *resolve.Binding, x, y val) bool {
	p := b.frame.pins[bind]
	if p == nil || x.expr == nil || y.expr == nil {
		return false
	}
	t, ok := types.Join(chosen(x.expr), chosen(y.expr))
	return ok && t.Equal(p.t)
}

// joinVar is a variable that is x on one way and y on the other.
func (b walker) joinVar(name string, x, y val, then, els *tree.Block, pos plan.Pos) val {
	if v, ok := sameEvent(x, y); ok {
		return v
	}
	if v, ok := b.join(name, x, y, then, els, pos); ok {
		return v
	}
	if x.obj == (poison{}) || y.obj == (poison{}) {
		return objVal(poison{})
	}
	return objVal(&unjoined{name, x.describe(), y.describe(), besides(x, y)})
}

func (b walker) returnStmt(s *syntax.ReturnStmt) {
	v := noneVal()
	if s.Result != nil {
		v = b.bind("", b.result(s.Result), start(s))
	}
	b.returned(v, start(s))
}

// result is what a function returns, or a bool where its caller asks for no more.
func (b walker) result(x syntax.Expr) val {
	if b.frame.truth {
		return condVal(b.cond(x))
	}
	return b.expr(x)
}

func (b walker) returned(v val, pos plan.Pos) {
	st := &tree.Stmt{Op: tree.SReturn, Int: b.frame.inline, Pos: pos}
	b.emit(st)
	b.frame.returns = append(b.frame.returns, returned{st, v, b.block})
}

func (b walker) closure(def *resolve.Function, name string) *closure {
	c := &closure{def: def, outer: b.frame, name: name}
	for _, p := range def.Params {
		if _, star := p.(*syntax.UnaryExpr); star {
			continue // as in named
		}
		bin, ok := p.(*syntax.BinaryExpr)
		c.has = append(c.has, ok)
		if ok {
			c.defaults = append(c.defaults, b.bind("", b.expr(bin.Y), start(bin)))
		} else {
			c.defaults = append(c.defaults, val{})
		}
	}
	return c
}
