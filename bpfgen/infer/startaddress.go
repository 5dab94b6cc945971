package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Numbers that the end of a span computes of its start are computed at the start where they may be addresses to read.

// addressAtStart gives the program at the start of a span where a sum or a difference is of what is known there: it may
// be an address, and what lies at an address that is rooted in e.start is read at the start. A sum that can fail is
// made where the script has it: it must not end the program at the start.
func (b operators) addressAtStart(op syntax.Token, x, y val) *body {
	if op != syntax.PLUS && op != syntax.MINUS {
		return nil
	}
	at := x.start
	if at == nil {
		at = y.start
	}
	if at == nil || at == b.body {
		return nil
	}
	for _, v := range []val{x, y} {
		if _, constant := v.constInt(); !constant && (v.start != at || !v.isPlainWord()) {
			return nil
		}
	}
	return at
}

// isPlainWord says that a value is a number or an address, and nothing else.
func (v val) isPlainWord() bool {
	if v.expr == nil || v.comp {
		return false
	}
	t := v.expr.Type
	return (t.Kind == types.Int || t.Kind == types.Ptr) && !t.MayNone && !t.MayFault && t.Label == ""
}

// alsoAtStart gives a number that the end of a span computes of what the start has kept, as int32(e.start.args.n) - 1,
// as one of the start: what is read there by an index or a length needs it there.
func alsoAtStart(b *body, v val, at *body) val {
	if v.expr == nil || v.start != nil || b.span == nil || b.span.start != at {
		return v
	}
	if e, ok := (ofSlots{b}).number(v.expr); ok {
		return val{expr: e, start: at, field: v.field}
	}
	return v
}

// ofSlots are the values of the end of a span that are computed of its slots.
type ofSlots struct{ *body }

// number is a number of the end as the start computes it; false if it is made of more than constants and slots of the
// span. Where a value that is not there ends the handler, that is so at the end: the start takes it for one that is.
func (b ofSlots) number(e *tree.Expr) (*tree.Expr, bool) {
	out := *e
	switch e.Op {
	case tree.OpSpanSlot:
		kept := b.span.vals[int(e.Int)]
		return kept, kept != nil
	case tree.OpConst:
		return e, true
	case tree.OpLocal:
		if whole := b.assigned(e.Int); whole != nil {
			return b.number(whole)
		}
		return nil, false
	case tree.OpPresent:
		out.Op, out.Str = tree.OpAssume, ""
	case tree.OpFloorDiv, tree.OpFloorMod, tree.OpShl, tree.OpShr:
		if mayEnd(&out) {
			return nil, false
		}
	case tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpNeg, tree.OpAnd, tree.OpOr, tree.OpXor, tree.OpNot, tree.OpAbs,
		tree.OpMin, tree.OpMax, tree.OpBswap, tree.OpEq, tree.OpNe, tree.OpLt, tree.OpLe, tree.OpGt, tree.OpGe,
		tree.OpIsNone, tree.OpIsFault, tree.OpAssume, tree.OpConvert, tree.OpLNot, tree.OpLAnd, tree.OpLOr,
		tree.OpCond, tree.OpStrLen:
	default:
		return nil, false
	}
	out.Args = make([]*tree.Expr, len(e.Args))
	for i, a := range e.Args {
		var ok bool
		if out.Args[i], ok = b.number(a); !ok {
			return nil, false
		}
	}
	return &out, true
}

// assigned is what a local is set to in the block that is made, or in a call there, if it is set once.
func (b ofSlots) assigned(local int64) (whole *tree.Expr) {
	if b.pinLocals.At(local) {
		return nil
	}
	times := 0
	tree.WalkBlock(b.block, func(s *tree.Stmt) {
		if s.Op == tree.SAssign && s.Int == local {
			times++
		}
	}, func(*tree.Expr) {})
	if times != 1 {
		return nil
	}
	return always(b.block, local)
}

// always is what a local is set to wherever a block is run; nil if only a branch of it sets the local.
func always(b *tree.Block, local int64) *tree.Expr {
	for _, s := range b.Stmts {
		switch {
		case s.Op == tree.SAssign && s.Int == local:
			return s.Exprs[0]
		case s.Op == tree.SCall:
			if e := always(s.Then, local); e != nil {
				return e
			}
		}
	}
	return nil
}
