package diff

import (
	"fmt"
	"strings"
)

// Random statements: assignments, if, for, functions inside.

const exprDepth = 4

// body is some statements; none of them is a return at the end.
func (g *gen) body(n int) []*Stmt {
	var out []*Stmt
	for range n {
		if g.nodes <= 0 {
			break
		}
		out = append(out, g.stmt()...)
	}
	return out
}

func (g *gen) stmt() []*Stmt {
	if g.user && g.one(8) {
		return g.shapedStmt()
	}
	if g.hasState() && g.one(5) {
		return g.stateStmt()
	}
	switch g.r.IntN(15) {
	case 0, 1, 2, 3:
		return []*Stmt{g.declare()}
	case 4, 5:
		return g.reassign()
	case 6, 7, 8:
		return []*Stmt{g.ifStmt()}
	case 9:
		return g.earlyReturn()
	case 10:
		return g.forStmt()
	case 11:
		return g.nested()
	case 12:
		return g.stateStmt()
	case 13:
		return g.signStmt()
	}
	return []*Stmt{{Form: Do, Exprs: []*Expr{g.expr(g.valueType(), exprDepth)}}}
}

// declare makes a variable.
func (g *gen) declare() *Stmt {
	if g.one(6) {
		return g.unpack()
	}
	t := g.valueType()
	if g.event && g.one(8) && g.nodesThere() {
		t = pointer
	}
	s := &Stmt{Form: Assign, Target: g.name("v"), Exprs: []*Expr{g.expr(t, exprDepth)}}
	g.vars = append(g.vars, variable{s.Target, t, false})
	return s
}

func (g *gen) unpack() *Stmt {
	t := Type{Kind: Tuple}
	var names []string
	var vars []variable
	for range 2 + g.r.IntN(2) {
		v := variable{g.name("v"), g.scalarType(), false}
		t.Elems, names, vars = append(t.Elems, v.t), append(names, v.name), append(vars, v)
	}
	s := &Stmt{Form: Assign, Target: strings.Join(names, ", "), Exprs: []*Expr{g.expr(t, exprDepth)}}
	g.vars = append(g.vars, vars...)
	return s
}

// assignable are the variables of this function that may change here.
func (g *gen) assignable() []variable {
	fixed := map[string]bool{}
	for _, v := range g.vars {
		fixed[v.name] = fixed[v.name] || v.fixed
	}
	var out []variable
	for _, v := range g.vars[min(g.own, len(g.vars)):] {
		if !fixed[v.name] {
			out = append(out, v)
		}
	}
	return out
}

func (g *gen) reassign() []*Stmt {
	list := g.assignable()
	if len(list) == 0 {
		return nil
	}
	v := pick(g, list)
	if g.user && v.t.Kind == Ptr { // whose fields are wanted is known when the script is compiled
		return nil
	}
	if v.t.isInt() && g.one(2) {
		return []*Stmt{g.augment(v)}
	}
	return []*Stmt{{Form: Assign, Target: v.name, Exprs: []*Expr{g.expr(v.t, exprDepth)}}}
}

// augment is v op= x, which keeps the class of v.
func (g *gen) augment(v variable) *Stmt {
	ops, t := []string{"+", "-", "*"}, plainInt
	switch v.t.Class {
	case Signed:
		t = pick(g, []Type{signed, unsigned, plainInt})
		ops = append(ops, "//", "%", "|", "^", "<<", ">>")
	case Unsigned: // only these have &, so that comes often
		ops, t = []string{"&", "&", "&", "&", "|", "^", "<<", ">>", "//", "%"}, unsigned
	}
	return &Stmt{Form: Augment, Target: v.name, Op: pick(g, ops), Exprs: []*Expr{g.expr(t, exprDepth-1)},
		Wrap: wrapTo(v.t)}
}

func (g *gen) ifStmt() *Stmt {
	s := &Stmt{Form: If}
	for range 1 + g.r.IntN(2) {
		c, known := g.condition(exprDepth - 1)
		s.Exprs = append(s.Exprs, c)
		g.knowing(known, func() { s.Bodies = append(s.Bodies, g.block()) })
	}
	if g.one(2) {
		g.scope(func() { s.Bodies = append(s.Bodies, g.block()) })
	}
	return s
}

// block is a body that may end with a return.
func (g *gen) block() []*Stmt {
	out := g.body(1 + g.r.IntN(2))
	switch g.r.IntN(6) {
	case 0:
		out = append(out, g.returnStmt())
	case 1:
		out = append(out, g.branch()...)
	}
	return out
}

func (g *gen) returnStmt() *Stmt {
	if g.result.Opt && g.one(6) {
		return &Stmt{Form: Return}
	}
	return &Stmt{Form: Return, Exprs: []*Expr{g.expr(g.result, exprDepth)}}
}

