package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// and, or, not and x == None in kernel halves, with what they prove about variables; refuses `s == "a" or "b"`.

// cond gives the truth of x.
func (b walker) cond(x syntax.Expr) cond {
	switch x := unparen(x).(type) {
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			return negate(b.cond(x.X), x.OpPos)
		}
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.AND:
			return b.both(x, true)
		case syntax.OR:
			return b.both(x, false)
		case syntax.EQL, syntax.NEQ:
			if c, ok := b.noneTest(x); ok {
				return c
			}
		}
	case *syntax.CondExpr:
		return b.ops().truth(b.either(x, func(x syntax.Expr) val { return condVal(b.cond(x)) }), x.If)
	case *syntax.CallExpr:
		return b.ops().truth(b.call(x, true), start(x))
	case *syntax.Ident, *syntax.DotExpr:
		_, c := b.truthOf(x)
		return c
	}
	return b.ops().truth(b.expr(x), start(x))
}

// both is `x and y` (all) or `x or y`: the second side is walked with what
// the first one proves.
func (b walker) both(x *syntax.BinaryExpr, all bool) cond {
	l := b.cond(x.X)
	if l.known {
		if l.value != all {
			return known(l.value)
		}
		return b.cond(x.Y)
	}
	mustCompare(x)
	proved := l.ifTrue
	if !all {
		proved = l.ifFalse
	}
	before := b.frame.Vars
	b.apply(proved)
	var r cond
	block := b.inBlock(func() { r = b.cond(x.Y) })
	b.frame.Vars = before
	return b.connect(l, r, block, all, x.OpPos)
}

// mustCompare refuses `s == "a" or "b"`, which is always true.
func mustCompare(x *syntax.BinaryExpr) {
	left, compares := unparen(x.X).(*syntax.BinaryExpr)
	text, is := unparen(x.Y).(*syntax.Literal)
	if compares && is && (left.Op == syntax.EQL || left.Op == syntax.NEQ) && text.Token == syntax.STRING {
		refuse(start(x.Y), `a text is no condition: one of several is s in ("a", "b")`)
	}
}

// connect makes the tree of a connective whose right side needs block first.
func (b walker) connect(l, r cond, block *tree.Block, all bool, pos plan.Pos) cond {
	if r.known && len(block.Stmts) == 0 {
		if r.value == all {
			return l
		}
		return known(r.value) // l has no effect that could be missed
	}
	out := cond{}
	if all {
		out.ifTrue = merged(l.ifTrue, r.ifTrue)
	} else {
		out.ifFalse = merged(l.ifFalse, r.ifFalse)
	}
	right := r.expr
	if r.known {
		right = constExpr(plan.Bool(r.value), pos)
	}
	if len(block.Stmts) == 0 {
		op := tree.OpLAnd
		if !all {
			op = tree.OpLOr
		}
		out.expr = &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{l.expr, right}, Pos: pos}
		return out
	}
	id := b.newLocal("", types.Boolean)
	set := func(e *tree.Expr) *tree.Stmt {
		return &tree.Stmt{Op: tree.SAssign, Int: id, Exprs: []*tree.Expr{e}, Pos: pos}
	}
	block.Stmts = append(block.Stmts, set(right))
	short := &tree.Block{Stmts: []*tree.Stmt{set(constExpr(plan.Bool(!all), pos))}}
	s := &tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{l.expr}, Then: block, Else: short, Pos: pos}
	if !all {
		s.Then, s.Else = short, block
	}
	b.emit(s)
	out.expr = b.local(id, pos)
	return out
}

// noneTest is `x == None` or `x != None`, which narrows a variable.
func (b walker) noneTest(x *syntax.BinaryExpr) (cond, bool) {
	other := x.X
	if !isNoneIdent(x.Y) {
		if !isNoneIdent(x.X) {
			return cond{}, false
		}
		other = x.Y
	}
	v := b.expr(other)
	c := b.ops().isNone(v, x.OpPos)
	if !c.known && b.keeps(other) {
		_, ofGo := v.obj.(*goValue)
		if _, list := v.obj.(*heldList); !ofGo && !list && v.asked == nil { // which keep their parts, and their length
			c.ifFalse = b.narrowed(other, exprVal(assumeNotNone(b.rv(v, x.OpPos))))
		}
		c.ifTrue = b.narrowed(other, noneVal())
	}
	if x.Op == syntax.NEQ {
		c = negate(c, x.OpPos)
	}
	return c, true
}

