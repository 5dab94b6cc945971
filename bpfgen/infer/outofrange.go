package infer

import (
	"fmt"
	"math/big"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The warning about a comparison with a constant outside of what the value's type can hold.

// warnOutOfRange warns of a comparison that has the same result whatever the value is, since the constant lies outside
// of what its type can hold. In
//
//	where = lambda e: e.args.fd == -1
//
// fd is an unsigned int of C, so what the program wrote as -1 is 4294967295, and the filter drops all events. op is
// == for != too.
func (b operators) warnOutOfRange(op syntax.Token, l, r *tree.Expr, pos plan.Pos) {
	of := l
	n, known := constOperand(r)
	if !known {
		of, op = r, mirrored[op]
		if n, known = constOperand(l); !known {
			return
		}
	}
	if _, both := constOperand(of); both || of.Type.Kind != types.Int || of.Type.Label != "" {
		return
	}
	lowest, highest := bounds(of.Type)
	if most, ok := greatest(of); ok && highest.Cmp(big.NewInt(most)) > 0 {
		highest = big.NewInt(most)
	}
	below, above := n.Cmp(lowest), n.Cmp(highest)
	result := ""
	switch op {
	case syntax.EQL:
		if below < 0 || above > 0 {
			result = "they are never equal"
		}
	case syntax.LT:
		result = constantly(below <= 0, above > 0)
	case syntax.LE:
		result = constantly(below < 0, above >= 0)
	case syntax.GT:
		result = constantly(above >= 0, below < 0)
	case syntax.GE:
		result = constantly(above > 0, below <= 0)
	}
	if result == "" {
		return
	}
	if op != syntax.EQL {
		result = fmt.Sprintf("x %s %v is %s", op, n, result)
	}
	b.u.warnAlways(pos, "an int from %v to %v is compared with %v: %s%s", lowest, highest, n, result,
		withSign(of.Type, n))
}

// mirrored are the operators for the operands in the other order.
var mirrored = map[syntax.Token]syntax.Token{syntax.EQL: syntax.EQL, syntax.LT: syntax.GT, syntax.LE: syntax.GE,
	syntax.GT: syntax.LT, syntax.GE: syntax.LE}

// constantly is what a comparison is at all times, "" where that depends.
func constantly(never, always bool) string {
	switch {
	case never:
		return "never true"
	case always:
		return "always true"
	}
	return ""
}

// bounds are the lowest and the highest value of a type of ints.
func bounds(t types.Type) (lowest, highest *big.Int) {
	one := big.NewInt(1)
	if t.Signed {
		half := new(big.Int).Lsh(one, uint(t.Bits)-1)
		return new(big.Int).Neg(half), half.Sub(half, one)
	}
	all := new(big.Int).Lsh(one, uint(t.Bits))
	return new(big.Int), all.Sub(all, one)
}

// withSign is what to do where a value without a sign is compared with what may be meant to be less than 0.
func withSign(t types.Type, n *big.Int) string {
	if t.Signed || n.Sign() > 0 {
		return ""
	}
	signed := map[uint8]string{8: "signed char", 16: "short", 32: "int", 64: "long"}[t.Bits]
	return fmt.Sprintf("; cast(%q, x) reads x with a sign", signed)
}
