package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// body is the walker of a kernel half: it makes the tree of one program.
// Expressions are made lazily: nothing is emitted until a statement needs it,
// so a read stands behind the filter that precedes it in the script. What
// depends on state that the handler changes (a table's entry) is emitted at
// its place (bind).
type body struct {
	u     *unit
	pr    *probe
	prog  *tree.Program
	block *tree.Block
	frame *frame
	// span is set in the programs of a span.
	span    *spanState
	written int          // iterations of loops that were written out
	calls   []*plan.Func // functions being walked in place, against recursion
	// lazy keeps what could end the handler from being evaluated at its place
	// (now): user space may not need the value, or it belongs to a program of
	// which the walk has left the place.
	lazy bool
	// pinLocals are the locals of pinned variables: what is bound to one must
	// be copied, since a loop changes it.
	pinLocals persistent.Map[int64, bool]
	// starter are the statements of the handler of a start, from one to another: see opens.
	starter [2]int
}

// maxInline bounds the nesting of calls walked in place.
const maxInline = 48

// maxInlines bounds the calls that are walked in place in one program:
// functions that each call the next twice double it with each.
const maxInlines = 8192

func newBody(pr *probe, prog *tree.Program) *body {
	b := &body{u: pr.u, pr: pr, prog: prog, block: &tree.Block{}}
	prog.Body = b.block
	return b
}

// opens emits the statement that opens the entry of a span, before what the handler of the start does: where that ends
// by an error the span has begun all the same, as it has where the handler runs in user space.
func (b *body) opens(s *tree.Stmt) {
	b.emit(s)
	from, to := b.starter[0], b.starter[1]
	list := b.block.Stmts
	b.block.Stmts = slices.Concat(list[:from], list[to:], list[from:to])
}

func (b *body) emit(s *tree.Stmt) { b.block.Stmts = append(b.block.Stmts, s) }

// inBlock runs f with a new current block and gives that block.
func (b *body) inBlock(f func()) *tree.Block {
	saved := b.block
	inner := &tree.Block{}
	b.block = inner
	defer func() { b.block = saved }()
	f()
	return inner
}

func (b *body) newLocal(name string, t types.Type) int64 {
	b.prog.Locals = append(b.prog.Locals, tree.Local{Name: name, Type: t})
	return int64(len(b.prog.Locals) - 1)
}

func (b *body) local(id int64, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpLocal, Type: b.prog.Locals[id].Type, Int: id, Pos: pos}
}

// assign emits an assignment to a new local and gives the local.
func (b *body) assign(name string, e *tree.Expr) *tree.Expr {
	id := b.newLocal(name, e.Type)
	b.emit(&tree.Stmt{Op: tree.SAssign, Int: id, Exprs: []*tree.Expr{e}, Pos: e.Pos})
	return b.local(id, e.Pos)
}

// now gives e, evaluated here if it can end the handler: it must do so even
// if its value is not used, and before what the script computes after it.
func (b *body) now(e *tree.Expr) *tree.Expr {
	if b.lazy || !mayEnd(e) {
		return e
	}
	return b.assign("", e)
}

// lazily runs f with nothing evaluated at its place.
func (b *body) lazily(f func()) {
	saved := b.lazy
	b.lazy = true
	defer func() { b.lazy = saved }()
	f()
}

// stop emits the quiet end of the handler.
func (b *body) stop(pos plan.Pos) { b.emit(&tree.Stmt{Op: tree.SStop, Pos: pos}) }

// here brings a value of the span's start over to this program.
func (b *body) here(v val) val {
	if v.start == nil || v.start == b {
		v.start = nil
		return v
	}
	return b.span.bring(b, v)
}

// rv gives v as a typed expression of this program.
func (b *body) rv(v val, pos plan.Pos) *tree.Expr {
	v = b.here(v)
	switch {
	case v.expr != nil:
		return v.expr
	case v.comp:
		e := &tree.Expr{Op: tree.OpTuple, Pos: pos}
		if v.names != nil {
			e.Op = tree.OpRecord
		}
		e.Type = types.Type{Kind: types.Tuple, Names: v.names}
		if v.names != nil {
			e.Type.Kind = types.Record
		}
		for _, x := range v.elems {
			a := b.rv(x, pos)
			e.Args = append(e.Args, a)
			e.Type.Elems = append(e.Type.Elems, a.Type)
		}
		return e
	case v.obj != nil:
		v.mustKnow()
		if w, ok := b.unfolded(v, pos); ok {
			return b.rv(w, pos)
		}
		if p, ok := v.obj.(located); ok && p.origin() != nil && p.origin() != b {
			return b.here(val{expr: p.value(b, pos), start: p.origin()}).expr
		}
		if a, ok := v.obj.(addressed); ok {
			return a.value(b, pos)
		}
		refuse(pos, "%s cannot be stored or computed with in a kernel half: use its parts", v.obj.what())
	}
	if fold.HasNUL(v.c) {
		refuse(v.place(pos), "a string with a NUL cannot be kept in a kernel half, where strings end at a NUL: "+
			"bytes can, as b\"a\\x00\"")
	}
	return constExpr(v.c, v.place(pos))
}

