package infer

import (
	"slices"

	"go.starlark.net/resolve"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// Calls of the script's own functions in kernel halves: parameters, closures, bodies walked in place or as subprograms;
// `calls itself: Starlark has no recursion`.

// A closure is a function defined inside a kernel half.
type closure struct {
	def      *resolve.Function
	outer    *frame
	defaults []val // by parameter; zero val for none
	has      []bool
	name     string
}

func (c *closure) what() string {
	if c.name == "lambda" {
		return "a lambda"
	}
	return "the function " + c.name
}

// callFunc walks fn in place and gives its value, or by truth one that is true where that is.
func (b inliner) callFunc(fn *plan.Func, args []arg, truth bool, pos plan.Pos) val {
	for _, f := range b.calls {
		if f == fn {
			refuse(pos, "%s calls itself: Starlark has no recursion", fn.Name)
		}
	}
	if len(b.calls) >= maxInline {
		refuse(pos, "calls are nested more than %d deep", maxInline)
	}
	if b.prog.Inlines >= maxInlines {
		refuse(pos, "the functions of this kernel half call each other more than %d times, and the compiler works "+
			"out each call by itself: call them less often, or keep what they give in a variable", maxInlines)
	}
	b.calls = append(b.calls, fn)
	defer func() { b.calls = b.calls[:len(b.calls)-1] }()
	f := &frame{Frame: scope.Frame[val]{Fn: fn, Def: resolved(fn)}, truth: truth}
	defaults := make([]val, len(fn.Defaults))
	has := make([]bool, len(fn.Defaults))
	for i, d := range fn.Defaults {
		if d != nil {
			defaults[i], has[i] = constant(d), true
		}
	}
	b.bindParams(f, fn.Name, args, defaults, has, pos)
	v := b.inline(f, pos)
	if fn.Lambda != nil && inLibrary(pos) && !inLibrary(fn.Pos) {
		v = v.from(fn.Lambda.Body)
	}
	return v
}

// callClosure is callFunc for a nested function.
func (b inliner) callClosure(c *closure, args []arg, truth bool, pos plan.Pos) val {
	for f := &b.frame.Frame; f != nil; f = f.Outer {
		if f.Def == c.def {
			refuse(pos, "%s calls itself: Starlark has no recursion", c.name)
		}
	}
	f := &frame{Frame: scope.Frame[val]{Def: c.def, Outer: &c.outer.Frame}, truth: truth}
	b.bindParams(f, c.name, args, c.defaults, c.has, pos)
	return b.inline(f, pos)
}

// bindParams gives the parameters their values as a Starlark call does.
func (b inliner) bindParams(f *frame, fname string, args []arg, defaults []val, has []bool, pos plan.Pos) {
	if f.Def.HasVarargs || f.Def.HasKwargs {
		refuse(pos, "%s takes *args or **kwargs, which a kernel half cannot: write its parameters out, with a default "+
			"for what a call may leave out", fname)
	}
	params, positional := scope.Params(f.Def)
	got := make([]bool, len(params))
	for n, i := range placesOf(f.Def, args) {
		a := args[n]
		switch {
		case i == scope.Unknown:
			wrong(a.pos, "%s has no parameter %s", fname, a.name)
		case i < 0 && positional < len(params):
			wrong(pos, "%s takes %s by position, got %d: write %s = … for what stands behind its *", fname,
				counted(positional, "argument"), len(args), params[positional].Name)
		case i < 0:
			wrong(pos, "%s takes %s, got %d", fname, format.Count(len(params), "argument"), len(args))
		case got[i]:
			wrong(a.pos, "%s got its parameter %s twice", fname, params[i].Name)
		}
		got[i] = true
		f.Vars.Set(scope.Bound(params[i]), b.bind(params[i].Name, a.v, a.pos))
	}
	for i, p := range params {
		switch {
		case got[i]:
		case i >= len(has) || !has[i]:
			wrong(pos, "%s wants an argument for %s", fname, p.Name)
		default:
			f.Vars.Set(scope.Bound(p), defaults[i])
		}
	}
}

// placesOf says to which parameter each argument goes.
func placesOf(def *resolve.Function, args []arg) []int {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	return scope.Places(def, names)
}

// inline walks the body of f's function in place. A function whose only
// return is its last statement leaves its statements where the call stands;
// any other becomes an OpInline block with the join of what it returns.
func (b inliner) inline(f *frame, pos plan.Pos) val {
	caller := b.frame
	b.frame = f
	f.inline = int64(b.prog.Inlines)
	b.prog.Inlines++
	var falls bool
	block := b.inBlock(func() {
		f.base = b.block
		falls = b.walker().stmts(f.Def.Body)
	})
	b.frame = caller
	if v, ok := b.spliced(f, block, falls, pos); ok {
		return v
	}
	return b.inlined(f, block, falls, pos)
}

// spliced puts straight-line code where the call stands.
func (b inliner) spliced(f *frame, block *tree.Block, falls bool, pos plan.Pos) (val, bool) {
	switch {
	case len(f.returns) == 0: // it falls through, or every way stops
		b.emitCall(f, block.Stmts, pos)
		return noneVal(), true
	case len(f.returns) == 1 && !falls && f.returns[0].in == block:
		last := len(block.Stmts) - 1
		if last >= 0 && block.Stmts[last] == f.returns[0].stmt {
			b.emitCall(f, block.Stmts[:last], pos)
			return f.returns[0].v, true
		}
	}
	return val{}, false
}

// emitCall puts the statements of a function where it is called. Those of a
// function that another one calls are marked: build may make a subprogram of
// them.
func (b inliner) emitCall(f *frame, stmts []*tree.Stmt, pos plan.Pos) {
	if !b.isCall(f) || len(stmts) == 0 {
		b.block.Stmts = append(b.block.Stmts, stmts...)
		return
	}
	b.emit(&tree.Stmt{Op: tree.SCall, Str: f.Def.Name, Then: &tree.Block{Stmts: stmts}, Pos: pos})
}

// isCall reports whether f is called by another function of the script.
func (b inliner) isCall(f *frame) bool { return b.frame != nil && f != b.frame }

// inlined makes the OpInline of a function with several ways out.
func (b inliner) inlined(f *frame, block *tree.Block, falls bool, pos plan.Pos) val {
	t := types.Type{}
	if falls {
		t = types.NoneT
	}
	list := constantsLast(f.returns)
	for _, r := range slices.Concat(list, list) { // names are texts where one of the others is
		e := beside(b.u, b.rv(r.v, r.stmt.Pos), t)
		var ok bool
		if t, ok = types.Join(withTexts(t, e.Type), chosen(e)); !ok {
			refuse(r.stmt.Pos, "this returns %s, elsewhere %s: a function in a kernel half returns one kind of "+
				"value, or None%s", returnedInWords(r.v), inWords(t), besides(r.v, exprVal(&tree.Expr{Type: t})))
		}
	}
	for _, r := range f.returns {
		if t.Kind != types.None {
			// The value was computed where the return stands.
			r.stmt.Exprs = []*tree.Expr{convert(beside(b.u, b.rv(r.v, r.stmt.Pos), t), t)}
		}
	}
	if falls && t.Kind != types.None {
		block.Stmts = append(block.Stmts, &tree.Stmt{Op: tree.SReturn, Int: f.inline, Pos: pos,
			Exprs: []*tree.Expr{convert(constExpr(plan.None{}, pos), t)}})
	}
	e := &tree.Expr{Op: tree.OpInline, Type: t, Int: f.inline, Body: block, Pos: pos}
	if b.isCall(f) {
		e.Str = f.Def.Name
	}
	if t.Kind == types.None {
		b.emit(&tree.Stmt{Op: tree.SDo, Exprs: []*tree.Expr{e}, Pos: pos})
		return noneVal()
	}
	return exprVal(b.assign("", e))
}

// constantsLast orders returns so that constants take the sign of the others.
func constantsLast(list []returned) []returned {
	var values, constants []returned
	for _, r := range list {
		if r.v.c != nil {
			constants = append(constants, r)
		} else {
			values = append(values, r)
		}
	}
	return append(values, constants...)
}

// given is what a function of the script gives for an event.
func (b *body) given(ev *event, fn *plan.Func) val {
	return b.inliner().callFunc(fn, eventArg(ev, fn.Pos), false, fn.Pos)
}

// holds is whether a predicate of the script is true of an event.
func (b *body) holds(ev *event, fn *plan.Func) cond {
	return b.ops().truth(b.inliner().callFunc(fn, eventArg(ev, fn.Pos), true, fn.Pos), fn.Pos)
}

func eventArg(ev *event, pos plan.Pos) []arg { return []arg{{v: objVal(ev), pos: pos}} }