// truthOf is the truth of a name, or of a field of one: a true one is not None.
func (b walker) truthOf(x syntax.Expr) (val, cond) {
	v := b.expr(x)
	c := b.ops().truth(v, start(x))
	if !c.known && v.expr != nil && v.expr.Type.MayNone && b.keeps(x) {
		c.ifTrue = b.narrowed(x, exprVal(assumeNotNone(b.rv(v, start(x)))))
	}
	return v, c
}

func (b walker) binaryExpr(x *syntax.BinaryExpr) val {
	switch x.Op {
	case syntax.AND, syntax.OR:
		return b.andOr(x).v
	case syntax.EQL, syntax.NEQ:
		if c, ok := b.noneTest(x); ok {
			return condVal(c)
		}
	}
	l := b.expr(x.X)
	if x.Op != syntax.IN && x.Op != syntax.NOT_IN {
		return b.ops().binary(x.Op, l, b.expr(x.Y), x.OpPos)
	}
	r := b.sequence(x.Y)
	if !isRange(r) {
		return b.ops().binary(x.Op, l, r, x.OpPos)
	}
	if _, ok := l.c.(plan.Int); l.c == nil {
		l = exprVal(b.num(l, start(x.X))) // of another value user space has no answer, but an error
	} else if !ok {
		refuse(start(x.X), "in range(…) asks about an int, got %s", l.describe())
	}
	return b.ops().binary(x.Op, l, r, x.OpPos)
}

// andOr is `x and y` or `x or y` as a value: one of the two operands.
func (b walker) andOr(x *syntax.BinaryExpr) proved {
	l := b.proved(x.X)
	l.v = b.bind("", l.v, x.OpPos)
	c := b.ops().truth(l.v, x.OpPos)
	c.ifTrue, c.ifFalse = l.ifTrue, l.ifFalse
	if x.Op == syntax.OR {
		c = negate(c, x.OpPos)
	}
	if c.known {
		if c.value {
			return b.proved(x.Y)
		}
		return l
	}
	var r proved
	out := proved{v: b.choose(c, func() val { r = b.proved(x.Y); return r.v }, func() val {
		if l.v.typ().Equal(types.Boolean) {
			return boolVal(x.Op == syntax.OR)
		}
		if e := b.rv(l.v, x.OpPos); x.Op == syntax.OR && e.Type.MayNone {
			return exprVal(assumeNotNone(e)) // a true value is not None
		}
		return l.v
	}, x.OpPos)}
	if x.Op == syntax.AND {
		out.ifTrue = merged(l.ifTrue, r.ifTrue)
	} else {
		out.ifFalse = merged(l.ifFalse, r.ifFalse)
	}
	return out
}

// proved is an expression's value with what its truth proves about variables.
type proved struct {
	v               val
	ifTrue, ifFalse facts
}

func (b walker) proved(x syntax.Expr) proved {
	var c cond
	switch x := unparen(x).(type) {
	case *syntax.Ident, *syntax.DotExpr:
		v, c := b.truthOf(x)
		return proved{v, c.ifTrue, c.ifFalse}
	case *syntax.UnaryExpr:
		if x.Op != syntax.NOT {
			return proved{v: b.expr(x)}
		}
		c = b.cond(x)
	case *syntax.BinaryExpr:
		var ok bool
		switch x.Op {
		case syntax.AND, syntax.OR:
			return b.andOr(x)
		case syntax.EQL, syntax.NEQ:
			c, ok = b.noneTest(x)
		}
		if !ok {
			return proved{v: b.expr(x)}
		}
	default:
		return proved{v: b.expr(x)}
	}
	return proved{condVal(c), c.ifTrue, c.ifFalse}
}

// isRange reports whether v is a range, be it captured, written here, or one that is known when the program runs.
func isRange(v val) bool {
	_, constant := v.c.(plan.Range)
	_, computed := v.obj.(*rangeObj)
	return constant || computed
}