// earlyReturn is `if …: return`; after `if v == None: return` v is known for the rest of the block.
func (g *gen) earlyReturn() []*Stmt {
	s := &Stmt{Form: If, Bodies: [][]*Stmt{{g.returnStmt()}}}
	v, ok := g.optionalName()
	if !ok || g.one(2) {
		tested := len(g.tested)
		c, _ := g.condition(exprDepth - 1)
		if len(g.tested) > tested { // what is returned may read what is None there
			s.Bodies[0][0] = g.returnStmt()
		}
		s.Exprs = []*Expr{c}
		return []*Stmt{s}
	}
	s.Exprs = []*Expr{operator("==", boolean, v, none).proof()}
	g.vars = append(g.vars, variable{v.Text, v.Type.present(), true})
	return []*Stmt{s}
}

// forStmt goes over something constant, which is written out, or over a range.
func (g *gen) forStmt() []*Stmt {
	if g.times > 1 || g.loop && g.one(2) {
		return nil
	}
	s := &Stmt{Form: For, Target: g.name("i")}
	n := 1 + g.r.IntN(4)
	vars := []variable{{s.Target, plainInt, true}}
	switch g.r.IntN(8) {
	case 0:
		s.Exprs = []*Expr{leaf(Type{}, fmt.Sprintf("range(%d)", n))}
	case 5:
		if !g.event || g.user || !g.nodesThere() {
			return nil
		}
		s.Exprs = []*Expr{nil}
		s.Exprs[0], vars[0].t, n = g.arrayLoop()
	case 6:
		if len(g.lists) == 0 {
			return nil
		}
		l := pick(g, g.lists)
		s.Exprs, vars[0].t, n = []*Expr{leaf(Type{}, l.name)}, l.t, l.n
	case 7:
		if len(g.dicts) == 0 {
			return nil
		}
		d := pick(g, g.dicts)
		s.Exprs, vars[0].t, n = []*Expr{leaf(Type{}, d.name)}, d.key, 4
	case 1:
		s.Exprs, n = []*Expr{g.longRange()}, 1
	case 2:
		list := g.written()
		vars[0].t = pick(g, []Type{plainInt, text, boolean})
		for range n {
			list.Args = append(list.Args, g.literal(vars[0].t))
		}
		s.Exprs = []*Expr{list}
	case 3: // constants or not, the number of elements is known
		list := g.written()
		vars[0].t = pick(g, []Type{signed, unsigned, text, boolean})
		at := g.event && g.nodesThere() && g.one(2) // the body reads at pointers
		if at {
			vars[0].t = pointer
		}
		for range n {
			if at {
				list.Args = append(list.Args, g.somePointer(false))
				continue
			}
			list.Args = append(list.Args, g.expr(vars[0].t, 2))
		}
		s.Exprs = []*Expr{list}
	default:
		s.Exprs = []*Expr{g.pairs(n)}
		vars = append(vars, variable{g.name("i"), text, true})
		s.Target += ", " + vars[1].name
	}
	times, loop := g.times, g.loop
	g.times, g.loop = n, true
	g.knowing(vars, func() { s.Bodies = [][]*Stmt{g.block()} })
	g.times, g.loop = times, loop
	return []*Stmt{s}
}

// pairs is a list of n pairs of an int and a string.
func (g *gen) pairs(n int) *Expr {
	list := g.written()
	for range n {
		list.Args = append(list.Args, &Expr{Form: Display, Args: []*Expr{g.literal(plainInt), g.literal(text)}})
	}
	return list
}

// longRange is a range that is not written out: it has many steps, or a number of steps that the kernel computes.
func (g *gen) longRange() *Expr {
	few := func() *Expr {
		return arith("&", g.expr(pick(g, []Type{signed, unsigned}), 2),
			leaf(plainInt, pick(g, []string{"1", "3", "7"})))
	}
	switch g.r.IntN(4) {
	case 0:
		return leaf(Type{}, fmt.Sprintf("range(%d)", 65+g.r.IntN(40)))
	case 3:
		return call(Type{}, "range", few(), arith("-", few(), leaf(plainInt, "4")),
			leaf(plainInt, pick(g, []string{"-1", "-2", "2"})))
	case 1:
		return call(Type{}, "range", few(), arith("+", few(), leaf(plainInt, "2")))
	}
	return call(Type{}, "range", few())
}

// branch leaves the loop or the iteration.
func (g *gen) branch() []*Stmt {
	if !g.loop {
		return nil
	}
	return []*Stmt{{Form: Branch, Op: pick(g, []string{"break", "continue"})}}
}

// nested defines a function inside the function.
func (g *gen) nested() []*Stmt {
	if g.calls == 0 {
		return nil
	}
	fn := &Function{Name: g.name("n")}
	g.signature(fn)
	if len(fn.Defaults) == 0 && g.one(3) {
		return g.lambdaStmt(fn)
	}
	g.function(fn, 1+g.r.IntN(2))
	g.fns = append(g.fns, callable{fn, false})
	return []*Stmt{{Form: Def, Func: fn}}
}

// written is a list or a tuple that is written where it is used.
func (g *gen) written() *Expr { return &Expr{Form: Display, Text: pick(g, []string{"", "["})} }
