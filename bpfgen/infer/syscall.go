package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// spanState is what one variant of a span keeps from its start to its end.
type spanState struct {
	span  *tree.Span
	start *body
	end   *body
	vals  map[int]*tree.Expr // slot → expression at the start
	// order has the slots in the order in which the walk for the first start
	// point asked for them; the walks for others (first unset) get the same.
	order *[]int
	first bool
	turn  int
	// differ is called where a later walk asks for something else.
	differ func()
	// retry: what the start could not read can be read at the end.
	retry bool
	// image is set at calls of execve: what they were given can be read of the new program.
	image *newImage
}

// bring makes a value of the start a slot of the span.
func (st *spanState) bring(b *body, v val) val {
	if v.comp {
		out := v
		out.start, out.elems = nil, make([]val, len(v.elems))
		for i, e := range v.elems {
			if e.start == nil {
				e.start = v.start
			}
			out.elems[i] = b.here(e)
		}
		return out
	}
	if v.expr == nil {
		v.start = nil
		return v
	}
	var i int
	switch {
	case st.order == nil:
		i = st.slot(v.expr, v.field)
	case st.first:
		i = st.slot(v.expr, v.field)
		*st.order = append(*st.order, i)
	default:
		i = st.again(v.expr, v.field)
	}
	slot := &tree.Expr{Op: tree.OpSpanSlot, Type: st.span.Slots[i], Int: int64(i), Pos: v.expr.Pos}
	if st.image != nil {
		if e := st.image.read(b, st, v, slot); e != nil {
			return exprVal(e)
		}
	}
	if st.retry && v.expr.Op == tree.OpStr && v.expr.Str != tree.Kernel && v.expr.Type.MayFault {
		slot = st.readAgain(b, v, slot)
	}
	return exprVal(slot)
}

// readAgain is a string that is read at the end if the start could not read
// it: programs may not wait for a page that is not in memory, but the call
// itself has read the string since.
func (st *spanState) readAgain(b *body, v val, slot *tree.Expr) *tree.Expr {
	e := *v.expr
	e.Args = make([]*tree.Expr, len(v.expr.Args))
	for i, a := range v.expr.Args {
		if a.Op != tree.OpConst {
			a = st.bring(b, val{expr: a, start: v.start}).expr
		}
		e.Args[i] = a
	}
	fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{slot}, Pos: e.Pos}
	return &tree.Expr{Op: tree.OpCond, Type: e.Type, Args: []*tree.Expr{fault, &e, slot}, Pos: e.Pos}
}

// slot finds or makes the slot that keeps e, which the script calls field.
func (st *spanState) slot(e *tree.Expr, field string) int {
	name := slotName(e, field)
	for i := range st.span.Slots {
		if have, ok := st.vals[i]; ok && sameExpr(have, e) {
			return i
		}
	}
	for i, t := range st.span.Slots {
		if _, taken := st.vals[i]; !taken && t.Equal(e.Type) && st.shares(i, name) {
			st.vals[i] = e
			return i
		}
	}
	st.span.Slots = append(st.span.Slots, e.Type)
	st.span.Names = append(st.span.Names, name)
	i := len(st.span.Slots) - 1
	st.vals[i] = e
	return i
}

// shares reports whether another call's value can have slot i too, which in
// spans of the script has one name.
func (st *spanState) shares(i int, name string) bool {
	if st.span.Names[i] == name {
		return true
	}
	if st.span.Plan == nil {
		st.span.Names[i] = tree.Unnamed
	}
	return st.span.Plan == nil
}

func slotName(e *tree.Expr, field string) string {
	if field != "" {
		return field
	}
	if e.Op == tree.OpBuiltin {
		return e.Str
	}
	return tree.Unnamed
}

// close emits the statement that opens the entry, at the end of the start.
func (st *spanState) close(pos plan.Pos) {
	s := &tree.Stmt{Op: tree.SSpanStart, Int: int64(st.start.prog.Attach.Span), Pos: pos}
	s.Exprs = slotValues(st.span, st.vals, pos)
	st.start.opens(s)
}

