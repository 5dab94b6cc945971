package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The programs of func: and ufunc:, at entry and return of functions, joined for functions for which they do the same.
// Calls of functions nest, so their entries are kept by thread and depth (tree.Span.Nested).

// sessionIsReturn is the function by which a program that runs at the entry and
// at the return knows where it is (kernel/trace/bpf_trace.c, 6.10). It takes
// nothing, from 7.1 on the context.
const sessionIsReturn = "bpf_session_is_return"

// session is its number in BTF where the calls of t can be seen by one program;
// 0: there are two.
func (u *unit) session(t *points.Target, fs *points.Functions) uint32 {
	var way string
	switch has := u.facts.Features(); {
	case fs.Mech == tree.AttachKprobe && has.KprobeSession:
		way = "kprobe session"
	case fs.Mech == tree.AttachUprobe && has.UprobeSession && len(fs.Funcs[0].Returns) == 0:
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
	u.notef(t.Pos, "%s: one program at entry and return (%s)", t.Text, way)
	return uint32(id)
}

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

// functionCalls makes the programs of a target of calls.
func (pr *probe) functionCalls(t *points.Target, c *points.FunctionCalls) {
	span := &tree.Span{Probe: pr.p.ID, Size: plan.DefaultSize, Nested: true, User: c.Mech == tree.AttachUprobe,
		Pos: t.Pos}
	if c.Mech == tree.AttachUprobe && len(c.Funcs[0].Returns) == 0 {
		span.MaxDepth = maxReturnProbes
	}
	numberStarts(pr, span)
	w := &funcSpanWalk{pr: pr, t: t, fs: c.Functions, span: span, id: len(pr.u.res.Tree.Spans),
		session: pr.u.session(t, c.Functions)}
	w.shared = slices.ContainsFunc(c.Funcs, func(f *points.Function) bool { return f.Others > 0 })
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, span)
	pr.u.findTaskProcess()
	for _, f := range c.Funcs {
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
func (u *unit) findTaskProcess() {
	btf, err := u.facts.BTF()
	if err != nil {
		return
	}
	if at, err := btf.OffsetOf("task_struct", "tgid"); err == nil {
		u.res.Tree.TaskProcess = int64(at)
	}
}

// funcSpanWalk makes the programs of calls of functions: one at the entry and one at the return, for all functions of
// which the probe asks the same.
type funcSpanWalk struct {
	// pr is the probe.
	pr *probe
	// t is what its pattern comes to.
	t *points.Target
	// fs are the functions of t.
	fs *points.Functions
	// span is where the calls are kept while they are open.
	span *tree.Span
	// id is the number of span in the unit.
	id int
	// programs are those made so far. A function joins the first of which it answers all questions alike.
	programs []*spanProgram
	// session is set where one program is at the entry and the return of a function: the number in BTF of the function
	// by which it knows at which. It is 0 where there are two programs.
	session uint32
	// shared is set where some ends are those of other functions, too, so that one without a start says nothing.
	shared bool
}

func (w *funcSpanWalk) joins(f *points.Function) bool {
	if !w.fs.Shares() {
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

func (w *funcSpanWalk) entry(f *points.Function) []tree.Place {
	return w.pr.withCookie(f, []tree.Place{f.Place})
}

func (w *funcSpanWalk) ends(f *points.Function) []tree.Place { return w.pr.withCookie(f, f.Ends()) }

func (w *funcSpanWalk) program(f *points.Function, suffix string) *tree.Program {
	name := cleanName(f.Name)
	return &tree.Program{Name: w.pr.u.programName(w.pr.p.ID, name[:min(len(name), 8)]+suffix), Probe: w.pr.p.ID}
}

// one makes the programs for f and for the functions that will join it.
func (w *funcSpanWalk) one(f *points.Function) {
	p := &spanProgram{enter: w.program(f, "_in"), exit: w.program(f, "_out")}
	w.programs = append(w.programs, p)
	enter, exit := w.fs.At(w.entry(f)), w.fs.At(w.ends(f))
	if w.session != 0 {
		enter.Session = &tree.Session{Return: p.exit.Name, IsReturn: w.session}
	}
	if exit.Mech = ends[w.fs.Mech]; len(f.Returns) > 0 {
		exit.Mech = tree.AttachUprobe
	}
	enter.Cookies = w.pr.cookies && w.fs.Shares()
	exit.Cookies = enter.Cookies
	p.enter.Attach, p.exit.Attach = tree.Attach{Way: enter, Span: w.id}, tree.Attach{Way: exit, Span: w.id}
	w.walk(p, newView(w.fs, f, &p.log))
	w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, p.exit, p.enter)
}

func (w *funcSpanWalk) walk(p *spanProgram, f *funcView) {
	pr, pos := w.pr, w.t.Pos
	start, end := newBody(pr, p.enter), newBody(pr, p.exit)
	st := newStart(pr, w.span, start, end)
	st.retry = f.User
	start.span, end.span = st, st
	startEv := w.event(start, f, nil)
	ev := w.event(end, f, startEv)
	end.origin = start
	pr.targetTest(start, startEv)
	start.emit(&tree.Stmt{Op: tree.SSpanEnter, Int: int64(w.id), Exprs: w.identity(f), Pos: pos})
	pr.testEnd(end, ev)
	filtered := pr.atStart(start, startEv, w.t)
	start.lazy = true
	s := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.id), Exprs: w.identity(f), Pos: pos}
	if filtered || w.shared || pr.u.plan.Target.Passing() {
		s.Str = "filtered"
	}
	end.emit(s)
	pr.consume(end, ev, w.t)
	pr.closers = append(pr.closers, func() { st.close(pos) })
}

// identity is what tells a call from others: its thread, its frame, and the
// function.
func (w *funcSpanWalk) identity(f *funcView) []*tree.Expr {
	pos := w.t.Pos
	word := func(name string) *tree.Expr {
		return &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: name, Pos: pos}
	}
	place := w.pr.cookie(f, pos)
	if f.Goroutine {
		return []*tree.Expr{word("goroutine"), word("goframe"), place}
	}
	return []*tree.Expr{word("thread"), word("frame"), place}
}

// event is e in one of the two programs.
func (w *funcSpanWalk) event(b *body, f *funcView, startEv *event) *event {
	ev := funcEvent(b, w.fs, f)
	ev.depth = func(pos plan.Pos) val {
		return exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "depth", Pos: pos})
	}
	if startEv == nil {
		return ev
	}
	mech := ends[w.fs.Mech]
	ev.args = &funcArgs{f: f, mech: mech, start: startEv.b}
	ev.ret = func(pos plan.Pos) val { return b.argWords().funcResult(f, mech, pos) }
	ev.startEv = startEv
	ev.duration = func(pos plan.Pos) val { return elapsed(b, ev, startEv, pos) }
	return ev
}
