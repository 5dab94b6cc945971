package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Strings that may be None, and how they come over a join without a branch.
//
// A string of a program that may be None, as the text of an error, would come to a join from two ways. Its bytes and
// its length are others on each of them, so that the verifier would follow all that is behind the join twice, and
// eight times behind three such strings. So there are no ways:
//
//	c ? None : text        gone = c as 0 or 1; keep = gone - 1, which is no bits or all of them
//	                       length & keep, flags & keep | gone << 14
//
// The string is read in either case. To read what is not there does no harm: it is FAULT, and nobody looks at it.

// orAbsent is OpCond where one way is None or FAULT, and the other has such strings; false: it is something else.
func (b exprs) orAbsent(e *tree.Expr) (val, bool) {
	for i, arm := range e.Args[1:] {
		tag, ok := absentTag(arm)
		other := e.Args[2-i]
		if !ok || !hasCounted(other) || !isPure(other) || !hasBit(e.Args[0]) {
			continue
		}
		v := b.convert(b.expr(other), e.Type)
		gone := b.bit(e.Args[0])
		if i == 1 {
			gone = b.Imm(ir.OpXor, gone, 1)
		}
		out := b.without(gone, tag, v)
		if hasList(other) { // else each list would be three ways
			out.s.n, out.s.flags = loops(b).forget(out.s.n), loops(b).forget(out.s.flags)
		}
		return out, true
	}
	return val{}, false
}

// isList reports whether e is a list of a program, or bytes whose length is computed, whose second operand is the
// number of its bytes. That can be FAULT for several reasons, each of which is a way for the verifier. So what is known
// of its length is forgotten.
func isList(e *tree.Expr) bool {
	return (e.Op == tree.OpStr || e.Op == tree.OpMem) && e.Type.Kind == types.Bytes && len(e.Args) > 1
}

// hasList reports whether a text is a list, or that or nothing.
func hasList(e *tree.Expr) bool {
	switch {
	case isList(e):
		return true
	case e.Op == tree.OpConvert:
		return hasList(e.Args[0])
	}
	return e.Op == tree.OpCond && isText(e.Type.Kind) && (hasList(e.Args[1]) || hasList(e.Args[2]))
}

// absentTag is the tag of a constant that is None or FAULT, behind conversions.
func absentTag(e *tree.Expr) (int64, bool) {
	for e.Op == tree.OpConvert {
		e = e.Args[0]
	}
	switch {
	case e.Op != tree.OpConst || e.Type.Kind != types.None:
		return 0, false
	case e.Type.MayFault:
		return wire.TagFault, true
	}
	return wire.TagNone, true
}

// hasCounted reports whether a value has strings of programs that are told by their lengths.
func hasCounted(e *tree.Expr) bool {
	if e.Op == tree.OpStr || e.Op == tree.OpMem {
		return e.Counted || isList(e)
	}
	if !isText(e.Type.Kind) && e.Type.Kind != types.Record && e.Type.Kind != types.Tuple {
		return false
	}
	for _, a := range e.Args {
		if hasCounted(a) {
			return true
		}
	}
	return false
}

// isPure reports whether an expression does nothing but to read and to compute, and cannot end the handler.
func isPure(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpConst, tree.OpLocal, tree.OpBuiltin, tree.OpCtx, tree.OpLoad, tree.OpStr, tree.OpMem, tree.OpChars,
		tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpNeg, tree.OpAnd, tree.OpOr, tree.OpXor, tree.OpNot, tree.OpShl,
		tree.OpShr, tree.OpEq, tree.OpNe, tree.OpLt, tree.OpLe, tree.OpGt, tree.OpGe, tree.OpIsNone, tree.OpIsFault,
		tree.OpAssume, tree.OpConvert, tree.OpLNot, tree.OpLAnd, tree.OpLOr, tree.OpCond, tree.OpTuple,
		tree.OpRecord, tree.OpSpanSlot, tree.OpUnreadable:
	case tree.OpFloorDiv:
		if by := innermostConst(e.Args[1]); by == nil || by.Int == 0 {
			return false
		}
	default:
		return false
	}
	for _, a := range e.Args {
		if !isPure(a) {
			return false
		}
	}
	return true
}

