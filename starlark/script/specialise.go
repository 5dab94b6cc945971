package script

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The copy of a user half whose parts of the event are read from the record.

// A specialised function is a copy of a function of the script in which the
// parts of the event are read from a record:
//
//	def $make($ev, out, limit, $call0):     # what the original could see
//	    def late(e, $default0):             # the copy, positions unchanged
//	        $kept = $ev.keep()              # only where a function outlives the event
//	        out($ev[0], $ev[3])             # was: out(e.comm, e.waited)
//	    return late
//
// The copy is compiled as a file of its own. What the original captured are
// arguments of $make: they are read as fast as captured variables, and the
// copy cannot see anything else. They have their last values by then, since
// the script has ended.
const (
	evName   = "$ev"
	keptName = "$kept"
	makeName = "$make"

	enumerateName = "$enumerate"
)

// Specialise makes the user half of a function: a callable that takes the
// same arguments and reads what was captured from ev, a *value.Event or
// anything else with ev[N] and ev.keep().
func (h *Host) Specialise(half *plan.UserHalf, ev starlark.Value) (starlark.Callable, error) {
	return h.special.instance(h.thread, half, ev)
}

func newSpecialiser(h *Host) *specialiser {
	return &specialiser{h.captures, make(map[*plan.UserHalf]*maker)}
}

// instance gives the function for an event.
func (s *specialiser) instance(th *starlark.Thread, half *plan.UserHalf, ev starlark.Value) (starlark.Callable, error) {
	m, ok := s.makers[half]
	if !ok {
		var err error
		if m, err = s.compile(half); err != nil {
			return nil, fmt.Errorf("user half of %s at %s: %w", half.Fn.Name, half.Fn.Pos, err)
		}
		s.makers[half] = m
	}
	args := append(starlark.Tuple{ev}, m.args...)
	for _, c := range m.calls {
		var v starlark.Value
		var err error
		if c.of {
			v = s.calleeOf(c.half)
		} else if v, err = s.instance(th, c.half, ev); err != nil {
			return nil, err
		}
		args[1+c.arg] = v
	}
	v, err := starlark.Call(th, m.fn, args, nil)
	if err != nil {
		return nil, err
	}
	return v.(starlark.Callable), nil
}

// calleeOf makes the function that nested functions call to get a callee that
// reads from the event that they kept.
func (s *specialiser) calleeOf(half *plan.UserHalf) starlark.Value {
	return starlark.NewBuiltin("$of", func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return s.instance(th, half, args[0])
	})
}

// A copying is the making of one copy.
type copying struct {
	// half says which expressions of the function are read from the record.
	half     *plan.UserHalf
	captures *captures
	// fn is the function that is copied.
	fn *starlark.Function
	// m is the result, with the values of the arguments whose names are names.
	m     *maker
	names []string // of the arguments
	unset []string // names of the script that have no value
	late  int      // how many functions that keep the event are around
	loops int      // that are written out
	// defaults is how many of functions inside are kept in variables.
	defaults int
	// pos is where the function stands in the script; what is put in has this place.
	pos syntax.Position
}

func (s *specialiser) compile(half *plan.UserHalf) (*maker, error) {
	fn := s.captures.origin[half.Fn]
	if fn == nil || funcNode(half.Fn) == nil {
		return nil, fmt.Errorf("it is no function of this script")
	}
	c := &copying{half: half, captures: s.captures, fn: fn, m: &maker{}, pos: fn.Position()}
	c.collectNames(s.captures)
	if written(half) {
		c.arg(enumerateName, starlark.Universe["enumerate"])
	}
	def := c.copyDef()
	file := c.wrap(def)
	instrument(file)
	prog, err := starlark.FileProgram(file, instruments.Has)
	if err != nil {
		return nil, err
	}
	globals, err := prog.Init(&starlark.Thread{Name: "specialise"}, instruments)
	if err != nil {
		return nil, err
	}
	c.m.fn = globals[makeName].(*starlark.Function)
	return c.m, nil
}

func (c *copying) arg(name string, v starlark.Value) int {
	c.names = append(c.names, name)
	c.m.args = append(c.m.args, v)
	return len(c.names) - 1
}

// collectNames makes an argument of everything that the function sees around
// it: captured variables, globals, builtins.
func (c *copying) collectNames(caps *captures) {
	for i := range c.fn.NumFreeVars() {
		b, v := c.fn.FreeVar(i)
		c.supply(b.Name, v)
	}
	syntax.Walk(funcNode(c.half.Fn), func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		if !ok || ownName(c.half.Fn, id) {
			return true
		}
		b, ok := id.Binding.(*resolve.Binding)
		if ok && (b.Scope == resolve.Global || b.Scope == resolve.Predeclared) {
			c.supply(id.Name, caps.lookup(c.fn, b.Scope, id.Name))
		}
		return true
	})
}

