package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/signature"
)

// Arguments and results of user functions that are single words: width, sign, parts of words. Without debug information
// they are the integer registers in turn, then the stack.

// userArg is word i, at the entry.
func (a *funcArgs) userArg(b, from *body, i int, pos plan.Pos) val {
	if s := a.f.Known(); s != nil && !s.OnlyResult {
		return b.argWords().userValue(from, s.Param(i), pos)
	}
	word := b.argWords().carry(from, from.argWords().argWord(a.f, i, pos))
	return exprVal(as(word, untypedWord(true), pos))
}

// userValue is a word with the width and sign of its type.
func (b argWords) userValue(from *body, w signature.Word, pos plan.Pos) val {
	switch {
	case w.Where == abi.Other:
		return exprVal(unreadable(pos))
	case w.Unknown:
		return unknownPlace(pos)
	}
	word := b.carry(from, from.argWords().wordAt(w.Place, tree.User, pos))
	switch {
	case w.Address:
		return exprVal(as(word, types.I64, pos))
	case w.Size == 1 || w.Size == 2 || w.Size == 4 || w.Size == 8:
		return exprVal(as(word, types.IntOf(uint8(8*w.Size), w.Signed), pos))
	}
	return exprVal(lowBytes(word, w.Size, pos))
}

// lowBytes are 3, 5, 6 or 7 bytes of a word, the end of a struct, with a sign: those above them mean nothing.
func lowBytes(word *tree.Expr, size int, pos plan.Pos) *tree.Expr {
	unused := intExpr(int64(64-8*size), pos)
	high := operation(tree.OpShl, types.I64, as(word, types.I64, pos), unused, pos)
	return operation(tree.OpShr, types.I64, high, unused, pos)
}

// userResult is e.ret where debug information tells what it is: a word, or a tuple of all its words.
func (b argWords) userResult(f *funcView, pos plan.Pos) (val, bool) {
	s := f.Known()
	if s != nil && s.Void {
		return exprVal(absentInt(pos)), true
	}
	if s != nil && len(s.Results) > 0 {
		return b.typedResult(f, s.Results, pos), true
	}
	switch {
	case s == nil || len(s.Result) == 0:
		return val{}, false
	case s.Result[0].Unknown:
		return unknownPlace(pos), true
	case len(s.Result) > maxArray: // that is too much for a value
		return exprVal(as(faultExpr(pos), types.I64.OrFault(), pos)), true
	case len(s.Result) == 1:
		return b.userValue(b.body, s.Result[0], pos), true
	}
	out := val{comp: true}
	for _, w := range s.Result {
		out.elems = append(out.elems, b.userValue(b.body, w, pos))
	}
	return out, true
}

// userWord reads argument i of a user function of Go at its entry.
func (b argWords) userWord(f *funcView, i int, pos plan.Pos) (*tree.Expr, bool) {
	if f.ABI == nil {
		return nil, false
	}
	at := f.ABI.Argument(i)
	regs := kernel.RegisterOffsets("")
	if at.Register != "" {
		return register(regs.Names[at.Register], pos), true
	}
	return b.stackWord(at.Offset, tree.User, pos), true
}
