package infer

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The programs of syscall:NAME at the start and the end of calls, with a variant for each call that differs.

// systemCalls makes the two programs of syscall:NAME. System calls for which
// the probe does the same share a variant.
func (pr *probe) systemCalls(t *points.Target, s *points.SystemCalls) {
	pr.u.res.Tree.Compat, pr.u.res.Tree.X32 = points.CompatMark(pr.u.facts), points.HasX32(pr.u.facts)
	id := len(pr.u.res.Tree.Spans)
	span := &tree.Span{Probe: pr.p.ID, Size: plan.DefaultSize, Pos: pr.p.Pos}
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, span)
	numberStarts(pr, span)
	span.Check, span.Exempt = pr.u.spanCheck(s)
	w := &syscallWalk{pr: pr, t: t, of: s, span: span,
		enter:  pr.syscallProgram(t, id, tree.SyscallEnter{Exact: s.Exact}, "in"),
		exit:   pr.syscallProgram(t, id, tree.SyscallExit{Exact: s.Exact}, "out"),
		others: slices.ContainsFunc(s.List, func(sc kernel.Syscall) bool { return sc.Entry != kernel.EntryNative })}
	if names := t.Names(); len(names) == 1 {
		w.only = strings.TrimPrefix(names[0], "syscall:")
	}
	for i := range s.List {
		w.one(&s.List[i])
	}
	if s.All {
		span.Except = numbers(callsOfProbes())
	} else {
		span.Syscalls = numbers(s.List)
	}
	w.assemble()
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, w.exit, w.enter)
}

// spanCheck gives the registers by which the end of a call is known to belong
// to its start, on kernels where calls can be missed. arm64 returns the result
// in the register of the first argument.
func (u *unit) spanCheck(s *points.SystemCalls) (check, exempt []int) {
	if !u.facts.MissesCalls() || s.Exact {
		return nil, nil
	}
	regs := kernel.RegisterOffsets("")
	for _, off := range append(regs.SyscallArgs[:], regs.SP) {
		if off != regs.Ret {
			check = append(check, off)
		}
	}
	for _, sc := range s.List {
		if readsAtStart(&sc) {
			exempt = append(exempt, sc.Nr)
		}
	}
	return check, exempt
}

func (pr *probe) syscallProgram(t *points.Target, span int, way tree.Way, suffix string) *tree.Program {
	what := t.Name[:min(len(t.Name), 8)]
	return &tree.Program{
		Name:  pr.u.programName(pr.p.ID, what+"_"+suffix),
		Probe: pr.p.ID, Attach: tree.Attach{Way: way, Span: span},
	}
}

// callsOfProbes are the system calls that no program makes.
func callsOfProbes() (out []kernel.Syscall) {
	for _, sc := range kernel.Syscalls() {
		if sc.IsOfProbes() {
			out = append(out, sc)
		}
	}
	return out
}

func numbers(list []kernel.Syscall) []int {
	var out []int
	for _, sc := range list {
		out = append(out, sc.Nr)
	}
	slices.Sort(out)
	return out
}

// syscallWalk makes the variants of a span.
type syscallWalk struct {
	// pr is the probe.
	pr *probe
	// t is the target, and of the calls that it stands for.
	t  *points.Target
	of *points.SystemCalls
	// span is where calls are kept while they are open.
	span *tree.Span
	// enter and exit are the programs at the begin and the end of all calls; each has a part for each variant.
	enter, exit *tree.Program
	// only is the name of all the calls, "" where they have several. others: some are not of the native interface.
	only   string
	others bool
	// variants are those made so far. A call joins the first of which it answers all questions alike.
	variants []*variant
}

// A variant is what the probe does for some system calls.
type variant struct {
	// syscalls are the numbers of the calls.
	syscalls []int
	// noReturn: the calls never return, so the event is their start.
	noReturn bool
	// forks: they return in a new process, too.
	forks bool
	// log are the questions of the walk, with the answers that these calls gave.
	log []access
	// enter and exit are its parts of the two programs.
	enter *tree.Block
	exit  *tree.Block
	// state is what it keeps from the start to the end; nil for calls that never return.
	state *spanState
	// args are the arguments as the first of the calls has them.
	args *syscallArgs
}

