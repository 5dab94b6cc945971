package ssagen

import (
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Calls of subprograms and their bodies: arguments in registers and on the stack, results. What one is given and what
// it gives is said at the type subprogram (generator.go), and which functions become one in callees.go.
//
// The calls of a function f of the script come to equal bodies but for their variables, so there is one subprogram:
//
//	handler: … f(x) … f(y) …     →     r1 = ctx, r2 = x; call f     …     r1 = ctx, r2 = y; call f
//
// The subprogram is built at its first call (makeSub): with a parameter for each word that it can be given (receive),
// then its body (subBody), then its results (give). Only then it is known which of the words it uses and whether it
// needs the context or scratch memory. So finish gives the parameters their registers at the end, and what has no
// register lies on the stack of the caller. Each call passes what is used and leaves out the rest (subArgs).

// viaStack reports whether its results are on the caller's stack.
func (s *subprogram) viaStack() bool { return s.results > 1 || s.stops && s.results > 0 }

// resultWords is how many words of the caller's stack its results take.
func (s *subprogram) resultWords() int {
	if s.viaStack() {
		return s.results
	}
	return 0
}

// stackWords is how many words of the caller's stack it uses, for its results and for the arguments without a register.
func (s *subprogram) stackWords() int {
	n := s.resultWords() - s.inRegs
	for _, g := range s.given {
		if g {
			n++
		}
	}
	return n
}

// maxRegs is how many arguments a call has in registers at most: R1 to R5.
const maxRegs = 5

// subStack is the budget of the stack of a subprogram in bytes. The kernel allows 512 for a program and what it calls
// together.
const subStack = 96

// callStmt is SCall.
func (b subs) callStmt(s *tree.Stmt) {
	site, ok := b.callees.of(s.Then)
	if !ok || !b.callable(site) {
		b.block(s.Then)
		return
	}
	b.callSub(site)
}

// callable reports whether all variables that the subprogram is given are set
// here.
func (b subs) callable(s *callSite) bool {
	return !slices.ContainsFunc(s.of.in, func(i int) bool {
		_, later := b.lazy[s.locals[i]]
		return !later && b.variable(s.locals[i]).t.Kind == types.Bot
	})
}

// callSub calls the subprogram and gives the value of an inline.
func (b subs) callSub(s *callSite) val {
	if s.of.sub == nil {
		s.of.sub = b.makeSub(s.of)
	}
	sub := s.of.sub
	if !slices.Contains(b.called, sub) {
		b.called = append(b.called, sub)
	}
	rc := b.Call(0, b.subArgs(sub, b.liveIns(s))...)
	rc.Sym = sub.f.Name
	if sub.never {
		b.ret()
		return b.absent(s.value, tree.TagPresent)
	}
	if sub.stops {
		b.unless(ir.NE, rc, 0, b.ret)
	}
	at := int64(0)
	next := func() *ir.Value {
		if !sub.viaStack() {
			return rc
		}
		at += 8
		return b.Load(8, b.SlotAddr(b.words, 0), at-8)
	}
	for k, i := range s.of.out {
		b.setVar(s.locals[i], assemble(sub.out[k], next))
	}
	if s.value.Kind == types.Bot {
		return val{}
	}
	return assemble(s.value, next)
}

// liveIns are the words that a subprogram is given.
func (b subs) liveIns(s *callSite) []*ir.Value {
	var out []*ir.Value
	for _, i := range s.of.in {
		l := s.locals[i]
		t := b.prog.Locals[l].Type
		out = b.comps(b.convert(b.expr(&tree.Expr{Op: tree.OpLocal, Int: l, Type: t}), t), out)
	}
	for _, r := range s.of.reads {
		out = b.comps(b.convert(b.expr(r.e), r.e.Type), out)
	}
	for _, i := range s.of.consts {
		out = append(out, b.expr(s.consts[i]).x) // which may be given to this function, too
	}
	for _, c := range s.of.epochs {
		out = append(out, b.epochOf(c))
	}
	return out
}

// epochOf is the epoch of a container, which says what bank of an aggregation is
// filled; 0 where there are none.
func (b subs) epochOf(id int64) *ir.Value {
	if c := b.container(id); c.Agg != nil && c.Agg.Banks > 1 {
		return aggs{b.code}.epoch(c)
	}
	return b.Const(0)
}

// subArgs are the arguments of a call, after what goes by the stack has been
// put there.
func (b subs) subArgs(sub *subprogram, in []*ir.Value) []*ir.Value {
	var args, rest []*ir.Value
	for i, x := range in {
		switch {
		case !sub.given[i]:
		case len(args) < sub.inRegs:
			args = append(args, x)
		default:
			rest = append(rest, x)
		}
	}
	var lead []*ir.Value
	if sub.ctx {
		lead = append(lead, b.ctx())
	}
	if sub.scratch > 0 {
		lead = append(lead, b.addr(b.scratchOf(sub), 0))
	}
	if sub.words != nil {
		words := b.callWords(sub.stackWords())
		for i, x := range rest {
			b.Store(8, b.SlotAddr(words, 0), int64(8*(sub.resultWords()+i)), x)
		}
		lead = append(lead, b.SlotAddr(words, 0))
	}
	return append(lead, args...)
}

// callWords is the slot of what goes by the stack, the same for all calls.
func (b subs) callWords(n int) *ir.Slot {
	if b.words == nil {
		b.words = b.Func.NewSlot(8 * n)
		b.stack += 8 * n
	}
	if grow := 8*n - b.words.Size; grow > 0 {
		b.words.Size += grow
		b.stack += grow
	}
	return b.words
}

// scratchOf is the scratch memory that a subprogram has of this function's.
func (b subs) scratchOf(sub *subprogram) *region {
	r := b.lent[sub]
	if r == nil {
		r = b.scratch(sub.scratch)
		b.lent[sub] = r
	}
	return r
}

// makeSub builds the subprogram of a callee.
func (b subs) makeSub(c *callee) *subprogram {
	n := newGenerator(b.Shared, b.prog, b.family)
	n.Func.Name = b.subName(c.name)
	n.budget = min(b.budget, subStack)
	n.sub = &subprogram{f: n.Func}
	n.Pos = c.body.pos
	params := subs{n}.receive(c.body)
	subs{n}.give(subs{n}.subBody(c.body))
	n.sub.finish(params)
	n.sub.calls, n.sub.cost = n.called, loops{n}.costOf(n.Func.Blocks, n.extra)
	return n.sub
}

// subName makes a name that no function of the program has.
func (b subs) subName(name string) string {
	unique := name
	for i := 2; b.names[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	b.names[unique] = true
	return unique
}

// receive makes the parameters.
func (b subs) receive(s *callSite) []*ir.Value {
	var params []*ir.Value
	next := func() *ir.Value {
		params = append(params, b.Op(ir.OpArg))
		return params[len(params)-1]
	}
	for _, i := range s.of.in {
		l := s.locals[i]
		b.setVar(l, assemble(b.prog.Locals[l].Type, next))
	}
	for _, r := range s.of.reads {
		v := assemble(r.e.Type, next)
		b.remember(r.key, v)
		if name, ok := readNames[r.key]; ok {
			b.remember(name, intVal(types.U64, v.x))
		}
	}
	for _, i := range s.of.consts {
		b.given[s.consts[i]] = next()
	}
	for _, c := range s.of.epochs {
		b.remember(epochUse(c), intVal(types.U64, next()))
	}
	return params
}

// readNames are the names by which build itself asks for builtins.
var readNames = map[any]string{"time": "time_raw", "cpu": "cpu_raw", "task": "task_raw"}

// subBody builds what the subprogram does and gives its results.
func (b subs) subBody(s *callSite) []*ir.Value {
	var results []*ir.Value
	result := func(v val, t types.Type) {
		b.sub.out = append(b.sub.out, t)
		results = b.comps(b.convert(v, t), results)
	}
	var v val
	if s.inline >= 0 {
		v = stmts(b).inlined(s.inline, s.value, s.body)
	} else {
		b.block(s.body)
	}
	if !b.Reached() {
		return nil
	}
	for _, i := range s.of.out {
		l := s.locals[i]
		t := b.prog.Locals[l].Type
		result(b.expr(&tree.Expr{Op: tree.OpLocal, Int: l, Type: t}), t)
	}
	if s.value.Kind != types.Bot {
		result(v, s.value)
	}
	return results
}

// give ends the subprogram with its results.
func (b subs) give(results []*ir.Value) {
	sub := b.sub
	sub.never, sub.results = !b.Reached(), len(results)
	switch {
	case sub.viaStack():
		sub.words = b.Func.NewValue(ir.OpArg, b.Pos)
		for i, x := range results {
			b.Store(8, sub.words, int64(8*i), x)
		}
		b.Cur.Ret(b.Pos, nil)
	case len(results) == 1:
		b.Cur.Ret(b.Pos, results[0])
	default:
		b.Cur.Ret(b.Pos, nil)
	}
}

// finish gives the parameters that are used their places.
func (s *subprogram) finish(params []*ir.Value) {
	s.f.Prune()
	used := s.f.CountUses()
	reg := int64(0)
	lead := []*ir.Value{}
	argument := func(v *ir.Value) {
		v.Op, v.Imm, v.Block = ir.OpArg, reg, s.f.Blocks[0]
		lead = append(lead, v)
		reg++
	}
	if s.ctx = usesCtx(s.f); s.ctx {
		reg++
	}
	if s.scratch = s.f.ScratchSize; s.scratch > 0 {
		base := s.f.NewValue(ir.OpArg, beginning(s.f))
		argument(base)
		replaceScratch(s.f, base)
	}
	n := 0
	for _, p := range params {
		s.given = append(s.given, used[p.ID] > 0)
		if used[p.ID] > 0 {
			n++
		}
	}
	if s.words == nil && int(reg)+n > maxRegs {
		s.words = s.f.NewValue(ir.OpArg, beginning(s.f))
	}
	if s.words != nil {
		argument(s.words)
	}
	s.inRegs = min(n, maxRegs-int(reg))
	var loads []*ir.Value
	for i, p := range params {
		switch {
		case !s.given[i]:
		case reg < maxRegs:
			argument(p)
		default:
			p.Op, p.Args, p.Imm = ir.OpLoad64, []*ir.Value{s.words}, int64(8*(s.resultWords()+len(loads)))
			loads = append(loads, p)
		}
	}
	entry := s.f.Blocks[0]
	entry.Values = slices.Concat(lead, loads, entry.Values[len(params):])
}

// beginning is a place in the script for what belongs to the whole of f.
func beginning(f *ir.Func) ir.Pos { return f.Blocks[0].Term.Pos }

// usesCtx reports whether f asks for the context.
func usesCtx(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpCtx }) {
			return true
		}
	}
	return false
}

// replaceScratch makes f's scratch memory that of its caller at base.
func replaceScratch(f *ir.Func, base *ir.Value) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpScratch {
				v.Op, v.Args = ir.OpAdd, []*ir.Value{base}
			}
		}
	}
	f.ScratchSize = 0
}