// systemCalls are those that a pattern matched. Their calls are spans.
type systemCalls struct {
	ofSpan
	list []kernel.Syscall
	all  bool // syscall:*
}

// syscalls gives the target of syscall:NAME.
func (u finder) syscalls(p *plan.Pattern) []*target {
	fields(p, 1, "syscall:NAME")
	list := u.knownCalls(kernel.MatchSyscalls(p.Args[0]))
	if len(list) == 0 {
		wrong(p.Pos, "no system call matches %s%s", p.Text, hint(p.Args[0], kernel.SyscallNames()))
	}
	name := p.Args[0]
	if kernel.IsPattern(name) {
		name = "syscalls"
	}
	return []*target{{source: &systemCalls{list: list, all: p.Args[0] == "*"}, text: "syscall:" + p.Args[0], name: name,
		pos: p.Pos}}
}

// names has those of other interfaces once.
func (s *systemCalls) names(*target) (out []string) {
	for _, sc := range s.list {
		if name := "syscall:" + sc.Name; sc.Entry == kernel.EntryNative || !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (s *systemCalls) argNames(*unit) (out []string) {
	for _, sc := range s.list {
		for _, a := range sc.Args {
			out = append(out, a.Name)
		}
	}
	return out
}

func (s *systemCalls) argCount(*unit) (n int) {
	for _, sc := range s.list {
		n = max(n, len(sc.Args))
	}
	return n
}

// kept: the thread is the key.
func (*systemCalls) kept() []string { return []string{"time"} }

// program makes the two programs of syscall:NAME. System calls for which
// the probe does the same share a variant.
func (s *systemCalls) program(pr *probe, t *target) {
	id := len(pr.u.res.Tree.Spans)
	span := &tree.Span{Probe: pr.p.ID, Size: plan.DefaultSize, Pos: pr.p.Pos}
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, span)
	span.Check, span.Exempt = pr.u.finder().spanCheck(s.list)
	w := &syscallWalk{pr: pr, t: t, of: s, span: span,
		enter: pr.syscallProgram(t, id, tree.SyscallEnter{}, "in"),
		exit:  pr.syscallProgram(t, id, tree.SyscallExit{}, "out")}
	for i := range s.list {
		w.one(&s.list[i])
	}
	if !s.all {
		span.Syscalls = numbers(s.list)
	}
	w.assemble()
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, w.exit, w.enter)
}

// spanCheck gives the registers by which the end of a call is known to belong
// to its start, on kernels where calls can be missed. arm64 returns the result
// in the register of the first argument.
func (u finder) spanCheck(list []kernel.Syscall) (check, exempt []int) {
	if !u.facts.MissesCalls() {
		return nil, nil
	}
	regs := kernel.RegisterOffsets("")
	for _, off := range append(regs.SyscallArgs[:], regs.SP) {
		if off != regs.Ret {
			check = append(check, off)
		}
	}
	for _, sc := range list {
		if readsAtStart(&sc) {
			exempt = append(exempt, sc.Nr)
		}
	}
	return check, exempt
}

func (pr *probe) syscallProgram(t *target, span int, way tree.Way, suffix string) *tree.Program {
	what := t.name[:min(len(t.name), 8)]
	return &tree.Program{
		Name:  pr.u.programName(pr.p.ID, what+"_"+suffix),
		Probe: pr.p.ID, Attach: tree.Attach{Way: way, Span: span},
	}
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
	pr          *probe
	t           *target
	of          *systemCalls
	span        *tree.Span
	enter, exit *tree.Program
	variants    []*variant
}

// A variant is what the probe does for some system calls.
type variant struct {
	syscalls []int
	noReturn bool
	forks    bool
	log      []access
	enter    *tree.Block
	exit     *tree.Block
	state    *spanState
	args     *syscallArgs
}

// An access is a question about a system call's arguments and its answer.
// Two calls that answer all questions alike share a variant.
type access struct{ question, answer string }