func (w *syscallWalk) one(sc *kernel.Syscall) {
	answers := answersOf(sc)
	for _, v := range w.variants {
		if v.noReturn == sc.IsNoReturn() && v.forks == sc.Forks() && v.serves(answers) {
			v.syscalls = append(v.syscalls, sc.Nr)
			return
		}
	}
	v := &variant{syscalls: []int{sc.Nr}, noReturn: sc.IsNoReturn(), forks: sc.Forks(), args: &syscallArgs{sc: sc}}
	w.variants = append(w.variants, v)
	if v.noReturn {
		w.span.NoReturn = append(w.span.NoReturn, sc.Nr)
		w.walkNoReturn(v)
	} else {
		w.walk(v)
	}
	v.log = v.args.log
}

// serves replays the questions of v for another system call.
func (v *variant) serves(call *answers) bool {
	for _, a := range v.log {
		if call.to(a.question) != a.answer {
			return false
		}
	}
	return true
}

// walker makes a walker of one variant over a shared program.
func (w *syscallWalk) walker(prog *tree.Program) *body {
	return &body{u: w.pr.u, pr: w.pr, prog: prog, block: &tree.Block{}}
}

// walk makes the variant of calls that return.
func (w *syscallWalk) walk(v *variant) {
	start, end := w.walker(w.enter), w.walker(w.exit)
	v.enter, v.exit = start.block, end.block
	st := newStart(w.pr, w.span, start, end)
	if st.retry = !readsAtStart(v.args.sc); !st.retry {
		st.image = &newImage{v.args}
	}
	v.state = st
	end.span, start.span = st, st
	startEv := w.event(v, start, nil)
	ev := w.event(v, end, startEv)
	w.pr.targetTest(start, startEv)
	w.pr.testEnd(end, ev)
	filtered := w.pr.atStart(start, startEv, w.t)
	start.lazy = true
	w.child(end, v)
	s := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.exit.Attach.Span), Pos: w.pr.p.Pos}
	if filtered || w.pr.u.plan.Target.Passing() {
		s.Str = "filtered"
	} else {
		w.span.Ends = true
	}
	end.emit(s)
	w.countSeen(end, filtered)
	w.pr.consume(end, ev, w.t)
}

// child leaves out the return of a new process or thread from fork and
// clone: it has no entry of its own, and that is no loss.
func (w *syscallWalk) child(end *body, v *variant) {
	if !v.forks {
		return
	}
	pos := w.pr.p.Pos
	zero := operation(tree.OpNe, types.Boolean, callResult(end, pos),
		intExpr(0, pos), pos)
	end.require(cond{expr: zero}, pos)
}

// walkNoReturn makes the variant of exit and exit_group, which fire at their
// start.
func (w *syscallWalk) walkNoReturn(v *variant) {
	b := w.walker(w.enter)
	v.enter = b.block
	ev := w.event(v, b, nil)
	ev.startEv, ev.noReturn = ev, true
	ev.othersReturn = slices.ContainsFunc(w.of.List, func(sc kernel.Syscall) bool { return !sc.IsNoReturn() })
	ev.ret = func(pos plan.Pos) val { return w.pr.noResult(ev, pos) }
	ev.duration = func(plan.Pos) val { return intVal(0) }
	w.pr.targetTest(b, ev)
	w.countSeen(b, false)
	w.pr.consume(b, ev, w.t)
}

// noResult is e.ret of a call that never returns. Where others of the probe return, a handler that computes with it
// ends at this one, as its user half does. A test of where= does not hold instead, and what is always None is refused.
func (pr *probe) noResult(ev *event, pos plan.Pos) val {
	if ev.othersReturn && !pr.u.noneEnds {
		return exprVal(absentInt(pos))
	}
	return noneVal()
}

// onePoint is the name of a point that the event is of: of several system calls the first that is walked like this.
func (ev *event) onePoint() string {
	if a, ok := ev.args.(*syscallArgs); ok {
		return "syscall:" + a.sc.Name
	}
	return ev.point
}

