package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// A field of a record that nobody reads has no type either. Functions of several system calls or points, which differ
// only in what such a field would have, then have one shape, and share their code (Block.Shape).

// unreadFields gives the type None to the parts of composite variables that nothing reads and that prune has replaced
// by zeros.
func unreadFields(prog *tree.Program) {
	f := &fieldUses{whole: map[int64]bool{}, elems: map[int64]map[int64]bool{}, inlines: map[int64]int64{}}
	made := madeOf{values: map[int64][]*tree.Expr{}, returned: map[int64][]*tree.Expr{}, other: map[int64]bool{}}
	for _, blk := range blocks(prog) {
		f.block(blk)
		tree.WalkBlock(blk, made.stmt, func(*tree.Expr) {})
	}
	unread := map[int64][]int{}
	for l := range made.values {
		if parts := made.unread(l, prog.Locals[l].Type, f); len(parts) > 0 {
			unread[l] = parts
			prog.Locals[l].Type = withoutParts(prog.Locals[l].Type, parts)
			made.literals(l, func(e *tree.Expr) { forgetParts(e, parts) })
		}
	}
	if len(unread) == 0 {
		return
	}
	for _, blk := range blocks(prog) {
		tree.WalkBlock(blk, func(*tree.Stmt) {}, func(e *tree.Expr) {
			if l, ok := throughAssume(e); ok && unread[l] != nil {
				e.Type = withoutParts(e.Type, unread[l])
			}
		})
	}
}

// madeOf says what gives the variables of a program their values.
type madeOf struct {
	// values are, by variable, what is assigned to it; returned are, by inlined call, what the call returns.
	values, returned map[int64][]*tree.Expr
	// other variables get values in other ways, too.
	other map[int64]bool
}

func (m *madeOf) stmt(s *tree.Stmt) {
	switch s.Op {
	case tree.SAssign:
		m.values[s.Int] = append(m.values[s.Int], s.Exprs[0])
	case tree.SReturn:
		m.returned[s.Int] = append(m.returned[s.Int], s.Exprs...)
	case tree.SFor:
		m.other[s.Int] = true
	}
}

// unread are the parts of variable l, of type t, that nothing reads and that each of its values has as a zero.
func (m *madeOf) unread(l int64, t types.Type, f *fieldUses) (parts []int) {
	if t.Kind != types.Record && t.Kind != types.Tuple || f.whole[l] || m.other[l] {
		return nil
	}
	for i, part := range t.Elems {
		if part.Kind != types.None && !f.elems[l][int64(i)] {
			parts = append(parts, i)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	known := m.literals(l, func(e *tree.Expr) {
		if e.Op == tree.OpRecord || e.Op == tree.OpTuple {
			parts = slices.DeleteFunc(parts, func(i int) bool { return !isZero(e.Args[i]) })
		}
	})
	if !known {
		return nil
	}
	return parts
}

// literals calls f with each expression that makes a value of variable l: records, None, their conversions, choices of
// two of them, and the inlined calls that return them. It reports whether there is nothing else.
func (m *madeOf) literals(l int64, f func(*tree.Expr)) bool {
	known := true
	for _, e := range m.values[l] {
		known = m.literal(e, f) && known
	}
	return known
}

func (m *madeOf) literal(e *tree.Expr, f func(*tree.Expr)) bool {
	f(e)
	switch e.Op {
	case tree.OpConvert:
		return m.literal(e.Args[0], f)
	case tree.OpCond:
		known := m.literal(e.Args[1], f)
		return m.literal(e.Args[2], f) && known
	case tree.OpRecord, tree.OpTuple:
		return true
	case tree.OpConst:
		return e.Type.Kind == types.None
	case tree.OpInline:
		known := true
		for _, r := range m.returned[e.Int] {
			known = m.literal(r, f) && known
		}
		return known
	}
	return false
}

// forgetParts makes e, a value of which nothing reads some parts, one that has None there.
func forgetParts(e *tree.Expr, parts []int) {
	e.Type = withoutParts(e.Type, parts)
	if e.Op == tree.OpRecord || e.Op == tree.OpTuple {
		e.Args = slices.Clone(e.Args)
		for _, i := range parts {
			e.Args[i] = zeroOf(types.NoneT, e.Args[i].Pos)
		}
	}
}

// withoutParts is the type t of a composite with the type None for some of its parts.
func withoutParts(t types.Type, parts []int) types.Type {
	if t.Kind != types.Record && t.Kind != types.Tuple {
		return t
	}
	t.Elems = slices.Clone(t.Elems)
	for _, i := range parts {
		t.Elems[i] = types.NoneT
	}
	return t
}