func (c *copying) supply(name string, v starlark.Value) {
	switch {
	case slices.Contains(c.names, name) || slices.Contains(c.unset, name):
	case v == nil:
		c.unset = append(c.unset, name)
	default:
		c.arg(name, v)
	}
}

// copyDef copies the function as a def, a lambda too.
func (c *copying) copyDef() *syntax.DefStmt {
	f := c.half.Fn
	cl := c.cloner()
	params := c.params(cl)
	var body []syntax.Stmt
	if len(c.half.Nested) > 0 {
		body = append(body, c.keep())
	}
	if f.Lambda != nil {
		body = append(body, &syntax.ReturnStmt{Return: syntax.Start(f.Lambda.Body), Result: cl.one(f.Lambda.Body)})
	} else {
		body = append(body, cl.stmts(f.Def.Body)...)
	}
	name := f.Name
	if slices.Contains(c.names, name) {
		name += " " // it uses its own name, which must stay the original's
	}
	return &syntax.DefStmt{Def: c.pos, Name: c.ident(name), Lparen: c.pos, Params: params, Rparen: c.pos, Body: body}
}

// params copies the parameters; the values of defaults are arguments of $make.
func (c *copying) params(cl *cloner) []syntax.Expr {
	params := cl.params(c.half.Fn.Params())
	n := 0
	for _, p := range params {
		switch p := p.(type) {
		case *syntax.UnaryExpr:
			continue
		case *syntax.BinaryExpr:
			name := fmt.Sprintf("$default%d", n)
			c.arg(name, c.fn.ParamDefault(n))
			p.Y = c.ident(name)
		}
		n++
	}
	return params
}

// keep is `$kept = $ev.keep()`.
func (c *copying) keep() syntax.Stmt {
	dot := &syntax.DotExpr{X: c.ident(evName), Dot: c.pos, NamePos: c.pos, Name: c.ident("keep")}
	return &syntax.AssignStmt{OpPos: c.pos, Op: syntax.EQ, LHS: c.ident(keptName),
		RHS: &syntax.CallExpr{Fn: dot, Lparen: c.pos, Rparen: c.pos}}
}

func (c *copying) ident(name string) *syntax.Ident {
	return &syntax.Ident{NamePos: c.pos, Name: name}
}

func (c *copying) enter(n syntax.Node) {
	if c.half.Nested[n] {
		c.late++
	}
}

func (c *copying) leave(n syntax.Node) {
	if c.half.Nested[n] {
		c.late--
	}
}

// replace gives what stands in the copy for an expression of the original.
func (c *copying) replace(e syntax.Expr) (syntax.Expr, bool) {
	if widths := c.spread(e); widths != nil {
		return callOf(eachBitsName, syntax.Start(e), append([]syntax.Expr{c.itself(e)}, widths...)...), true
	}
	number, ok := c.half.Widths[e]
	if !ok {
		return c.value(e)
	}
	return callOf(bitsName, syntax.Start(e), c.itself(e), c.field(e, -1-number)), true
}

// itself is what stands in the copy for an expression, however it is shown.
func (c *copying) itself(e syntax.Expr) syntax.Expr {
	itself := c.cloner()
	itself.expr = func(x syntax.Expr) (syntax.Expr, bool) {
		if x == e {
			return c.value(x)
		}
		return c.replace(x)
	}
	return itself.one(e)
}

// spread are the widths of the elements of a list that is given by a star; nil where none has one.
func (c *copying) spread(e syntax.Expr) (widths []syntax.Expr) {
	some := false
	for _, element := range c.half.Spread[e] {
		number, ok := c.half.Widths[element]
		if some = some || ok; ok {
			widths = append(widths, c.field(e, -1-number))
		} else {
			at := syntax.Start(e)
			widths = append(widths, &syntax.Literal{Token: syntax.INT, TokenPos: at, Raw: "0", Value: int64(0)})
		}
	}
	if !some {
		return nil
	}
	return widths
}

