package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Comparisons of ints with and without sign, and of tuples.

// The conditions of the tree's comparisons on signed and on unsigned ints.
var (
	signedCond = map[tree.Op]ir.Cond{
		tree.OpEq: ir.EQ, tree.OpNe: ir.NE,
		tree.OpLt: ir.SLT, tree.OpLe: ir.SLE, tree.OpGt: ir.SGT, tree.OpGe: ir.SGE,
	}
	unsignedCond = map[tree.Op]ir.Cond{
		tree.OpEq: ir.EQ, tree.OpNe: ir.NE,
		tree.OpLt: ir.ULT, tree.OpLe: ir.ULE, tree.OpGt: ir.UGT, tree.OpGe: ir.UGE,
	}
)

// compare branches on a comparison.
func (b exprs) compare(e *tree.Expr, then, els *ir.Block) {
	x, y := e.Args[0], e.Args[1]
	switch {
	case orders(b).byKernel(e):
		orders(b).compare(e, then, els)
	case isText(x.Type.Kind) || isText(y.Type.Kind):
		texts{b.code}.compareStr(e, then, els)
	case x.Type.Kind == types.Tuple || x.Type.Kind == types.Record:
		b.compareTuples(e.Op, b.expr(x), b.expr(y), then, els)
	default:
		b.compareInts(e.Op, b.scalar(x), b.scalar(y), then, els)
	}
}

// scalar is e as a present int, bool or pointer; a constant keeps its value.
func (b exprs) scalar(e *tree.Expr) val {
	v := b.expr(e)
	if v.x == nil {
		b.fail("%s %s compared as an int", e.Op, e.Type)
	}
	if v.tag != nil {
		b.fail("%s %s compared with its tag", e.Op, e.Type)
	}
	return v
}

// compareInts compares by the mathematical value: a negative number is below
// every unsigned one, whatever its bits.
func (b exprs) compareInts(op tree.Op, x, y val, then, els *ir.Block) {
	switch {
	case !mixed(x.t, y.t):
		b.branchConst(intCond(op, x.t, y.t), x.x, y.x, then, els)
	case mayBeNegative(x):
		b.mixedCompare(op, x, y, x.x, tree.OpLt, then, els)
	case mayBeNegative(y):
		b.mixedCompare(op, x, y, y.x, tree.OpGt, then, els)
	default:
		b.branchConst(unsignedCond[op], x.x, y.x, then, els)
	}
}

// mixedCompare compares a number that may be negative with one that may exceed int64. It tests the signed side first.
// If that is negative, known says without a comparison how x stands to y.
func (b exprs) mixedCompare(op tree.Op, x, y val, signed *ir.Value, known tree.Op, then, els *ir.Block) {
	neg, pos := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.SLT, signed, 0, neg, pos)
	b.Begin(neg)
	b.cond(constBool(holds(op, known)), then, els)
	b.Begin(pos)
	b.branchConst(unsignedCond[op], x.x, y.x, then, els)
}

// holds reports whether op is true of two numbers of which known says how they stand to each other.
func holds(op, known tree.Op) bool {
	switch op {
	case tree.OpNe:
		return true
	case tree.OpLe:
		return known == tree.OpLt
	case tree.OpGe:
		return known == tree.OpGt
	}
	return op == known
}

// mixed reports whether one of the types exceeds int64 and the other can be
// negative.
func mixed(x, y types.Type) bool {
	return x.Unsigned64() && signed(y) || y.Unsigned64() && signed(x)
}

func mayBeNegative(v val) bool {
	if !signed(v.t) {
		return false
	}
	return v.x.Op != ir.OpConst || v.x.Imm < 0
}

// intCond is the condition for two ints that are not mixed.
func intCond(op tree.Op, x, y types.Type) ir.Cond {
	if x.Unsigned64() || y.Unsigned64() || !signed(x) && !signed(y) {
		return unsignedCond[op]
	}
	return signedCond[op]
}

// plainCompare makes the value of a comparison that one condition decides.
func (b exprs) plainCompare(e *tree.Expr) (val, bool) {
	if e.Op < tree.OpEq || e.Op > tree.OpGe {
		return val{}, false
	}
	x, y := e.Args[0].Type, e.Args[1].Type
	if !isScalar(x) || !isScalar(y) || mixed(x, y) {
		return val{}, false
	}
	vx, vy := b.scalar(e.Args[0]), b.scalar(e.Args[1])
	return intVal(types.Boolean, b.Cmp(intCond(e.Op, x, y), vx.x, vy.x)), true
}

// compareTuples tests the elements one after the other, for == and !=.
func (b exprs) compareTuples(op tree.Op, x, y val, then, els *ir.Block) {
	if op == tree.OpNe {
		then, els = els, then
	} else if op != tree.OpEq {
		b.fail("tuples compared by %s", op)
	}
	if len(x.elems) != len(y.elems) {
		b.cond(constBool(false), then, els)
		return
	}
	for i := range x.elems {
		next := b.NewBlock()
		b.equalVals(x.elems[i], y.elems[i], next, els)
		b.Begin(next)
	}
	b.cond(constBool(true), then, els)
}

func (b exprs) equalVals(x, y val, then, els *ir.Block) {
	switch {
	case x.elems != nil:
		b.compareTuples(tree.OpEq, x, y, then, els)
	case x.s != nil && y.s != nil:
		texts{b.code}.equalStrs(x, y, then, els)
	case x.x != nil && y.x != nil && x.tag == nil && y.tag == nil:
		b.compareInts(tree.OpEq, x, y, then, els)
	default:
		b.fail("%s compared with %s", x.t, y.t)
	}
}
