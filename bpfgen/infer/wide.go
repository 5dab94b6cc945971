package infer

import (
	"math/big"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Mistakes in numbers that can be seen when a handler is compiled.

// mustBeWord refuses constants of more than 64 bits: a kernel half would compute
// with the low ones alone.
func mustBeWord(pos plan.Pos, i plan.Int) {
	if !isWord(i) {
		refuse(pos, "%s has %d bits: an int of a kernel half has 64", i.Big, bitLength(i.Big))
	}
}

// mustHaveWords refuses such constants in v.
func mustHaveWords(pos plan.Pos, v val) {
	if i, ok := v.c.(plan.Int); ok {
		mustBeWord(pos, i)
	}
	for _, e := range v.elems {
		mustHaveWords(pos, e)
	}
}

// mustKnowAll is mustKnow of v and of what it is made of.
func (v val) mustKnowAll() {
	v.mustKnow()
	for _, e := range v.elems {
		e.mustKnowAll()
	}
}

// isWord reports whether i has a place in 64 bits.
func isWord(i plan.Int) bool { return i.Big.IsInt64() || i.Big.IsUint64() }

// checkCells refuses cells that begin with more than their values can be: one that is read as signed with 2**63.
func (u *unit) checkCells() {
	for id := range u.used {
		t := u.conts[id]
		i, ok := t.c.Init.(plan.Int)
		if t.c.Kind == plan.Cell && ok && t.val.Signed && !i.Big.IsInt64() {
			u.errorf(t.c.Pos, "%s begins with %s, but what a kernel half does to it makes its values signed ints of "+
				"64 bits, at most 9223372036854775807", name(t.c), i.Big)
		}
	}
}

// maxShift is where the interpreter refuses to shift to the left (go.starlark.net, eval.go).
const maxShift = 512

// warnFault warns of an operation with a constant that always ends the handler.
func (b *body) warnFault(op tree.Op, r *tree.Expr, pos plan.Pos) {
	if r.Op != tree.OpConst || r.Type.Kind != types.Int {
		return
	}
	switch op {
	case tree.OpFloorDiv, tree.OpFloorMod:
		if r.Int == 0 {
			b.u.warnf(pos, "division by zero: this ends the handler at each event that comes here")
		}
	case tree.OpShl, tree.OpShr:
		if r.Int < 0 || r.Int >= maxShift {
			b.u.warnf(pos, "a shift by %d: this ends the handler at each event that comes here", r.Int)
		}
	}
}

// bitLength is how many bits a number takes: one more where it is negative, for the sign.
func bitLength(n *big.Int) int {
	if n.Sign() < 0 {
		return new(big.Int).Not(n).BitLen() + 1
	}
	return n.BitLen()
}
