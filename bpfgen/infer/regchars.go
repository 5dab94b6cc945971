package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Strings in structs that registers hold (char[n]).

// chars is a char[n] that registers hold, or that debug information has as a constant: a string, as it is in memory.
func (s *regStruct) chars(b *body, n int, pos plan.Pos) val {
	e := &tree.Expr{Op: tree.OpChars, Type: types.StrOf(n + 1), Pos: pos}
	var fault *tree.Expr // one of the words could not be read
	for at := 0; at < n; at += 8 {
		word := intExpr(0, pos)
		for off := 0; off < min(8, n-at); {
			piece, size := s.piece(b, s.off+at+off, min(8, n-at)-off, pos)
			if piece.Op == tree.OpUnreadable {
				return exprVal(piece)
			}
			if piece.Type.MayFault {
				is := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{piece}, Pos: pos}
				if fault != nil {
					is = logic(tree.OpLOr, fault, is, pos)
				}
				fault = is
			}
			piece = bitsOf(assume(piece), 0, 8*size, false, pos)
			word = operation(tree.OpOr, types.U64, word,
				operation(tree.OpShl, types.U64, piece, intExpr(int64(8*off), pos), pos), pos)
			off += size
		}
		e.Args = append(e.Args, word)
	}
	if fault != nil {
		return exprVal(chooseFault(fault, e, pos))
	}
	return exprVal(e)
}

// piece are as many bytes of the struct from at on as one word has of them, at most n.
func (s *regStruct) piece(b *body, at, n int, pos plan.Pos) (word *tree.Expr, size int) {
	for size = n; size > 1; size-- {
		if word, ok := s.wordAt(b, at, size, pos); ok {
			return word, size
		}
	}
	return s.has(b, at, 1, "a char", pos), 1
}
