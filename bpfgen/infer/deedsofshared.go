package infer

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// Which tables and cells a function of the script may change, by itself or by what it calls.
//
// Which tables and cells a function of the script may change, itself or by what it calls. A function that only reads
// them is no reason to refuse or warn:
//
//	def last(of, pid):
//	    return of.get(pid, 0)
//
// Of a parameter that is known, too, for it may be a container where the function is called. What is not followed, as a
// container that is returned or put into a list, may be changed.

// of is what a function of the script may change.
func (c changers) of(fn *plan.Func) *changes {
	if known, ok := c.known[fn]; ok {
		return known
	}
	out := &changes{map[int]bool{}, map[string]bool{}}
	if fn.Def == nil && fn.Lambda == nil { // an expression of the command line
		return out
	}
	frame := newFrame(fn, resolved(fn))
	c.known[fn] = out // as it is known so far, while it is asked
	(&changeScan{c, frame, out}).function(frame.Def)
	return out
}

// ofInner is what a function inside a handler may change.
func (c changers) ofInner(f *inner) *changes {
	frame := newFrame(nil, f.def)
	frame.within(f.outer)
	out := &changes{map[int]bool{}, map[string]bool{}}
	(&changeScan{c, frame, out}).function(f.def)
	return out
}

// A changeScan goes over a function and notes what it may change.
type changeScan struct {
	known changers
	frame *uframe
	out   *changes
}

func (s *changeScan) function(def *resolve.Function) {
	for _, p := range def.Params {
		if bin, ok := p.(*syntax.BinaryExpr); ok {
			s.expr(bin.Y, false)
		}
	}
	s.stmts(def.Body)
}

func (s *changeScan) stmts(list []syntax.Stmt) {
	for _, stmt := range list {
		if s.known.without[stmt] {
			continue
		}
		switch stmt := stmt.(type) {
		case *syntax.ExprStmt:
			s.expr(stmt.X, true)
		case *syntax.AssignStmt:
			s.target(stmt.LHS)
			s.expr(stmt.RHS, stmt.Op != syntax.EQ)
		case *syntax.IfStmt:
			s.expr(stmt.Cond, true)
			s.stmts(stmt.True)
			s.stmts(stmt.False)
		case *syntax.ForStmt:
			s.target(stmt.Vars)
			s.expr(stmt.X, true)
			s.stmts(stmt.Body)
		case *syntax.ReturnStmt:
			s.expr(stmt.Result, false)
		case *syntax.DefStmt:
			s.function(stmt.Function.(*resolve.Function))
		}
	}
}

// target goes over what is assigned to: a name is none of the containers.
func (s *changeScan) target(x syntax.Expr) {
	switch x := unparen(x).(type) {
	case *syntax.IndexExpr:
		s.expr(x.X, false)
		s.expr(x.Y, true)
	case *syntax.DotExpr:
		s.expr(x.X, false)
	case *syntax.TupleExpr, *syntax.ListExpr:
		for _, e := range elementsOf(x) {
			s.target(e)
		}
	}
}

// expr goes over an expression. reads: who takes its value only reads it.
func (s *changeScan) expr(x syntax.Expr, reads bool) {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		s.expr(x.X, reads)
	case *syntax.Ident:
		s.ident(x, reads)
	case *syntax.DotExpr:
		s.expr(x.X, !s.known.by[x.Name.Name])
	case *syntax.CallExpr:
		s.call(x)
	case *syntax.CondExpr:
		s.expr(x.Cond, true)
		s.expr(x.True, reads)
		s.expr(x.False, reads)
	case *syntax.BinaryExpr:
		chooses := x.Op == syntax.AND || x.Op == syntax.OR
		s.expr(x.X, reads || !chooses)
		s.expr(x.Y, reads || !chooses)
	case *syntax.LambdaExpr:
		s.function(x.Function.(*resolve.Function))
	case *syntax.Comprehension:
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				s.target(c.Vars)
				s.expr(c.X, true)
			case *syntax.IfClause:
				s.expr(c.Cond, true)
			}
		}
		s.parts(x.Body)
	case *syntax.UnaryExpr:
		s.expr(x.X, true)
	case *syntax.IndexExpr, *syntax.SliceExpr:
		s.indexed(x)
	case *syntax.TupleExpr, *syntax.ListExpr, *syntax.DictExpr, *syntax.DictEntry:
		s.parts(x)
	}
}