// value is what stands for an expression of which it does not matter how it is shown.
func (c *copying) value(e syntax.Expr) (syntax.Expr, bool) {
	if i, ok := c.half.Slots[e]; ok {
		return c.after(e, c.field(e, i)), true
	}
	if c.half.Drop[e] {
		return &syntax.Ident{NamePos: syntax.Start(e), Name: "None"}, true
	}
	if to := c.half.Instead[e]; to != nil {
		return c.cloner().one(to), true
	}
	switch e := e.(type) {
	case *syntax.Comprehension:
		return c.comprehension(e)
	case *syntax.LambdaExpr:
		if of := c.half.Bundles[e]; of != nil {
			return c.bundle(e, of), true
		}
	}
	call, ok := e.(*syntax.CallExpr)
	if !ok {
		return nil, false
	}
	if all := c.half.Choices[call]; all != nil && len(all.Of) > 0 {
		return c.choose(call, all), true
	}
	var fn syntax.Expr
	if half, ok := c.half.Calls[call]; ok {
		fn = c.callee(call, half)
	} else if to := c.half.To[call]; to != nil && to.Name == "" {
		fn = c.calledHere(unparen(call.Fn).(*syntax.LambdaExpr), to.Half)
	} else if to != nil {
		fn = &syntax.Ident{NamePos: syntax.Start(call), Name: to.Name}
	} else {
		return nil, false
	}
	return &syntax.CallExpr{Fn: fn, Lparen: call.Lparen, Args: c.cloner().list(call.Args), Rparen: call.Rparen}, true
}

// calledHere is a lambda that is called where it stands. Its defaults belong to the function around it.
func (c *copying) calledHere(l *syntax.LambdaExpr, half *plan.UserHalf) syntax.Expr {
	out := within(c, half, func() *syntax.LambdaExpr { return c.cloner().lambda(l) })
	out.Params = c.cloner().params(l.Params)
	return out
}

// after is a field, or `(first, field)[1]` where something is to be computed
// before it is read.
func (c *copying) after(e, field syntax.Expr) syntax.Expr {
	first, ok := c.half.First[e]
	if !ok {
		return field
	}
	at := syntax.Start(e)
	return &syntax.IndexExpr{
		X: &syntax.ParenExpr{Lparen: at, X: &syntax.TupleExpr{Lparen: at,
			List: []syntax.Expr{c.cloner().one(first), field}, Rparen: at}, Rparen: at},
		Lbrack: at, Rbrack: at, Y: &syntax.Literal{Token: syntax.INT, TokenPos: at, Raw: "1", Value: int64(1)}}
}

// field is $ev[i] at the place of e.
func (c *copying) field(e syntax.Expr, i int) syntax.Expr {
	at := syntax.Start(e)
	return &syntax.IndexExpr{X: &syntax.Ident{NamePos: at, Name: c.event()}, Lbrack: at, Rbrack: at,
		Y: &syntax.Literal{Token: syntax.INT, TokenPos: at, Raw: fmt.Sprint(i), Value: int64(i)}}
}

// event names the event to read: the current one, or the one that was kept.
func (c *copying) event() string {
	if c.late > 0 {
		return keptName
	}
	return evName
}

// callee is the copy of a called function.
func (c *copying) callee(call *syntax.CallExpr, half *plan.UserHalf) syntax.Expr {
	name := fmt.Sprintf("$call%d", len(c.m.calls))
	c.m.calls = append(c.m.calls, callee{half, c.arg(name, nil), c.late > 0})
	fn := &syntax.Ident{NamePos: syntax.Start(call), Name: name}
	if c.late == 0 {
		return fn
	}
	kept := &syntax.Ident{NamePos: fn.NamePos, Name: keptName}
	return &syntax.CallExpr{Fn: fn, Lparen: call.Lparen, Args: []syntax.Expr{kept}, Rparen: call.Rparen}
}

// wrap makes the file around the copy. Names without a value become globals
// that are never assigned, so that using one gives the usual error.
func (c *copying) wrap(def *syntax.DefStmt) *syntax.File {
	params := []syntax.Expr{c.ident(evName)}
	for _, n := range c.names {
		params = append(params, c.ident(n))
	}
	outer := &syntax.DefStmt{Def: c.pos, Name: c.ident(makeName), Lparen: c.pos, Params: params, Rparen: c.pos,
		Body: []syntax.Stmt{def, &syntax.ReturnStmt{Return: c.pos, Result: c.ident(def.Name.Name)}}}
	f := &syntax.File{Path: c.pos.Filename(), Stmts: []syntax.Stmt{outer}, Options: parseOptions}
	for _, n := range c.unset {
		f.Stmts = append(f.Stmts, &syntax.IfStmt{If: c.pos, Cond: c.ident("False"), True: []syntax.Stmt{
			&syntax.AssignStmt{OpPos: c.pos, Op: syntax.EQ, LHS: c.ident(n), RHS: c.ident("None")}}})
	}
	return f
}
