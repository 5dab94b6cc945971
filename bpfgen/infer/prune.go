package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What nobody reads is not computed: assignments to variables, fields of records.

// prune drops assignments to variables that nothing reads, so that fields of
// a record that no consumer uses are not read either. It repeats until
// nothing changes: one unused value may be the only use of another.
func prune(prog *tree.Program) {
	for {
		used := map[int64]bool{}
		for _, blk := range blocks(prog) {
			countUses(blk, used)
		}
		changed := false
		for _, blk := range blocks(prog) {
			changed = dropUnused(blk, used) || changed
		}
		changed = dropFields(prog) || changed
		if !changed {
			unreadFields(prog)
			return
		}
	}
}

func blocks(prog *tree.Program) []*tree.Block {
	var out []*tree.Block
	if prog.Body != nil {
		out = append(out, prog.Body)
	}
	for _, v := range prog.Variants {
		out = append(out, v.Body)
	}
	return out
}

func countUses(blk *tree.Block, used map[int64]bool) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			exprUses(e, used)
		}
		countUses(s.Then, used)
		countUses(s.Else, used)
	}
}

func exprUses(e *tree.Expr, used map[int64]bool) {
	if e.Op == tree.OpLocal {
		used[e.Int] = true
	}
	for _, a := range e.Args {
		exprUses(a, used)
	}
	countUses(e.Body, used)
}

// dropUnused removes assignments to unused variables; one whose value has an
// effect keeps it as a statement.
func dropUnused(blk *tree.Block, used map[int64]bool) bool {
	if blk == nil {
		return false
	}
	changed := false
	out := blk.Stmts[:0]
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			changed = dropInExpr(e, used) || changed
		}
		changed = dropUnused(s.Then, used) || changed
		changed = dropUnused(s.Else, used) || changed
		if s.Op == tree.SAssign && !used[s.Int] {
			changed = true
			if !keeps(s.Exprs[0]) {
				continue
			}
			s = &tree.Stmt{Op: tree.SDo, Exprs: s.Exprs, Pos: s.Pos}
		}
		if s.Op == tree.SCall && len(s.Then.Stmts) == 0 {
			continue
		}
		out = append(out, s)
	}
	blk.Stmts = out
	return changed
}

func dropInExpr(e *tree.Expr, used map[int64]bool) bool {
	changed := dropUnused(e.Body, used)
	for _, a := range e.Args {
		changed = dropInExpr(a, used) || changed
	}
	return changed
}

// keeps reports whether e must be evaluated although its value is not used.
// A read of a table has no effect; taking an entry out has.
func keeps(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpTableGet, tree.OpTableHas, tree.OpCellGet:
	default:
		if opHasEffect(e) {
			return true
		}
	}
	return slices.ContainsFunc(e.Args, keeps)
}

// dropFields replaces fields of returned records that no consumer uses by
// zeros, so that what computes them can go.
func dropFields(prog *tree.Program) bool {
	f := &fieldUses{whole: map[int64]bool{}, elems: map[int64]map[int64]bool{}, inlines: map[int64]int64{}}
	for _, blk := range blocks(prog) {
		f.block(blk)
	}
	changed := false
	for _, blk := range blocks(prog) {
		changed = f.rewrite(blk) || changed
	}
	return changed
}

// fieldUses collects how composite variables are used.
type fieldUses struct {
	whole   map[int64]bool           // local: used other than by elements
	elems   map[int64]map[int64]bool // local: elements used
	inlines map[int64]int64          // inline: the local that gets its value
}

func (f *fieldUses) block(blk *tree.Block) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			if s.Op == tree.SAssign && e.Op == tree.OpInline {
				f.inlines[e.Int] = s.Int
			}
			f.expr(e)
		}
		f.block(s.Then)
		f.block(s.Else)
	}
}

func (f *fieldUses) expr(e *tree.Expr) {
	switch e.Op {
	case tree.OpLocal:
		f.whole[e.Int] = true
		return
	case tree.OpElem, tree.OpIsNone, tree.OpIsFault:
		if l, ok := throughAssume(e.Args[0]); ok {
			if e.Op == tree.OpElem {
				if f.elems[l] == nil {
					f.elems[l] = map[int64]bool{}
				}
				f.elems[l][e.Int] = true
			}
			return
		}
	}
	for _, a := range e.Args {
		f.expr(a)
	}
	f.block(e.Body)
}

func throughAssume(e *tree.Expr) (local int64, ok bool) {
	for e.Op == tree.OpAssume {
		e = e.Args[0]
	}
	return e.Int, e.Op == tree.OpLocal
}

func (f *fieldUses) rewrite(blk *tree.Block) bool {
	if blk == nil {
		return false
	}
	changed := false
	for _, s := range blk.Stmts {
		if l, ok := f.madeFor(s); ok && !f.whole[l] {
			changed = f.clear(s.Exprs[0], l) || changed
		}
		for _, e := range s.Exprs {
			changed = f.rewriteExpr(e) || changed
		}
		changed = f.rewrite(s.Then) || changed
		changed = f.rewrite(s.Else) || changed
	}
	return changed
}

// madeFor is the local that gets the value of a statement.
func (f *fieldUses) madeFor(s *tree.Stmt) (local int64, ok bool) {
	switch {
	case s.Op == tree.SAssign:
		return s.Int, true
	case s.Op == tree.SReturn && len(s.Exprs) == 1:
		local, ok = f.inlines[s.Int]
	}
	return local, ok
}

func (f *fieldUses) rewriteExpr(e *tree.Expr) bool {
	changed := f.rewrite(e.Body)
	for _, a := range e.Args {
		changed = f.rewriteExpr(a) || changed
	}
	return changed
}

// clear zeroes the unused elements of a composite that is made for local l.
func (f *fieldUses) clear(e *tree.Expr, l int64) bool {
	for e.Op == tree.OpConvert {
		e = e.Args[0]
	}
	changed := false
	switch e.Op {
	case tree.OpCond:
		changed = f.clear(e.Args[1], l)
		return f.clear(e.Args[2], l) || changed
	case tree.OpRecord, tree.OpTuple:
	default:
		return false
	}
	for i, a := range e.Args {
		if !f.elems[l][int64(i)] && !isZero(a) && !keeps(a) {
			e.Args[i] = zeroOf(a.Type, a.Pos)
			changed = true
		}
	}
	return changed
}

// isZero reports whether e costs nothing, as what zeroOf makes. prune has come to its end when all that is unused
// costs nothing.
func isZero(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpConvert:
		return isZero(e.Args[0])
	case tree.OpTuple, tree.OpRecord:
		return !slices.ContainsFunc(e.Args, func(a *tree.Expr) bool { return !isZero(a) })
	}
	return e.Op == tree.OpConst
}

// zeroOf is some value of type t that costs nothing.
func zeroOf(t types.Type, pos plan.Pos) *tree.Expr {
	switch t.Kind {
	case types.Tuple, types.Record:
		e := &tree.Expr{Op: tree.OpTuple, Type: t.Present(), Pos: pos}
		if t.Kind == types.Record {
			e.Op = tree.OpRecord
		}
		for _, x := range t.Elems {
			e.Args = append(e.Args, zeroOf(x, pos))
		}
		return convert(e, t)
	case types.Str:
		return convert(constExpr(plan.String(""), pos), t)
	case types.Bytes:
		return convert(constExpr(plan.Bytes(""), pos), t)
	case types.Bool:
		return convert(constExpr(plan.Bool(false), pos), t)
	case types.None:
		return constExpr(plan.None{}, pos)
	}
	return convert(intExpr(0, pos), t)
}
