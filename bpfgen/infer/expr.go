package infer

import (
	"fmt"
	"math/big"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// expr gives the value of an expression.
func (b walker) expr(x syntax.Expr) val {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return b.expr(x.X)
	case *syntax.Literal:
		return literal(x)
	case *syntax.Ident:
		return b.ident(x)
	case *syntax.DotExpr:
		return b.attributes().attr(b.expr(x.X), x.Name.Name, x.Name.NamePos)
	case *syntax.IndexExpr:
		return b.attributes().index(b.expr(x.X), b.expr(x.Y), x.Lbrack)
	case *syntax.CallExpr:
		return b.call(x)
	case *syntax.UnaryExpr:
		return b.unary(x)
	case *syntax.BinaryExpr:
		return b.binaryExpr(x)
	case *syntax.CondExpr:
		return b.condExpr(x)
	case *syntax.TupleExpr:
		return b.tuple(x.List)
	case *syntax.LambdaExpr:
		return objVal(b.closure(x.Function.(*resolve.Function), "lambda"))
	}
	refuseExpr(x)
	return val{}
}

// refuseExpr says of an expression that no kernel half has what to write instead.
func refuseExpr(x syntax.Expr) {
	pos := start(x)
	switch x.(type) {
	case *syntax.ListExpr:
		refuse(pos, "a list cannot be made in a kernel half: use a tuple")
	case *syntax.DictExpr:
		refuse(pos, "a dict cannot be made in a kernel half: use a table, or a constant dict outside")
	case *syntax.Comprehension:
		refuse(pos, "a comprehension cannot run in a kernel half: a for loop can, or the handler makes the list of "+
			"what is sent")
	case *syntax.SliceExpr:
		refuse(pos, "a slice cannot run in a kernel half: startswith, endswith and in look at parts of a string, "+
			"or send it whole, and the handler takes the part")
	}
	refuse(pos, "this expression cannot run in a kernel half")
}

func literal(x *syntax.Literal) val {
	v := literalValue(x)
	v.at = x.TokenPos
	return v
}

func literalValue(x *syntax.Literal) val {
	switch v := x.Value.(type) {
	case int64:
		return intVal(v)
	case *big.Int:
		return constant(plan.Int{Big: v})
	case string:
		if x.Token == syntax.BYTES {
			return constant(plan.Bytes(v))
		}
		return strVal(v)
	case float64:
		return constant(plan.Float(v))
	}
	refuse(x.TokenPos, "this literal cannot be used in a kernel half")
	return val{}
}

func (b walker) ident(id *syntax.Ident) val {
	v, ok := b.frame.lookup(id)
	if !ok {
		wrong(id.NamePos, "%s has no value here", id.Name)
	}
	if _, bad := v.obj.(poison); bad {
		afterMistake()
	}
	if u, bad := v.obj.(*unjoined); bad {
		refuse(id.NamePos, "%s cannot be used in a kernel half", u.what())
	}
	return v
}

func (b walker) tuple(list []syntax.Expr) val {
	v := val{comp: true}
	for _, x := range list {
		v.elems = append(v.elems, b.expr(x))
	}
	return v
}

// present gives v without the possibility of None, for uses that need a
// value. None must have been excluded by a test; FAULT ends the handler.
func (b *body) present(v val, want string, pos plan.Pos) *tree.Expr {
	e := b.rv(v, pos)
	t := e.Type
	switch {
	case fold.IsFault(v.c):
		wrong(pos, "this is FAULT, and %s is wanted", want)
	case t.Kind == types.None:
		panic(&refusal{Diag: Diag{pos, fmt.Sprintf("this is None, and %s is wanted", want)}, final: true, none: true})
	case t.MayNone && t.Kind != types.Ptr && !t.MayFault:
		wrong(pos, "this may be None here, and %s is wanted: test it with `!= None` first", want)
	case t.Tagged() || t.MayNone && t.Kind != types.Ptr:
		p := t.Present()
		return b.now(&tree.Expr{Op: tree.OpPresent, Type: p, Str: want, Args: []*tree.Expr{e}, Pos: pos})
	}
	return e
}

