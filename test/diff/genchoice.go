package diff

import (
	"fmt"
	"slices"
)

// Random ints without a sign beside constants and in variables.

// natural is a constant that is not negative. Its type is one of its own, since by itself it is Plain.
func (g *gen) natural() *Expr {
	n := g.int64()
	if n < 0 {
		n = -(n + 1)
	}
	return leaf(Type{Kind: Func, Class: Unsigned}, number(n))
}

// decidedLater is a condition that is not known when the script is compiled.
func (g *gen) decidedLater() *Expr {
	return operator(pick(g, orderings), boolean, g.intLeaf(Signed), g.intLeaf(Unsigned))
}

// besideConstant is an int without a sign or a constant that is not negative: the type has no sign.
func (g *gen) besideConstant(d int) *Expr {
	x, constant := g.expr(unsigned, d-1), g.natural()
	switch g.r.IntN(5) {
	case 0:
		return operator(pick(g, []string{"or", "and"}), unsigned, x, constant)
	case 1:
		e := &Expr{Form: Cond, Type: unsigned, Args: []*Expr{g.decidedLater(), x, constant}}
		if g.one(2) {
			e.Args[1], e.Args[2] = constant, x
		}
		return e
	case 2: // one of two constants, first
		either := &Expr{Form: Cond, Type: constant.Type, Args: []*Expr{g.decidedLater(), constant, g.natural()}}
		return arith(pick(g, []string{"//", "%", "|", "^", "&"}), x, either)
	}
	e := call(unsigned, pick(g, []string{"min", "max"}), x, constant)
	for range g.r.IntN(2) {
		e.Args = append(e.Args, pick(g, []*Expr{g.expr(unsigned, d-1), g.natural()}))
	}
	g.r.Shuffle(len(e.Args), func(i, j int) { e.Args[i], e.Args[j] = e.Args[j], e.Args[i] })
	return e
}

// signStmt is about a variable without a sign that gets a constant, or one with a sign that has none for a while.
func (g *gen) signStmt() []*Stmt {
	switch g.r.IntN(3) {
	case 0:
		return g.constantOnOneWay()
	case 1:
		return g.beginsConstant()
	}
	return g.withoutSign()
}

// assignableOf is a variable of a type that may change here.
func (g *gen) assignableOf(t Type) (variable, bool) {
	list := slices.DeleteFunc(g.assignable(), func(v variable) bool { return !v.t.Equal(t) })
	if len(list) == 0 {
		return variable{}, false
	}
	return pick(g, list), true
}

// constantOnOneWay sets a variable without a sign to a constant on one of two ways.
func (g *gen) constantOnOneWay() []*Stmt {
	v, ok := g.assignableOf(unsigned)
	if !ok {
		return nil
	}
	s := &Stmt{Form: If, Exprs: []*Expr{g.decidedLater()},
		Bodies: [][]*Stmt{{{Form: Assign, Target: v.name, Exprs: []*Expr{g.natural()}}}}}
	if g.one(2) {
		s.Bodies = append(s.Bodies, []*Stmt{{Form: Assign, Target: v.name, Exprs: []*Expr{g.expr(unsigned, 2)}}})
	}
	return []*Stmt{s}
}

// beginsConstant makes a variable that is a constant before a loop, in which it gets ints without a sign.
func (g *gen) beginsConstant() []*Stmt {
	if g.times > 1 {
		return nil
	}
	name, n := g.name("v"), 1+g.r.IntN(3)
	loop := &Stmt{Form: For, Target: g.name("i"), Exprs: []*Expr{leaf(Type{}, fmt.Sprintf("range(%d)", n))}}
	if g.one(2) {
		loop.Exprs[0], n = g.longRange(), 2
	}
	v := leaf(unsigned, name)
	times := g.times
	g.times = n
	x := g.expr(unsigned, 2)
	switch g.r.IntN(3) {
	case 0:
		x = call(unsigned, pick(g, []string{"min", "max"}), v, x)
	case 1:
		x = arith(pick(g, []string{"|", "^", "&", "//", "%"}), v, x)
	default:
		x = &Expr{Form: Cond, Type: unsigned, Args: []*Expr{g.decidedLater(), v, x}}
	}
	g.times = times
	loop.Bodies = [][]*Stmt{{{Form: Assign, Target: name, Exprs: []*Expr{x}}}}
	g.vars = append(g.vars, variable{name, unsigned, false})
	return []*Stmt{{Form: Assign, Target: name, Exprs: []*Expr{g.natural()}}, loop}
}

// withoutSign gives a variable with a sign an int without one, which it is until it is computed with.
func (g *gen) withoutSign() []*Stmt {
	v, ok := g.assignableOf(signed)
	if !ok || !g.event { // it may be the only one with a sign
		return nil
	}
	out := []*Stmt{{Form: Assign, Target: v.name, Exprs: []*Expr{g.expr(unsigned, 2)}}}
	vars, fns, loop := g.vars, g.fns, g.loop
	g.vars, g.loop = slices.Clone(vars), false // nothing here leaves the iteration
	for i := range g.vars {
		if g.vars[i].name == v.name {
			g.vars[i].t, g.vars[i].fixed = unsigned, true
		}
	}
	out = append(out, g.body(1+g.r.IntN(2))...)
	if g.one(2) {
		s := &Stmt{Form: If, Exprs: []*Expr{operator(pick(g, orderings), boolean, leaf(unsigned, v.name), g.anyInt(1))}}
		s.Bodies = [][]*Stmt{g.body(1)}
		out = append(out, s)
	}
	g.vars, g.fns, g.loop = vars, fns, loop
	return append(out, &Stmt{Form: Augment, Target: v.name, Op: pick(g, []string{"+", "-"}),
		Exprs: []*Expr{g.expr(signed, 1)}, Wrap: asInt})
}
