package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// This file makes the programs of func:NAME and ufunc:BINARY:NAME: one at the
// entry, one at the return, for each set of functions for which the probe does
// the same. Calls of functions nest, so their entries are kept by thread and
// depth (tree.Span.Nested).

func (*functionCalls) span() bool                   { return true }
func (c *functionCalls) single(t *target) []*target { return []*target{t} }
func (*functionCalls) attach(t *target) tree.Attach { return ofSpan{}.attach(t) }

func (*functionCalls) event(t *target, b *body) *event { return ofSpan{}.event(t, b) }

// kept: the key is the thread's, or the goroutine's, and the depth.
func (*functionCalls) kept() []string { return []string{"time", "tid"} }

// kernelSpan gives the target of func:NAME with the best way to attach that
// this kernel has. Trampolines are cheap but one for each function, and where
// the kernel preempts them (6.14 on) they miss calls; kprobe_multi attaches many at
// once and misses none, but keeps a bounded number of calls open before 6.14.
func (u finder) kernelSpan(p *plan.Pattern) []*target {
	fields(p, 1, "func:FUNCTION")
	_, name := moduleOf(p)
	fs := &functions{mech: tree.AttachKprobe}
	t := &target{source: &functionCalls{functions: fs}, name: name, text: p.Text, pos: p.Pos}
	if kernel.IsPattern(t.name) {
		t.name = "func"
	}
	for _, fn := range u.matchFunctions(p, name) {
		place := tree.Place{Func: fn.Name, Module: fn.Module, BTF: fn.BTF}
		fs.funcs = append(fs.funcs, &funcPoint{name: fn.Name, text: "func:" + fn.Name, place: place, proto: fn})
	}
	has := u.facts.Features()
	multi := has.Kprobe && has.KprobeMulti && (len(fs.funcs) > maxTrampolines || u.facts.MissesCalls())
	if !multi && u.facts.Trampolines().There && u.trampolines(fs) {
		fs.mech = tree.AttachFentry
		return []*target{t}
	}
	if !multi {
		u.notef(p.Pos, "%s: %s, so kprobes at entry and return are used", p.Text, u.whyNoTrampoline(fs))
	}
	u.mustHave(has.Kprobe, "way to probe functions", has.Why["kprobe"], p)
	return []*target{t}
}

// sessionIsReturn is the function by which a program that runs at the entry and
// at the return knows where it is (kernel/trace/bpf_trace.c, 6.10). It takes
// nothing, from 7.1 on the context.
const sessionIsReturn = "bpf_session_is_return"

// session is its number in BTF where the calls of t can be seen by one program;
// 0: there are two.
func (u finder) session(t *target, fs *functions) uint32 {
	var way string
	switch has := u.facts.Features(); {
	case fs.mech == tree.AttachKprobe && has.KprobeSession:
		way = "kprobe session"
	case fs.mech == tree.AttachUprobe && has.UprobeSession && len(fs.funcs[0].returns) == 0:
		way = "uprobe session"
	default:
		return 0
	}
	b, err := u.facts.BTF()
	if err != nil {
		return 0
	}
	id, ok := b.Named(kernel.KindFunc, sessionIsReturn)
	if !ok {
		return 0
	}
	u.notef(t.pos, "%s: one program at entry and return (%s)", t.text, way)
	return uint32(id)
}

// maxTrampolines is up to how many functions get trampolines: each has programs
// of its own. In an emulated guest with Linux 6.18 (startrace -v) 10 functions took
// 1.4 s to load and 0.9 s to attach, 78 by one session of kprobes 0.4 s and 0.3 s.
const maxTrampolines = 16

// ends are the ways to attach to the return that go with those to the entry.
var ends = map[tree.AttachKind]tree.AttachKind{
	tree.AttachKprobe: tree.AttachKretprobe, tree.AttachFentry: tree.AttachFexit,
	tree.AttachUprobe: tree.AttachUretprobe,
}

// A spanProgram are the two programs of some functions.
type spanProgram struct {
	enter, exit *tree.Program
	log         []access
}

// program makes the programs of a target of calls.
func (c *functionCalls) program(pr *probe, t *target) {
	span := &tree.Span{Probe: pr.p.ID, Size: plan.DefaultSize, Nested: true, User: c.mech == tree.AttachUprobe,
		Pos: t.pos}
	if c.mech == tree.AttachUprobe && len(c.funcs[0].returns) == 0 {
		span.MaxDepth = maxReturnProbes
	}
	w := &funcSpanWalk{pr: pr, t: t, fs: c.functions, span: span, id: len(pr.u.res.Tree.Spans),
		session: pr.u.finder().session(t, c.functions)}
	w.shared = slices.ContainsFunc(c.funcs, func(f *funcPoint) bool { return f.others > 0 })
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, span)
	pr.u.finder().findTaskProcess()
	for _, f := range c.funcs {
		if !w.joins(f) {
			w.one(f)
		}
	}
}

// maxReturnProbes is how many return addresses the kernel replaces on one stack
// (MAX_URETPROBE_DEPTH, include/linux/uprobes.h): calls further in are not seen
// to end.
const maxReturnProbes = 64