func (w *syscallWalk) one(sc *kernel.Syscall) {
	for _, v := range w.variants {
		if v.noReturn == sc.IsNoReturn() && v.forks == forks(sc) && v.serves(sc) {
			v.syscalls = append(v.syscalls, sc.Nr)
			return
		}
	}
	v := &variant{syscalls: []int{sc.Nr}, noReturn: sc.IsNoReturn(), forks: forks(sc), args: &syscallArgs{sc: sc}}
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
func (v *variant) serves(sc *kernel.Syscall) bool {
	for _, a := range v.log {
		if answer(sc, a.question) != a.answer {
			return false
		}
	}
	return true
}

// newBodies makes the walkers of one variant over the shared programs.
func (w *syscallWalk) walker(prog *tree.Program) *body {
	return &body{u: w.pr.u, pr: w.pr, prog: prog, block: &tree.Block{}}
}

// walk makes the variant of calls that return.
func (w *syscallWalk) walk(v *variant) {
	start, end := w.walker(w.enter), w.walker(w.exit)
	v.enter, v.exit = start.block, end.block
	st := &spanState{span: w.span, start: start, end: end, vals: map[int]*tree.Expr{}, retry: !readsAtStart(v.args.sc)}
	if readsAtStart(v.args.sc) {
		st.image = &newImage{v.args}
	}
	v.state = st
	end.span, start.span = st, st
	startEv := w.event(v, start, nil)
	ev := w.event(v, end, startEv)
	w.pr.targetTest(start, startEv)
	w.pr.targetTest(end, ev)
	filtered := w.pr.atStart(start, startEv, w.t)
	start.lazy = true
	w.child(end, v)
	s := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.exit.Attach.Span), Pos: w.pr.p.Pos}
	if filtered {
		s.Str = "filtered"
	}
	end.emit(s)
	w.pr.consume(end, ev, w.t)
}

// child leaves out the return of a new process or thread from fork and
// clone: it has no entry of its own, and that is no loss.
func (w *syscallWalk) child(end *body, v *variant) {
	if !v.forks {
		return
	}
	pos := w.pr.p.Pos
	zero := operation(tree.OpNe, types.Boolean, load(ctxPlace(end, 8, pos), types.I64, pos),
		intExpr(0, pos), pos)
	end.require(cond{expr: zero}, pos)
}

// forks reports whether the call returns twice.
func forks(sc *kernel.Syscall) bool {
	return slices.Contains([]string{"clone", "clone3", "fork", "vfork"}, sc.Name)
}

func syscallNr(pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "syscall_nr", Pos: pos}
}

// walkNoReturn makes the variant of exit and exit_group, which fire at their
// start.
func (w *syscallWalk) walkNoReturn(v *variant) {
	b := w.walker(w.enter)
	v.enter = b.block
	ev := w.event(v, b, nil)
	ev.startEv, ev.noReturn = ev, true
	ev.othersReturn = slices.ContainsFunc(w.of.list, func(sc kernel.Syscall) bool { return !sc.IsNoReturn() })
	ev.ret = func(plan.Pos) val { return noneVal() }
	ev.duration = func(plan.Pos) val { return intVal(0) }
	w.pr.targetTest(b, ev)
	w.pr.consume(b, ev, w.t)
}

// event is e of one variant in one of the two programs.
func (w *syscallWalk) event(v *variant, b *body, startEv *event) *event {
	args := *v.args
	args.shared = v.args
	args.end = startEv != nil
	if startEv != nil {
		args.start = startEv.b
	}
	ev := &event{b: b, point: w.t.text, args: &args, startEv: startEv}
	ev.fn = func(pos plan.Pos) val { return w.named("syscall_name", "", pos) }
	ev.name = func(pos plan.Pos) val { return w.named("syscall_point", "syscall:", pos) }
	if startEv != nil {
		ev.ret = func(pos plan.Pos) val {
			return exprVal(w.signed(args.result(load(ctxPlace(b, 8, pos), types.I64, pos), pos), pos))
		}
		ev.duration = func(pos plan.Pos) val { return elapsed(b, ev, startEv, pos) }
	}
	return ev
}