// event is e of one variant in one of the two programs.
func (w *syscallWalk) event(v *variant, b *body, startEv *event) *event {
	args := *v.args
	args.shared = v.args
	args.end = startEv != nil
	if startEv != nil {
		args.start = startEv.b
	}
	ev := &event{b: b, point: w.t.Text, args: &args, startEv: startEv}
	ev.fn = func(pos plan.Pos) val { return w.named("syscall_name", "", pos) }
	ev.name = func(pos plan.Pos) val { return w.named("syscall_point", "syscall:", pos) }
	if startEv != nil {
		ev.ret = func(pos plan.Pos) val {
			return exprVal(w.signed(args.result(callResult(b, pos), pos), pos))
		}
		ev.duration = func(pos plan.Pos) val { return elapsed(b, ev, startEv, pos) }
	}
	return ev
}

// named is the system call by name: a constant if there is only one, else
// its number, which readers see as text.
func (w *syscallWalk) named(label, prefix string, pos plan.Pos) val {
	if w.only != "" {
		return strVal(prefix + w.only)
	}
	e := syscallNr(pos)
	if w.others {
		e.Str = "syscall_name"
	}
	e.Type.Label = label
	if !w.of.All {
		w.pr.u.calls[e] = w.of.List
	}
	return exprVal(e)
}

// assemble puts the variants together once their statements are complete.
func (w *syscallWalk) assemble() {
	w.pr.closers = append(w.pr.closers, func() {
		for _, v := range w.variants {
			slices.Sort(v.syscalls)
		}
		slices.SortStableFunc(w.variants,
			func(v, x *variant) int { // what is alike is together where a program is split
				return kernel.NameNumber(v.syscalls[0]) - kernel.NameNumber(x.syscalls[0])
			})
		for _, v := range w.variants {
			list := v.syscalls
			if len(w.variants) == 1 && w.of.All {
				list = nil
			}
			if v.state != nil {
				v.state.close(w.pr.p.Pos)
				w.exit.Variants = append(w.exit.Variants, tree.Variant{Syscalls: list, Body: v.exit})
			}
			w.enter.Variants = append(w.enter.Variants, tree.Variant{Syscalls: list, Body: v.enter})
		}
	})
}

// signed is the result of the calls of w, that of an int without its sign made one.
func (w *syscallWalk) signed(ret *tree.Expr, pos plan.Pos) *tree.Expr {
	var is *tree.Expr
	for _, sc := range w.of.List {
		if sc.Name != unsignedInt {
			continue
		}
		this := operation(tree.OpEq, types.Boolean, syscallNr(pos), intExpr(int64(sc.Nr), pos), pos)
		if is == nil {
			is = this
		} else {
			is = logic(tree.OpLOr, is, this, pos)
		}
	}
	if is == nil {
		return ret
	}
	return conditional(is, convert(convert(ret, types.S32), types.I64), ret, pos)
}

// unsignedInt is the call of x86 that gives an int without its sign: -ENOSYS as 4294967258, in both interfaces
// (arch/x86/kernel/ldt.c). Programs take it for an int, as it is declared.
const unsignedInt = "modify_ldt"

// countSeen counts a call that the programs have seen, on kernels where they can miss some: what is missing in the
// number of all calls was missed (package callcount). It is not counted where the start passes over calls of processes
// that are traced. Those of programs of 32 bits and of x32 are left out, as perf does not count them by name.
func (w *syscallWalk) countSeen(b *body, filtered bool) {
	if w.span.Check == nil || filtered || w.pr.u.plan.Target.Passing() {
		return
	}
	pos := w.pr.p.Pos
	count := &tree.Stmt{Op: tree.SCount, Int: int64(tree.SiteSeen), Pos: pos}
	if w.of.All || !w.others {
		b.emit(count)
		return
	}
	native := operation(tree.OpLt, types.Boolean, syscallNr(pos), intExpr(kernel.TableSize, pos), pos)
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{native}, Then: b.inBlock(func() { b.emit(count) }), Pos: pos})
}
