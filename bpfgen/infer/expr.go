package infer

import (
	"math/big"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Expressions in kernel halves: literals, names, tuples, `-x`, `x if c else y`, and messages that a list, a dict, a
// slice, a comprehension or a float cannot be made there.

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
		return b.call(x, false)
	case *syntax.UnaryExpr:
		return b.unary(x)
	case *syntax.BinaryExpr:
		return b.binaryExpr(x)
	case *syntax.CondExpr:
		return b.either(x, b.expr)
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
	v, ok := b.frame.Lookup(id, constant)
	if !ok {
		wrong(id.NamePos, "%s has no value here", id.Name)
	}
	if _, bad := v.obj.(poison); bad && v.asked == nil {
		refusal.AfterMistake()
	}
	if u, bad := v.obj.(*unjoined); bad {
		refuse(id.NamePos, "%s cannot be used in a kernel half%s", u.what(), u.hint)
	}
	return v
}

func (b walker) tuple(list []syntax.Expr) val {
	v := val{comp: true}
	for _, x := range list {
		v.elems = append(v.elems, b.part(x))
	}
	return v
}

// part is an element of a tuple. One that depends on what a table holds of which nothing is known yet is poison: the
// others may tell what the table is to hold.
func (b walker) part(x syntax.Expr) (v val) {
	r := b.attempt(func() { v = b.expr(x) })
	switch {
	case r == nil:
		return v
	case !r.Silent || b.u.unknown.Len() == 0:
		panic(r)
	}
	return untoldValue(b.body, x)
}

// untoldValue is what x gives where nothing has told yet what a table has that it depends on: a test gives a bool.
func untoldValue(b *body, x syntax.Expr) val {
	if isTest(x) {
		return exprVal(unsaid(b, start(x)).expr)
	}
	return objVal(poison{})
}

// isTest reports whether an expression gives a bool, whatever it tests.
func isTest(x syntax.Expr) bool {
	switch x := unparen(x).(type) {
	case *syntax.UnaryExpr:
		return x.Op == syntax.NOT
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN:
			return true
		case syntax.AND, syntax.OR:
			return isTest(x.X) && isTest(x.Y)
		}
	case *syntax.CondExpr:
		return isTest(x.True) && isTest(x.False)
	}
	return false
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
		form := "f(a, b)"
		if x.Op == syntax.STARSTAR {
			form = "f(a = …, b = …)"
		}
		refuse(x.OpPos, "got arguments by %s, of which a kernel half does not know how many there are: write each "+
			"argument out, as %s", x.Op, form)
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

// either is `x if c else y`, where walk gives the value of either.
func (b walker) either(x *syntax.CondExpr, walk func(syntax.Expr) val) val {
	c := b.cond(x.Cond)
	if c.known {
		if c.value {
			return walk(x.True)
		}
		return walk(x.False)
	}
	return b.choose(c, func() val { return walk(x.True) }, func() val { return walk(x.False) }, x.If)
}