// compared is v in a comparison with ==, which a string with a NUL can stand in: no string of the kernel is equal to
// it.
func (b *body) compared(v val, pos plan.Pos) *tree.Expr {
	if s, ok := v.constStr(); ok && fold.HasNUL(plan.String(s)) {
		return constExpr(v.c, v.place(pos))
	}
	return b.rv(v, pos)
}

// unfolded is the value of what has no address of its own, or is known by its parts: of a struct in registers its word
// or a record, of an array a tuple.
func (b *body) unfolded(v val, pos plan.Pos) (val, bool) {
	switch o := v.obj.(type) {
	case *regStruct:
		return o.whole(b, pos), true
	case *arrayObj:
		v.carried(pos)
		return b.memory().arrayValue(o, pos), true
	case *ctxArray:
		v.carried(pos)
		return o.everything(pos), true
	}
	return v, false
}

// maxArray bounds the elements of an array that is a value as a whole.
const maxArray = 64

// carried refuses arrays that are too long to be a value.
func (v val) carried(pos plan.Pos) {
	if n := v.arrayLen(); n > maxArray {
		refuse(pos, "an array of %d elements is no value as a whole, one of %d is: take the elements that are needed, "+
			"as a[0], or their bytes, by mem(…)", n, maxArray)
	}
}

// bind gives v with everything evaluated here and now, once.
func (b *body) bind(name string, v val, pos plan.Pos) val {
	switch {
	case v.start != nil && v.start != b:
		return v
	case v.comp:
		out := v
		out.elems = make([]val, len(v.elems))
		for i, e := range v.elems {
			out.elems[i] = b.bind(name, e, pos)
		}
		return out
	case v.expr == nil:
		return v
	}
	switch v.expr.Op {
	case tree.OpConst, tree.OpSpanSlot, tree.OpUnreadable:
		return v
	case tree.OpLocal:
		if !b.pinLocals.At(v.expr.Int) {
			return v
		}
	}
	return exprVal(b.assign(name, v.expr))
}

// vars are the values of variables; the ways of a branch begin with copies.
type vars = persistent.Map[*resolve.Binding, val]

// A frame has the variables of one function that is walked.
type frame struct {
	fn    *plan.Func // nil for a nested function
	def   *resolve.Function
	outer *frame // of a nested function: where it was defined
	vars  vars
	// returns collects what the function gives back.
	returns []returned
	inline  int64
	pins    map[*resolve.Binding]*pin
	loop    *loop
	// base is the block in which the function's statements stand.
	base *tree.Block
}

// returned is one return of an inlined function.
type returned struct {
	stmt *tree.Stmt
	v    val
	in   *tree.Block
}

func resolved(fn *plan.Func) *resolve.Function {
	if fn.Def != nil {
		return fn.Def.Function.(*resolve.Function)
	}
	return fn.Lambda.Function.(*resolve.Function)
}

// lookup gives the value of a name.
func (f *frame) lookup(id *syntax.Ident) (val, bool) {
	bind := id.Binding.(*resolve.Binding)
	switch bind.Scope {
	case resolve.Local, resolve.Cell:
		v, ok := f.vars.Get(bind)
		return v, ok
	case resolve.Free:
		if v, ok := f.vars.Get(bind); ok {
			return v, true // narrowed in this function
		}
		return f.free(bind.Index)
	}
	for g := f; g != nil; g = g.outer {
		if g.fn != nil {
			v, ok := g.fn.Names[id.Name]
			if ok {
				return constant(v), true
			}
		}
	}
	return val{}, false
}

// free gives captured variable i of f's function.
func (f *frame) free(i int) (val, bool) {
	if f.fn != nil {
		if i >= len(f.fn.Free) || f.fn.Free[i] == nil {
			return val{}, false
		}
		return constant(f.fn.Free[i]), true
	}
	outer := f.def.FreeVars[i]
	v, ok := f.outer.vars.Get(outer)
	if !ok && outer.Scope == resolve.Free {
		return f.outer.free(outer.Index)
	}
	return v, ok
}