// findTaskProcess notes where a task has the number of its process, for CallFree.
func (u finder) findTaskProcess() {
	btf, err := u.facts.BTF()
	if err != nil {
		return
	}
	if at, err := offset(btf, "task_struct", "tgid"); err == nil {
		u.res.Tree.TaskProcess = int64(at)
	}
}

// funcSpanWalk makes the programs of calls of functions: one at the entry and one at the return, for all functions of
// which the probe asks the same.
type funcSpanWalk struct {
	// pr is the probe.
	pr *probe
	// t is what its pattern comes to, and fs the functions of that.
	t  *target
	fs *functions
	// span is where the calls are kept while they are open, id its number in the unit.
	span *tree.Span
	id   int
	// programs are those made so far. A function joins the first of which it answers all questions alike.
	programs []*spanProgram
	session  uint32 // see unit.session
	// shared: some ends are those of other functions too, so one without a start
	// says nothing.
	shared bool
}

func (w *funcSpanWalk) joins(f *funcPoint) bool {
	if !w.fs.shares() {
		return false
	}
	for _, p := range w.programs {
		if serves(p.log, f) {
			p.enter.Attach.Functions().Add(w.entry(f))
			p.exit.Attach.Functions().Add(w.ends(f))
			return true
		}
	}
	return false
}

func (w *funcSpanWalk) entry(f *funcPoint) []tree.Place {
	return w.pr.withCookie(f, []tree.Place{f.place})
}

func (w *funcSpanWalk) ends(f *funcPoint) []tree.Place { return w.pr.withCookie(f, f.ends()) }

func (w *funcSpanWalk) program(f *funcPoint, suffix string) *tree.Program {
	name := cleanName(f.name)
	return &tree.Program{Name: w.pr.u.programName(w.pr.p.ID, name[:min(len(name), 8)]+suffix), Probe: w.pr.p.ID}
}

// one makes the programs for f and for the functions that will join it.
func (w *funcSpanWalk) one(f *funcPoint) {
	p := &spanProgram{enter: w.program(f, "_in"), exit: w.program(f, "_out")}
	w.programs = append(w.programs, p)
	enter, exit := w.fs.at(w.entry(f)), w.fs.at(w.ends(f))
	if w.session != 0 {
		enter.Session = &tree.Session{Return: p.exit.Name, IsReturn: w.session}
	}
	if exit.Mech = ends[w.fs.mech]; len(f.returns) > 0 {
		exit.Mech = tree.AttachUprobe
	}
	enter.Cookies = w.pr.cookies && w.fs.shares()
	exit.Cookies = enter.Cookies
	p.enter.Attach, p.exit.Attach = tree.Attach{Way: enter, Span: w.id}, tree.Attach{Way: exit, Span: w.id}
	w.walk(p, w.fs.view(f, &p.log))
	w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, p.exit, p.enter)
}

func (w *funcSpanWalk) walk(p *spanProgram, f *funcView) {
	pr, pos := w.pr, w.t.pos
	start, end := newBody(pr, p.enter), newBody(pr, p.exit)
	st := &spanState{span: w.span, start: start, end: end, vals: map[int]*tree.Expr{}, retry: f.user}
	start.span, end.span = st, st
	startEv := w.event(start, f, nil)
	ev := w.event(end, f, startEv)
	pr.targetTest(start, startEv)
	start.emit(&tree.Stmt{Op: tree.SSpanEnter, Int: int64(w.id), Exprs: w.identity(f), Pos: pos})
	pr.targetTest(end, ev)
	filtered := pr.atStart(start, startEv, w.t)
	start.lazy = true
	s := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.id), Exprs: w.identity(f), Pos: pos}
	if filtered || w.shared {
		s.Str = "filtered"
	}
	end.emit(s)
	pr.consume(end, ev, w.t)
	pr.closers = append(pr.closers, func() { st.close(pos) })
}

// identity is what tells a call from others: its thread, its frame, and the
// function.
func (w *funcSpanWalk) identity(f *funcView) []*tree.Expr {
	pos := w.t.pos
	word := func(name string) *tree.Expr {
		return &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: name, Pos: pos}
	}
	place := w.pr.cookie(f, pos)
	if f.goroutine {
		return []*tree.Expr{word("goroutine"), word("goframe"), place}
	}
	return []*tree.Expr{word("thread"), word("frame"), place}
}

// event is e in one of the two programs.
func (w *funcSpanWalk) event(b *body, f *funcView, startEv *event) *event {
	ev := w.fs.funcEvent(b, f)
	ev.depth = func(pos plan.Pos) val {
		return exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "depth", Pos: pos})
	}
	if startEv == nil {
		return ev
	}
	mech := ends[w.fs.mech]
	ev.args = &funcArgs{f: f, mech: mech, start: startEv.b}
	ev.ret = func(pos plan.Pos) val { return b.words().funcResult(f, mech, pos) }
	ev.startEv = startEv
	ev.duration = func(pos plan.Pos) val { return elapsed(b, ev, startEv, pos) }
	return ev
}
