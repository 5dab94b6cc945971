package tree

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
)

// Walks over all statements and expressions of a tree.

// WalkBlock visits all statements and expressions below blk.
func WalkBlock(blk *Block, stmt func(*Stmt), expr func(*Expr)) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		stmt(s)
		for _, e := range s.Exprs {
			WalkExpr(e, stmt, expr)
		}
		WalkBlock(s.Then, stmt, expr)
		WalkBlock(s.Else, stmt, expr)
	}
}

// WalkExpr visits e, and all below it.
func WalkExpr(e *Expr, stmt func(*Stmt), expr func(*Expr)) {
	expr(e)
	for _, a := range e.Args {
		WalkExpr(a, stmt, expr)
	}
	WalkBlock(e.Body, stmt, expr)
}

// TestsText reports whether a condition looks at the bytes of a text, for which the program has a loop.
func (e *Expr) TestsText() bool {
	switch e.Op {
	case OpStartsWith, OpEndsWith, OpContains, OpMatches:
		return true
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		if kind := e.Args[0].Type.Kind; kind == types.Str || kind == types.Bytes {
			return true
		}
	}
	return slices.ContainsFunc(e.Args, (*Expr).TestsText)
}

// Pairs reports whether a program begins or ends what a span pairs.
func (p *Program) Pairs() (pairs bool) {
	for _, blk := range p.Bodies() {
		WalkBlock(blk, func(s *Stmt) {
			pairs = pairs || s.Op == SSpanEnter || s.Op == SSpanStart || s.Op == SSpanEnd
		}, func(*Expr) {})
	}
	return pairs
}

// Bodies are the blocks of a program: one, or that of each variant.
func (p *Program) Bodies() []*Block {
	bodies := []*Block{p.Body}
	for _, v := range p.Variants {
		bodies = append(bodies, v.Body)
	}
	return bodies
}

// Texts are the string constants that the unit's programs may send or store;
// those that they only compare with are none.
func (u *Unit) Texts() []string {
	var texts []string
	var inExpr func(*Expr)
	inBlock := func(blk *Block) {
		WalkBlock(blk, func(s *Stmt) {
			for _, e := range s.Exprs {
				inExpr(e)
			}
		}, func(*Expr) {})
	}
	inExpr = func(e *Expr) {
		switch {
		case e.Op == OpConst && e.Type.Kind == types.Str && !slices.Contains(texts, e.Str):
			texts = append(texts, e.Str)
		case e.Type.Kind == types.Bool || e.Type.Kind == types.Int:
			return // nothing of e is text
		}
		for _, a := range e.Args {
			inExpr(a)
		}
	}
	for _, p := range u.Programs {
		for _, blk := range p.Bodies() {
			inBlock(blk)
		}
	}
	return texts
}
