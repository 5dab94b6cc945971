package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A cond is a condition: known while compiling, or a bool of the tree, with
// what either outcome proves about variables.
type cond struct {
	known           bool
	value           bool
	expr            *tree.Expr
	ifTrue, ifFalse facts
}

// facts are variables whose values are narrowed: not None any more.
type facts map[*resolve.Binding]val

func (b *body) apply(f facts) {
	for bind, v := range f {
		b.frame.vars.Set(bind, v)
	}
}

func known(v bool) cond { return cond{known: true, value: v} }

// cond gives the truth of x.
func (b walker) cond(x syntax.Expr) cond {
	switch x := unparen(x).(type) {
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			return negate(b.cond(x.X), x.OpPos)
		}
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.AND:
			return b.both(x, true)
		case syntax.OR:
			return b.both(x, false)
		case syntax.EQL, syntax.NEQ:
			if c, ok := b.noneTest(x); ok {
				return c
			}
		}
	case *syntax.Ident:
		return b.truthOf(x)
	}
	return b.ops().truth(b.expr(x), start(x))
}

func negate(c cond, pos plan.Pos) cond {
	if c.known {
		return known(!c.value)
	}
	return cond{expr: not(c.expr, pos), ifTrue: c.ifFalse, ifFalse: c.ifTrue}
}

func not(e *tree.Expr, pos plan.Pos) *tree.Expr {
	if e.Op == tree.OpLNot {
		return e.Args[0]
	}
	return &tree.Expr{Op: tree.OpLNot, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
}

// both is `x and y` (all) or `x or y`: the second side is walked with what
// the first one proves.
func (b walker) both(x *syntax.BinaryExpr, all bool) cond {
	l := b.cond(x.X)
	if l.known {
		if l.value != all {
			return known(l.value)
		}
		return b.cond(x.Y)
	}
	proved := l.ifTrue
	if !all {
		proved = l.ifFalse
	}
	before := b.frame.vars
	b.apply(proved)
	var r cond
	block := b.inBlock(func() { r = b.cond(x.Y) })
	b.frame.vars = before
	return b.connect(l, r, block, all, x.OpPos)
}

// connect makes the tree of a connective whose right side needs block first.
func (b walker) connect(l, r cond, block *tree.Block, all bool, pos plan.Pos) cond {
	if r.known && len(block.Stmts) == 0 {
		if r.value == all {
			return l
		}
		return known(r.value) // l has no effect that could be missed
	}
	out := cond{}
	if all {
		out.ifTrue = merged(l.ifTrue, r.ifTrue)
	} else {
		out.ifFalse = merged(l.ifFalse, r.ifFalse)
	}
	right := r.expr
	if r.known {
		right = constExpr(plan.Bool(r.value), pos)
	}
	if len(block.Stmts) == 0 {
		op := tree.OpLAnd
		if !all {
			op = tree.OpLOr
		}
		out.expr = &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{l.expr, right}, Pos: pos}
		return out
	}
	id := b.newLocal("", types.Boolean)
	set := func(e *tree.Expr) *tree.Stmt {
		return &tree.Stmt{Op: tree.SAssign, Int: id, Exprs: []*tree.Expr{e}, Pos: pos}
	}
	block.Stmts = append(block.Stmts, set(right))
	short := &tree.Block{Stmts: []*tree.Stmt{set(constExpr(plan.Bool(!all), pos))}}
	s := &tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{l.expr}, Then: block, Else: short, Pos: pos}
	if !all {
		s.Then, s.Else = short, block
	}
	b.emit(s)
	out.expr = b.local(id, pos)
	return out
}

func merged(x, y facts) facts {
	out := facts{}
	for k, v := range x {
		out[k] = v
	}
	for k, v := range y {
		out[k] = v
	}
	return out
}

// noneTest is `x == None` or `x != None`, which narrows a variable.
func (b walker) noneTest(x *syntax.BinaryExpr) (cond, bool) {
	other := x.X
	if !isNoneIdent(x.Y) {
		if !isNoneIdent(x.X) {
			return cond{}, false
		}
		other = x.Y
	}
	v := b.expr(other)
	c := b.ops().isNone(v, x.OpPos)
	if !c.known {
		if bind, ok := local(other); ok {
			c.ifFalse = facts{bind: exprVal(assumeNotNone(b.rv(v, x.OpPos)))}
			c.ifTrue = facts{bind: noneVal()}
		}
	}
	if x.Op == syntax.NEQ {
		c = negate(c, x.OpPos)
	}
	return c, true
}