// assume gives v without tag where a test has proved that there is a value.
func assume(e *tree.Expr) *tree.Expr {
	if !e.Type.MayNone && !e.Type.MayFault {
		return e
	}
	return &tree.Expr{Op: tree.OpAssume, Type: e.Type.Present(), Args: []*tree.Expr{e}, Pos: e.Pos}
}

// num gives v as a present int. A pointer is its address.
func (b *body) num(v val, pos plan.Pos) *tree.Expr {
	v.mustKnow()
	if s, ok := v.obj.(*regStruct); ok {
		v = s.whole(b, pos)
	}
	if v.obj == nil {
		switch t := v.typ(); t.Kind {
		case types.Int, types.None:
			notLabelled(t, pos)
			return b.present(v, "an int", pos)
		case types.Ptr:
			e := b.present(v, "an int", pos)
			return &tree.Expr{Op: tree.OpConvert, Type: types.U64, Args: []*tree.Expr{e}, Pos: pos}
		}
	} else if a, ok := v.obj.(addressed); ok {
		if e := a.value(b, pos); e.Type.Kind == types.Int || e.Type.Kind == types.Ptr { // mem() is bytes
			return b.present(exprVal(e), "an int", pos)
		}
	}
	refuse(v.place(pos), "got %s, want an int%s", v.describe(), instead(v.c))
	return nil
}

func (b walker) unary(x *syntax.UnaryExpr) val {
	switch x.Op {
	case syntax.NOT:
		c := b.cond(x)
		if c.known {
			return boolVal(c.value)
		}
		return exprVal(c.expr)
	case syntax.STAR, syntax.STARSTAR:
		refuse(x.OpPos, "* arguments cannot be used in a kernel half")
	}
	return b.ops().unaryVal(x.Op, b.expr(x.X), x.OpPos)
}

// unaryVal applies - + ~.
func (b operators) unaryVal(op syntax.Token, v val, pos plan.Pos) val {
	if c, ok := fold.Unary(op, v.c); ok {
		return constant(c)
	}
	if _, ok := v.c.(plan.Float); ok {
		refuse(pos, "floats exist in user space only: compute with ints here")
	}
	e := b.num(v, pos)
	switch op {
	case syntax.MINUS:
		return exprVal(&tree.Expr{Op: tree.OpNeg, Type: types.I64, Args: []*tree.Expr{e}, Pos: pos})
	case syntax.TILDE:
		return exprVal(&tree.Expr{Op: tree.OpNot, Type: types.I64, Args: []*tree.Expr{e}, Pos: pos})
	}
	return exprVal(e)
}

// condExpr is `x if c else y`.
func (b walker) condExpr(x *syntax.CondExpr) val {
	c := b.cond(x.Cond)
	if c.known {
		if c.value {
			return b.expr(x.True)
		}
		return b.expr(x.False)
	}
	return b.choose(c, func() val { return b.expr(x.True) }, func() val { return b.expr(x.False) }, x.If)
}

