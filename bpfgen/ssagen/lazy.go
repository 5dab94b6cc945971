package ssagen

import (
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/tree"
)

// A string is read where it is used instead of into a variable.
//
// A string that is read into a variable and then used once is read where it
// is used: straight into the key or record, which saves the copy. What an
// event refers to is the same at both places, so a handler cannot tell.

// late tells which strings are read where they are used, instead of where they are assigned.
type late struct{ *code }

// deferred notes the assignment of a string to be made where it is used, if
// that is possible: outside of loops, in which variables change.
func (b late) deferred(s *tree.Stmt) bool {
	e := s.Exprs[0]
	if b.locals.assigned[s.Int] != 1 || b.locals.used[s.Int] != 1 || b.inLoops > 0 {
		return false
	}
	text := e.Op == tree.OpStr || e.Op == tree.OpMem || e.Op == tree.OpBuiltin && e.Str == "comm"
	if !text || !e.Type.Equal(b.prog.Locals[s.Int].Type) || !b.stable(e) {
		return false
	}
	b.lazy[s.Int] = e
	return true
}

// stable reports whether e gives the same later: it uses no variable that is
// assigned more than once, and no state. Each expression is looked at once, however deep it lies.
func (b late) stable(e *tree.Expr) bool {
	ok, known := b.steady[e]
	if !known {
		ok = b.stableHere(e) && !slices.ContainsFunc(e.Args, func(a *tree.Expr) bool { return !b.stable(a) })
		b.steady[e] = ok
	}
	return ok
}

// stableHere is stable for the operation of e alone.
func (b late) stableHere(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpTableHas, tree.OpCellGet, tree.OpInline,
		tree.OpSignal:
		return false
	case tree.OpLocal:
		return b.locals.assigned[e.Int] == 1
	}
	return e.Body == nil || len(e.Body.Stmts) == 0
}

// behind gives the deferred expression that a variable stands for, else e.
func (b late) behind(e *tree.Expr) *tree.Expr {
	if e.Op == tree.OpLocal {
		if x, ok := b.lazy[e.Int]; ok {
			return x
		}
	}
	return e
}

// readKey tells reads apart: those of the same thing share a key.
func (b late) readKey(e *tree.Expr) any {
	switch {
	case e.Op == tree.OpBuiltin:
		return e.Str
	case b.stable(e):
		return b.numberOf(e)
	}
	return e
}

// sameReads numbers stable expressions: those of one text have one number. Each is looked at once, and by the numbers
// of its operands, because what parts of Go's values are read by is as large as a tree of all their cases, within which
// each read would else be written out again with all that lies below it.
type sameReads struct {
	byExpr map[*tree.Expr]readNumber
	byText map[string]readNumber
}

// readNumber is a number of sameReads, a key of the cache of values.
type readNumber int

func (b late) numberOf(e *tree.Expr) readNumber {
	n, known := b.same.byExpr[e]
	if !known {
		text := e.TextOver(func(operand *tree.Expr) string { return strconv.Itoa(int(b.numberOf(operand))) })
		if n, known = b.same.byText[text]; !known {
			n = readNumber(len(b.same.byText))
			b.same.byText[text] = n
		}
		b.same.byExpr[e] = n
	}
	return n
}