func (s *changeScan) indexed(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.IndexExpr:
		s.expr(x.X, true)
		s.expr(x.Y, true)
	case *syntax.SliceExpr:
		for _, e := range []syntax.Expr{x.X, x.Lo, x.Hi, x.Step} {
			s.expr(e, true)
		}
	}
}

// parts goes over what is kept together: who has it may change what is in it.
func (s *changeScan) parts(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.DictExpr:
		for _, e := range x.List {
			s.parts(e)
		}
	case *syntax.DictEntry:
		s.expr(x.Key, false)
		s.expr(x.Value, false)
	case *syntax.TupleExpr, *syntax.ListExpr:
		for _, e := range elementsOf(x) {
			s.expr(e, false)
		}
	default:
		s.expr(x, false)
	}
}

// call goes over a call: what is called says what it does with its arguments.
func (s *changeScan) call(x *syntax.CallExpr) {
	s.expr(x.Fn, true)
	id, _ := unparen(x.Fn).(*syntax.Ident)
	var of uval
	if id != nil {
		of, _ = s.frame.Lookup(id, captured)
	}
	for i, a := range x.Args {
		s.expr(argValue(a), starOf(a) == 0 && s.known.readsArgument(of, x, i))
	}
}

// readsArgument reports whether a function only reads an argument that it is called with.
func (c changers) readsArgument(fn uval, x *syntax.CallExpr, i int) bool {
	var does *changes
	def := (*resolve.Function)(nil)
	switch f := fn.v.c.(type) {
	case plan.Builtin:
		return fn.known && c.builtinReads(f, x, i)
	case *plan.Func:
		does, def = c.of(f), resolved(f)
	default:
		if fn.fn == nil {
			return false
		}
		does, def = c.ofInner(fn.fn), fn.fn.def
	}
	for _, a := range x.Args {
		if starOf(a) != 0 {
			return false
		}
	}
	params, _ := scope.Params(def)
	at := scope.Places(def, namesGiven(x))[i]
	return at >= 0 && !does.params[params[at].Name]
}

// builtinReads reports whether a builtin only reads an argument: it does not keep, give back or change it.
func (c changers) builtinReads(f plan.Builtin, x *syntax.CallExpr, i int) bool {
	switch f {
	case plan.UpdateBuiltin:
		return i > 0
	case "getattr":
		if len(x.Args) < 2 || i > 1 {
			return false
		}
		lit, ok := x.Args[1].(*syntax.Literal)
		if !ok {
			return false
		}
		name, ok := lit.Value.(string)
		return ok && !c.by[name]
	case "min", "max":
		return len(x.Args) == 1 || argValue(x.Args[i]) != x.Args[i]
	case "record", "dict":
		return false
	}
	return true
}

func (s *changeScan) ident(id *syntax.Ident, reads bool) {
	if name, ok := s.param(id); ok {
		if !reads {
			s.out.params[name] = true
		}
		return
	}
	x, ok := s.frame.Lookup(id, captured)
	switch {
	case !ok || !x.known:
	case reads && isRef(x.v):
	default:
		s.value(x.v.c)
	}
}

// param is the parameter of the function that a name stands for, also in functions inside.
func (s *changeScan) param(id *syntax.Ident) (string, bool) {
	bind, ok := id.Binding.(*resolve.Binding)
	if !ok || bind.Scope == resolve.Global || bind.Scope == resolve.Predeclared || bind.Scope == resolve.Universal {
		return "", false
	}
	for i, l := range s.frame.Def.Locals {
		if i < len(s.frame.Def.Params) && l.First == bind.First {
			return id.Name, true
		}
	}
	return "", false
}

// value notes what may be changed by who has a value.
func (s *changeScan) value(v plan.Value) {
	switch v := v.(type) {
	case plan.Ref:
		s.out.containers[v.ID] = true
	case plan.Opaque:
		if ref, ok := v.Of.(plan.Ref); ok && s.known.by[v.Method] {
			s.out.containers[ref.ID] = true
		}
	case *plan.Func:
		for id := range s.known.of(v).containers {
			s.out.containers[id] = true
		}
	default:
		s.values(plan.Inside(v))
	}
}

func (s *changeScan) values(list []plan.Value) {
	for _, v := range list {
		s.value(v)
	}
}