// choose gives one of two values by a condition that the kernel decides. Each
// is walked with what the condition proves.
func (b *body) choose(c cond, yes, no func() val, pos plan.Pos) val {
	before := b.frame.vars
	way := func(f func() val, facts facts) (v val, block *tree.Block) {
		b.frame.vars = before
		b.apply(facts)
		block = b.inBlock(func() { v = f() })
		return v, block
	}
	yv, yb := way(yes, c.ifTrue)
	nv, nb := way(no, c.ifFalse)
	b.frame.vars = before
	if yv.obj == (poison{}) || nv.obj == (poison{}) { // the next round knows more
		return objVal(poison{})
	}
	if same(yv, nv) && (yv.c != nil || len(yb.Stmts) == 0 && len(nb.Stmts) == 0) {
		if len(yb.Stmts) > 0 || len(nb.Stmts) > 0 {
			b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{c.expr}, Then: yb, Else: nb, Pos: pos})
		}
		return yv
	}
	if len(yb.Stmts) == 0 && len(nb.Stmts) == 0 {
		ye, ne := b.rv(yv, pos), b.rv(nv, pos)
		t, ok := joinExprs(ye, ne)
		if !ok {
			mixed(yv, nv, pos)
		}
		return exprVal(conditional(c.expr, convert(ye, t), convert(ne, t), pos))
	}
	out, ok := b.join("", yv, nv, yb, nb, pos)
	if !ok {
		mixed(yv, nv, pos)
	}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{c.expr}, Then: yb, Else: nb, Pos: pos})
	return out
}

// mixed refuses a value that is x or y. A constant that no kernel half has is the cause, where there is one.
func mixed(x, y val, pos plan.Pos) {
	x.mustKnowAll()
	y.mustKnowAll()
	mustHaveWords(pos, x)
	mustHaveWords(pos, y)
	refuse(pos, "this is %s or %s: a kernel half needs one kind of value, or None%s", x.describe(), y.describe(),
		oneOf(x, y))
}

// joinExprs is the type of one of two values. A constant that is not negative
// takes the sign of the other one: `e.args.addr if c else 0` is not negative.
func joinExprs(x, y *tree.Expr) (types.Type, bool) {
	return types.Join(signless(x, y.Type), signless(y, x.Type))
}

func signless(e *tree.Expr, other types.Type) types.Type {
	if e.Op == tree.OpConst && e.Type.Equal(types.I64) && e.Int >= 0 && other.Kind == types.Int && other.Unsigned64() {
		return types.U64
	}
	return e.Type
}

// conditional is `x if c else y`; with a constant bool on one side it is a
// connective.
func conditional(c, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	if x.Type.Equal(types.Boolean) {
		switch {
		case y.Op == tree.OpConst && y.Int == 0:
			return logic(tree.OpLAnd, c, x, pos)
		case y.Op == tree.OpConst:
			return logic(tree.OpLOr, not(c, pos), x, pos)
		}
	}
	return &tree.Expr{Op: tree.OpCond, Type: x.Type, Args: []*tree.Expr{c, x, y}, Pos: pos}
}

// same reports whether two values are certainly the same.
func same(x, y val) bool {
	switch {
	case x.start != y.start:
		return false
	case x.obj != nil || y.obj != nil:
		return x.obj == y.obj
	case x.comp || y.comp:
		if x.comp != y.comp || len(x.elems) != len(y.elems) || len(x.names) != len(y.names) {
			return false
		}
		for i := range x.elems {
			if !same(x.elems[i], y.elems[i]) {
				return false
			}
		}
		return true
	case x.expr != nil || y.expr != nil:
		return sameExpr(x.expr, y.expr)
	}
	return fold.Same(x.c, y.c)
}

func sameExpr(x, y *tree.Expr) bool {
	if x == y {
		return true
	}
	if x == nil || y == nil || x.Op != y.Op || x.Int != y.Int || x.Str != y.Str || x.Body != nil || y.Body != nil ||
		x.Bit != y.Bit || x.BitSize != y.BitSize || len(x.Args) != len(y.Args) || !x.Type.Equal(y.Type) {
		return false
	}
	for i := range x.Args {
		if !sameExpr(x.Args[i], y.Args[i]) {
			return false
		}
	}
	return true
}

// oneOf is a hint for x == "a" or "b".
func oneOf(x, y val) string {
	_, xs := x.constStr()
	_, ys := y.constStr()
	if xs && y.typ().Kind == types.Bool || ys && x.typ().Kind == types.Bool {
		return `; one of several is: s in ("a", "b")`
	}
	return ""
}