func isNoneIdent(x syntax.Expr) bool {
	id, ok := unparen(x).(*syntax.Ident)
	return ok && id.Name == "None"
}

func local(x syntax.Expr) (*resolve.Binding, bool) {
	id, ok := unparen(x).(*syntax.Ident)
	if !ok {
		return nil, false
	}
	bind := id.Binding.(*resolve.Binding)
	return bind, bind.Scope == resolve.Local || bind.Scope == resolve.Cell || bind.Scope == resolve.Free
}

// assumeNotNone drops the possibility of None, not that of FAULT.
func assumeNotNone(e *tree.Expr) *tree.Expr {
	if !e.Type.MayNone {
		return e
	}
	t := e.Type
	t.MayNone = false
	return &tree.Expr{Op: tree.OpAssume, Type: t, Args: []*tree.Expr{e}, Pos: e.Pos}
}

func (b operators) isNone(v val, pos plan.Pos) cond {
	v.mustKnow()
	switch {
	case v.isNone():
		return known(true)
	case v.expr == nil:
		if _, ok := v.obj.(*unjoined); !ok {
			return known(false)
		}
	}
	e := b.rv(v, pos)
	switch t := e.Type; {
	case isFaultExpr(e):
		return known(false)
	case t.Kind == types.None && t.MayFault:
	case !t.MayNone && t.Kind != types.Ptr:
		return known(t.Kind == types.None)
	}
	return cond{expr: &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}}
}

// truthOf is the truth of a name: a true one is not None.
func (b walker) truthOf(id *syntax.Ident) cond {
	v := b.ident(id)
	c := b.ops().truth(v, id.NamePos)
	if bind, ok := local(id); ok && !c.known && v.expr != nil && v.expr.Type.MayNone {
		c.ifTrue = facts{bind: exprVal(assumeNotNone(b.rv(v, id.NamePos)))}
	}
	return c
}

// truth is Starlark's bool(v).
func (b operators) truth(v val, pos plan.Pos) cond {
	v.mustKnow()
	v, _ = b.unfolded(v, pos)
	switch {
	case v.c != nil:
		return known(fold.Truth(v.c))
	case v.comp:
		return known(v.names != nil || len(v.elems) > 0)
	case v.obj != nil:
		if _, ok := v.obj.(addressed); !ok {
			return known(true)
		}
	}
	e := b.rv(v, pos)
	if e.Type.Kind == types.None {
		return b.isFault(v, pos) // FAULT is true
	}
	notLabelled(e.Type, pos)
	out := b.presentTruth(assume(e), pos)
	if e.Type.MayFault {
		out = logic(tree.OpLOr, &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos},
			out, pos)
	}
	if e.Type.MayNone && e.Type.Kind != types.Ptr {
		none := &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
		out = logic(tree.OpLAnd, not(none, pos), out, pos)
	}
	return cond{expr: out}
}

func logic(op tree.Op, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	if y.Op == tree.OpConst {
		if (y.Int != 0) == (op == tree.OpLAnd) {
			return x
		}
		return y
	}
	return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{x, y}, Pos: pos}
}

// presentTruth is the truth of a value that is there.
func (b operators) presentTruth(e *tree.Expr, pos plan.Pos) *tree.Expr {
	switch e.Type.Kind {
	case types.Bool:
		return e
	case types.Stack: // the ids of stacks are odd: wire.NoStack
		odd := operation(tree.OpAnd, types.U64, e, intExpr(1, pos), pos)
		return operation(tree.OpNe, types.Boolean, odd, intExpr(0, pos), pos)
	case types.Int, types.Ptr:
		return operation(tree.OpNe, types.Boolean, e, intExpr(0, pos), pos)
	case types.Str, types.Bytes:
		n := &tree.Expr{Op: tree.OpStrLen, Type: types.IntOf(32, false), Args: []*tree.Expr{e}, Pos: pos}
		return operation(tree.OpNe, types.Boolean, n, intExpr(0, pos), pos)
	}
	return constExpr(plan.Bool(e.Type.Kind == types.Record || len(e.Type.Elems) > 0), pos)
}

func sortBindings(list []*resolve.Binding) {
	slices.SortFunc(list, func(x, y *resolve.Binding) int {
		p, q := x.First.NamePos, y.First.NamePos
		if d := strings.Compare(p.Filename(), q.Filename()); d != 0 {
			return d
		}
		if p.Line != q.Line {
			return int(p.Line - q.Line)
		}
		return int(p.Col - q.Col)
	})
}
