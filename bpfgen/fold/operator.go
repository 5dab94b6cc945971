package fold

import (
	"math/big"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What operators between constants give, and with which operands they are errors: division by 0, shifts that are too
// far.

// MaxShift is from where on the interpreter refuses to shift (go.starlark.net, eval.go).
const MaxShift = 512

// Partial reports whether an operator between ints is an error with some right operands.
func Partial(op syntax.Token) bool {
	switch op {
	case syntax.SLASHSLASH, syntax.PERCENT, syntax.LTLT, syntax.GTGT:
		return true
	}
	return false
}

// Fails reports whether an operator between ints is an error with y on its right.
func Fails(op syntax.Token, y *big.Int) bool {
	switch op {
	case syntax.SLASHSLASH, syntax.PERCENT:
		return y.Sign() == 0
	case syntax.LTLT, syntax.GTGT:
		return y.Sign() < 0 || !y.IsInt64() || y.Int64() >= MaxShift
	}
	return false
}

// Binary is x op y.
func Binary(op syntax.Token, x, y plan.Value) (plan.Value, bool) {
	if !Unchanging(x) || !Unchanging(y) {
		return nil, false
	}
	switch op {
	case syntax.EQL, syntax.NEQ:
		eq, ok := Equal(x, y)
		return plan.Bool(eq == (op == syntax.EQL)), ok
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		is, ok := ordered(op, x, y)
		return plan.Bool(is), ok
	case syntax.IN, syntax.NOT_IN:
		is, ok := in(x, y)
		return plan.Bool(is == (op == syntax.IN)), ok
	}
	if xs, ok := x.(plan.String); ok && op == syntax.PLUS {
		ys, ok := y.(plan.String)
		return xs + ys, ok
	}
	return arithmetic(op, x, y)
}

func arithmetic(op syntax.Token, x, y plan.Value) (plan.Value, bool) {
	xi, ok1 := x.(plan.Int)
	yi, ok2 := y.(plan.Int)
	if !ok1 || !ok2 || Fails(op, yi.Big) {
		return nil, false
	}
	z := new(big.Int)
	switch op {
	case syntax.PLUS:
		z.Add(xi.Big, yi.Big)
	case syntax.MINUS:
		z.Sub(xi.Big, yi.Big)
	case syntax.STAR:
		z.Mul(xi.Big, yi.Big)
	case syntax.AMP:
		z.And(xi.Big, yi.Big)
	case syntax.PIPE:
		z.Or(xi.Big, yi.Big)
	case syntax.CIRCUMFLEX:
		z.Xor(xi.Big, yi.Big)
	case syntax.LTLT:
		z.Lsh(xi.Big, uint(yi.Big.Int64()))
	case syntax.GTGT:
		z.Rsh(xi.Big, uint(yi.Big.Int64()))
	case syntax.SLASHSLASH:
		z, _ = divided(xi.Big, yi.Big)
	case syntax.PERCENT:
		_, z = divided(xi.Big, yi.Big)
	default:
		return nil, false
	}
	return plan.Int{Big: z}, true
}

// divided are the floor of x / y and what is left.
func divided(x, y *big.Int) (q, m *big.Int) {
	q, m = new(big.Int).QuoRem(x, y, new(big.Int))
	if m.Sign() != 0 && m.Sign() != y.Sign() {
		q.Sub(q, big.NewInt(1))
		m.Add(m, y)
	}
	return q, m
}

// Unary is -x, +x, ~x or not x.
func Unary(op syntax.Token, x plan.Value) (plan.Value, bool) {
	if op == syntax.NOT {
		return plan.Bool(!Truth(x)), Unchanging(x)
	}
	if f, ok := x.(plan.Float); ok {
		return unaryFloat(op, f)
	}
	i, ok := x.(plan.Int)
	if !ok {
		return nil, false
	}
	switch op {
	case syntax.MINUS:
		return plan.Int{Big: new(big.Int).Neg(i.Big)}, true
	case syntax.TILDE:
		return plan.Int{Big: new(big.Int).Not(i.Big)}, true
	case syntax.PLUS:
		return i, true
	}
	return nil, false
}

// unaryFloat is op f.
func unaryFloat(op syntax.Token, f plan.Float) (plan.Value, bool) {
	switch op {
	case syntax.MINUS:
		return -f, true
	case syntax.PLUS:
		return f, true
	}
	return nil, false
}

// Works reports whether the interpreter has an operator for two types, by their names: int, float, bool, string,
// tuple, list, dict, stack or event.
func Works(op syntax.Token, l, r string) bool {
	switch op {
	case syntax.PLUS:
		return IsNumber(l) && IsNumber(r) || l == r && (l == "string" || l == "list" || l == "tuple")
	case syntax.MINUS, syntax.SLASH, syntax.SLASHSLASH:
		return IsNumber(l) && IsNumber(r)
	case syntax.STAR:
		repeats := func(n, of string) bool { return n == "int" && (of == "string" || of == "list" || of == "tuple") }
		return IsNumber(l) && IsNumber(r) || repeats(l, r) || repeats(r, l)
	case syntax.PERCENT:
		return IsNumber(l) && IsNumber(r) || l == "string"
	case syntax.AMP, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT:
		return l == "int" && r == "int"
	case syntax.PIPE:
		return l == r && (l == "int" || l == "dict")
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return IsNumber(l) && IsNumber(r) || l == r && l != "event" && l != "dict" && l != "stack"
	case syntax.IN, syntax.NOT_IN:
		return r == "list" || r == "tuple" || r == "dict" || r == "stack" || r == "string" && l == "string"
	}
	return true // == and !=
}

// IsNumber reports whether typ is the name of a type of numbers.
func IsNumber(typ string) bool { return typ == "int" || typ == "float" }
