// Package ssagen makes the SSA of package ir from typed trees.
//
// Values of the tree become lists of components: an int is one ir value and,
// if it may be absent, a tag; a tuple is its elements; a string is an address,
// a length and flags. Composites therefore never live in memory by
// themselves; memory is only what helpers need: keys, map values, records and
// the bytes of strings. Small pieces of it are stack slots, the others lie in
// the program's scratch memory.
//
// Control flow of the tree is structured, so SSA needs no search: at each
// join the variables that differ between the ways get a block parameter.
//
// The package has a type for each concept (aggs, tables, spans, stacks, texts …), which holds the function under
// construction (code) and writes the instructions of that concept. Those that walk the tree (exprs, stmts, loops,
// rounds, subs) hold more of it (generator). Where a concept needs an expression or a block of the tree it asks code
// for it (expr, cond, block), which the walker answers: so no concept depends on those above it.
//
//	stmts ─→ loops, rounds, subs ─→ aggs, tables, spans, sends … ─→ code ─→ ir.Builder
//	exprs ─→ reads, texts, stacks, paths, builtins …            ─↗
//
// infer has refused what cannot be compiled. What cannot be made of a tree
// is a bug of the compiler: it panics with a *bug, which Program returns as
// an error.
package ssagen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Program builds the SSA of one program: prologue, then the handler or its variants.

// Code is a program, and behind it the subprograms that it calls.
type Code struct {
	// Funcs are the program itself and, behind it, its subprograms.
	Funcs []*ir.Func
	// Calls are what became of the calls of the script's functions, for explain.
	Calls []Call
}

// Program builds one program of the unit, and behind it the subprograms that it
// calls. stack is how many bytes of the stack each may use for memory:
// DefaultStack, or less.
func (s *Shared) Program(p *tree.Program, stack int, o Outlining) (code *Code, err error) {
	defer func() {
		if r := recover(); r != nil {
			switch e := r.(type) {
			case *bug:
				code, err = nil, fmt.Errorf("program %s: %w", p.Name, e)
			case *TooLarge:
				code, err = nil, e
			default:
				panic(r)
			}
		}
	}()
	loops := map[*tree.Stmt]bool{}
	if s.HasLoop {
		loopsByKernel(p, loops, o == AlwaysCall)
	}
	var b *generator
	for again := true; again; again = b.again {
		b = newTop(s, p, findCallees(p, o, countLocals(p)), loops)
		b.outlining = o
		b.budget = stack
		b.program()
	}
	b.Func.Prune()
	funcs := []*ir.Func{b.Func}
	for todo := b.called; len(todo) > 0; todo = todo[1:] {
		if !slices.Contains(funcs, todo[0].f) {
			funcs = append(funcs, todo[0].f)
			todo = append(todo, todo[0].calls...)
		}
	}
	for _, f := range funcs {
		if err := f.Check(); err != nil {
			return nil, errors.Join(err, errors.New(f.String()))
		}
	}
	return &Code{funcs, append(b.callees.report(), b.reports...)}, nil
}

// newTop begins the program itself.
func newTop(s *Shared, p *tree.Program, calls *callees, loops map[*tree.Stmt]bool) *generator {
	return newGenerator(s, p, &family{walk: func(b *generator) evaluator { return walker{b} }, callees: calls,
		names: map[string]bool{p.Name: true}, calledLoops: loops})
}

// walker is the evaluator of a generator.
type walker struct{ *generator }

func (w walker) expr(e *tree.Expr) val                  { return exprs(w).eval(e) }
func (w walker) cond(e *tree.Expr, then, els *ir.Block) { exprs(w).test(e, then, els) }
func (w walker) inline(e *tree.Expr) val                { return stmts(w).inlineExpr(e) }
func (w walker) block(blk *tree.Block)                  { stmts(w).run(blk) }
func (w walker) ret()                                   { w.leave() }

// program is: what concerns every event, then the handler or its variants.
func (b *generator) program() {
	calls{b.code}.prologue()
	if b.prog.Body != nil {
		b.block(b.prog.Body)
	} else {
		variants{b}.variants(b.prog.Variants)
	}
	b.ret()
}

// ret ends the program. A subprogram, or the body of a loop, tells its caller
// to do so.
func (b *generator) leave() {
	var x *ir.Value
	switch {
	case b.round != nil:
		rounds{b}.leaveRounds(leaveProgram)
		return
	case b.sub != nil:
		b.sub.stops = b.sub.stops || b.Reached()
		x = b.Const(1)
	case b.prog.Attach.Functions().Session != nil && !b.opened:
		x = b.Const(1) // no entry was made, so the session need not see the return
	case b.prog.Attach.Kind() == tree.AttachTracepoint:
		x = b.Const(1) // 0 would take the event from all who read the tracepoint by perf (perf_trace_run_bpf_submit)
	}
	b.Ret(x)
}
