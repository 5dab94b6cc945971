package infer

import (
	"math/big"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Which operations can end a handler: values that are not there, division by 0.
//
// What can end a handler, asked of the tree: a value that is not there where one is needed, and the operators that are
// errors with some operands (fold.Fails says with which, for both halves).

var arithOps = map[syntax.Token]tree.Op{
	syntax.PLUS: tree.OpAdd, syntax.MINUS: tree.OpSub, syntax.STAR: tree.OpMul,
	syntax.SLASHSLASH: tree.OpFloorDiv, syntax.PERCENT: tree.OpFloorMod,
	syntax.AMP: tree.OpAnd, syntax.PIPE: tree.OpOr, syntax.CIRCUMFLEX: tree.OpXor,
	syntax.LTLT: tree.OpShl, syntax.GTGT: tree.OpShr,
}

// partialOps are the operators of scripts behind the operations that are errors with some operands.
var partialOps = map[tree.Op]syntax.Token{}

func init() {
	for token, op := range arithOps {
		if fold.Partial(token) {
			partialOps[op] = token
		}
	}
}

// mayEnd reports whether the operation of e can end the handler.
func mayEnd(e *tree.Expr) bool {
	op, partial := partialOps[e.Op]
	if !partial {
		return e.Op == tree.OpPresent || e.Op == tree.OpSigned
	}
	n, known := constOperand(e.Args[1])
	return !known || fold.Fails(op, n)
}

// endsAbove reports whether computing v of values that are known can end the handler. In user space, where the
// interpreter computes the same, that is an error.
func endsAbove(v val, of ...val) bool {
	known := map[*tree.Expr]bool{}
	for _, x := range of {
		known[x.expr] = true
	}
	var ends func(e *tree.Expr) bool
	ends = func(e *tree.Expr) bool {
		if known[e] {
			return false
		}
		known[e] = true
		return mayEnd(e) || slices.ContainsFunc(e.Args, ends)
	}
	return v.expr != nil && ends(v.expr)
}

// constOperand is the number that e is, if that is known.
func constOperand(e *tree.Expr) (n *big.Int, known bool) {
	switch {
	case e.Op == tree.OpConvert && e.Type.Kind == types.Int && e.Type.Bits == 64:
		return constOperand(e.Args[0])
	case e.Op != tree.OpConst || e.Type.Kind != types.Int:
		return nil, false
	case e.Type.Unsigned64():
		return new(big.Int).SetUint64(uint64(e.Int)), true
	}
	return big.NewInt(e.Int), true
}

// hasEffect reports whether leaving e out would be noticed: it can end the
// handler. State is read where it stands (bind), so reads have none.
func hasEffect(e *tree.Expr) bool { return opHasEffect(e) || slices.ContainsFunc(e.Args, hasEffect) }

// opHasEffect is hasEffect of e alone, without its operands.
func opHasEffect(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpInline, tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpSignal:
		return true
	}
	return mayEnd(e)
}