// named is the system call by name: a constant if there is only one, else
// its number, which readers see as text.
func (w *syscallWalk) named(label, prefix string, pos plan.Pos) val {
	if list := w.t.names(w.t); len(list) == 1 {
		return strVal(prefix + strings.TrimPrefix(list[0], "syscall:"))
	}
	e := syscallNr(pos)
	if slices.ContainsFunc(w.of.list, func(sc kernel.Syscall) bool { return sc.Entry != kernel.EntryNative }) {
		e.Str = "syscall_name"
	}
	e.Type.Label = label
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
			if len(w.variants) == 1 && w.of.all {
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

// syscallArgs is e.args of a system call.
type syscallArgs struct {
	sc *kernel.Syscall
	// end: read at the end, from the slots that start fills.
	end    bool
	start  *body
	log    []access
	shared *syscallArgs
}

func (a *syscallArgs) note(question string) {
	a.shared.log = append(a.shared.log, access{question, answer(a.sc, question)})
}

// answer gives what a variant depends on.
func answer(sc *kernel.Syscall, question string) string {
	switch question {
	case "":
		return fmt.Sprint(sc.Nr) // everything about the call
	case askInterface:
		return fmt.Sprint(sc.Entry)
	}
	for i, arg := range sc.Args {
		if arg.Name == question || fmt.Sprint(i) == question {
			return fmt.Sprintf("%d %s %t %d %s %d %v", i, arg.CType, readsAtStart(sc), arg.Creating, arg.Use, sc.Entry,
				sc.Place(i))
		}
	}
	return ""
}

// readsAtStart: what execve was given is gone when it returns.
func readsAtStart(sc *kernel.Syscall) bool { return strings.HasPrefix(sc.Name, "execve") }

func (a *syscallArgs) names() []string {
	a.note("")
	var out []string
	for _, arg := range a.sc.Args {
		out = append(out, arg.Name)
	}
	return out
}

func (a *syscallArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	a.note(name)
	for i, arg := range a.sc.Args {
		if arg.Name == name {
			return a.arg(b, i, pos), true
		}
	}
	return val{}, false
}

func (a *syscallArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	a.note(fmt.Sprint(i))
	if i < 0 || i >= len(a.sc.Args) {
		return val{}, false
	}
	return a.arg(b, i, pos), true
}

// arg reads argument i: its value at the start, memory behind it where b is.
func (a *syscallArgs) arg(b *body, i int, pos plan.Pos) val {
	spec := a.sc.Args[i]
	word := a.word(i, pos)
	if !a.end {
		return b.memory().takenArg(b.words().syscallArg(word, spec, pos), spec,
			func(i int) *tree.Expr { return b.rv(a.arg(b, i, pos), pos) })
	}
	if readsAtStart(a.sc) && (spec.IsString || spec.IsStringList) {
		v := a.start.words().syscallArg(word, spec, pos)
		v.start = a.start
		return v
	}
	kept := b.here(val{expr: word, start: a.start, field: spec.Name})
	return b.memory().takenArg(b.words().syscallArg(kept.expr, spec, pos), spec,
		func(i int) *tree.Expr { return b.rv(a.arg(b, i, pos), pos) })
}

// syscallArg gives a register the meaning of an argument.
func (b words) syscallArg(word *tree.Expr, spec kernel.SyscallArg, pos plan.Pos) val {
	as := func(t types.Type) val {
		return exprVal(&tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{word}, Pos: pos})
	}
	switch {
	case spec.IsString:
		return exprVal(b.memory().cstring(place{word, 0, tree.User, b.body}, b.u.strMax+1, 0, pos))
	case spec.IsStringList:
		list := b.memory().stringList(place{word, 0, tree.User, b.body}, pos)
		if spec.Narrow {
			list.BitSize = 32
		}
		return exprVal(list)
	case spec.IsPtr:
		t := types.Type{Kind: types.Ptr, Narrow: spec.Narrow}
		ctype := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(spec.CType), "*"), "const "))
		if tag, ok := strings.CutPrefix(ctype, "struct "); ok {
			if btf, err := b.u.facts.BTF(); err == nil {
				t.BTF, _ = btf.Named(kernel.KindStruct, strings.TrimSpace(tag))
			}
		}
		return as(t)
	case spec.Size < 8:
		return as(types.IntOf(uint8(spec.Size*8), spec.Signed))
	case spec.Signed:
		return as(types.I64)
	}
	return exprVal(word)
}
