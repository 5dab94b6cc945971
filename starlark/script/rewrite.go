package script

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// `x[k] op= v` becomes a call, so that programs and user space can change one entry.

// rewriteUpdates turns `x[k] op= v` into a call of plan.UpdateBuiltin in all
// statements. The interpreter would read, compute and write, and lose what a
// kernel half adds in between.
func rewriteUpdates(stmts []syntax.Stmt) []syntax.Stmt {
	for i, s := range stmts {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			if ix := updated(s); ix != nil {
				stmts[i] = updateCall(s, ix)
			}
		case *syntax.DefStmt:
			s.Body = rewriteUpdates(s.Body)
		case *syntax.IfStmt:
			s.True, s.False = rewriteUpdates(s.True), rewriteUpdates(s.False)
		case *syntax.ForStmt:
			s.Body = rewriteUpdates(s.Body)
		case *syntax.WhileStmt:
			s.Body = rewriteUpdates(s.Body)
		}
	}
	return stmts
}

// updated gives the x[k] of an augmented assignment to one, else nil.
func updated(s *syntax.AssignStmt) *syntax.IndexExpr {
	if s.Op == syntax.EQ {
		return nil
	}
	lhs := s.LHS
	for {
		p, ok := lhs.(*syntax.ParenExpr)
		if !ok {
			break
		}
		lhs = p.X
	}
	ix, _ := lhs.(*syntax.IndexExpr)
	return ix
}

// updateCall keeps the positions: a traceback points to the operator.
func updateCall(s *syntax.AssignStmt, ix *syntax.IndexExpr) *syntax.ExprStmt {
	begin, end := s.Span()
	op := value.UpdateOp(s.Op)
	return &syntax.ExprStmt{X: &syntax.CallExpr{
		Fn:     &syntax.Ident{NamePos: begin, Name: plan.UpdateBuiltin},
		Lparen: s.OpPos,
		Args: []syntax.Expr{ix.X, ix.Y,
			&syntax.Literal{Token: syntax.STRING, TokenPos: s.OpPos, Raw: `"` + op + `"`, Value: op}, s.RHS},
		Rparen: end,
	}}
}