// innermostConst is the constant number behind conversions, nil for none.
func innermostConst(e *tree.Expr) *tree.Expr {
	for e.Op == tree.OpConvert {
		e = e.Args[0]
	}
	if e.Op != tree.OpConst || e.Type.Kind != types.Int {
		return nil
	}
	return e
}

// hasBit reports whether bit computes a condition.
func hasBit(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpIsNone, tree.OpIsFault:
		return e.Args[0].Type.Kind != types.Ptr && isPure(e.Args[0])
	case tree.OpEq, tree.OpLt:
		x, c := e.Args[0], e.Args[1]
		return x.Type.Equal(types.U64) && isPure(x) && c.Op == tree.OpConst && c.Type.Kind == types.Int && c.Int >= 0
	case tree.OpLNot:
		return hasBit(e.Args[0])
	case tree.OpLAnd, tree.OpLOr:
		return hasBit(e.Args[0]) && hasBit(e.Args[1])
	}
	return false
}

// bit is a condition as 0 or 1, computed without a branch.
func (b exprs) bit(e *tree.Expr) *ir.Value {
	switch e.Op {
	case tree.OpIsNone:
		return b.absence(b.expr(e.Args[0]), wire.TagNone)
	case tree.OpIsFault:
		return b.absence(b.expr(e.Args[0]), wire.TagFault)
	case tree.OpEq: // of what is not 0, it or its negative has the highest bit
		x := b.Imm(ir.OpXor, b.expr(e.Args[0]).x, e.Args[1].Int)
		either := b.Op(ir.OpOr, x, b.Op(ir.OpSub, b.Const(0), x))
		return b.Imm(ir.OpXor, b.Imm(ir.OpLShr, either, 63), 1)
	case tree.OpLt: // the difference has the highest bit, and x has not
		x := b.expr(e.Args[0]).x
		below := b.Op(ir.OpAnd, b.Add(x, -e.Args[1].Int), b.Imm(ir.OpXor, x, -1))
		return b.Imm(ir.OpLShr, below, 63)
	case tree.OpLNot:
		return b.Imm(ir.OpXor, b.bit(e.Args[0]), 1)
	case tree.OpLAnd:
		return b.Op(ir.OpAnd, b.bit(e.Args[0]), b.bit(e.Args[1]))
	}
	return b.Op(ir.OpOr, b.bit(e.Args[0]), b.bit(e.Args[1]))
}

// absence is 1 where v is None, or FAULT, as tag says.
func (b exprs) absence(v val, tag int64) *ir.Value {
	bits := v.tag
	if isText(v.t.Kind) {
		bits = v.s.flags
		tag <<= tagToFlags
	}
	if bits == nil {
		return b.Const(0)
	}
	at := int64(0)
	for tag>>at > 1 {
		at++
	}
	return b.Imm(ir.OpAnd, b.Imm(ir.OpLShr, bits, at), 1)
}

// without is v where gone is 0; where it is 1 it is not there, as tag says, and has nothing of v.
func (b exprs) without(gone *ir.Value, tag int64, v val) val {
	keep := b.Add(gone, -1)
	out := b.masked(keep, v)
	by := tag - wire.TagPresent - 1 // TagNone is one bit, TagFault the next
	switch {
	case tag == wire.TagPresent:
	case isText(v.t.Kind):
		out.s.flags = b.Op(ir.OpOr, out.s.flags, b.Imm(ir.OpShl, gone, tagToFlags+by))
	default:
		out.tag = b.Op(ir.OpOr, out.tag, b.Imm(ir.OpShl, gone, by))
	}
	return out
}

// masked is v with the bits of a mask, which has none or all of them; strings stay where they are.
func (b exprs) masked(mask *ir.Value, v val) val {
	out := v
	if hasTag(v.t) {
		out.tag = b.Op(ir.OpAnd, b.tagOf(v), mask)
	}
	if v.s != nil {
		out.s = &str{addr: b.joinedAddr(v), n: b.Op(ir.OpAnd, b.strLen(v.s), mask), room: layout.StringRoom(v.t.Cap),
			flags: b.Op(ir.OpAnd, b.strFlags(v.s), mask)}
	}
	if v.x != nil {
		out.x = b.Op(ir.OpAnd, v.x, mask)
	}
	out.elems = nil
	for _, e := range v.elems {
		out.elems = append(out.elems, b.masked(mask, e))
	}
	return out
}
