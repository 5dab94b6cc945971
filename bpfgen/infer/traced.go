package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The test in the kernel of -p, -c, --cgroup, --container and --user, which leaves out startrace itself; e.traced.

// targetTest is -p, -c, --cgroup, --container, --user and the exclusion of the tracer itself.
func (pr *probe) targetTest(b *body, ev *event) {
	if traced := pr.traced(b, ev); traced != nil {
		b.require(cond{expr: traced}, pr.p.Pos)
	}
}

// testEnd is targetTest of the end of a span whose start is tested and is of the same thread. A process can have come
// to a cgroup or a user meanwhile, or have left it: whether that was so is for the start to decide.
func (pr *probe) testEnd(b *body, ev *event) {
	ev.byStart = true
	if traced := pr.tracedProcess(b, ev); traced != nil {
		b.require(cond{expr: traced}, pr.p.Pos)
	}
}

// testConsumed is targetTest of an event that a probe gets, unless its process has been tested at the start of a span.
// A pid of the event's own decides in any case.
func (pr *probe) testConsumed(b *body, ev *event) {
	_, named := ev.over["pid"]
	switch {
	case named:
		if ev.setOwnPid != nil {
			ev.setOwnPid()
		}
		pr.targetTest(b, ev)
	case ev.judged != nil:
		pr.targetTest(b, ev.judged)
	case ev.byStart:
		pr.testEnd(b, ev)
	case !ev.tested:
		pr.targetTest(b, ev)
	}
}

// traced tells whether the process of an event is traced; nil: it is, in any case. The tests that hold beside each
// other come in the order of what they cost.
func (pr *probe) traced(b *body, ev *event) *tree.Expr {
	if nobodysTick(ev) {
		return nil
	}
	out := pr.tracedProcess(b, ev)
	t := pr.u.plan.Target
	if !t.Passing() {
		return out
	}
	w := ownership{b: b, ev: ev, pos: pr.p.Pos}
	w.task = w.find()
	if t.User != nil {
		out = both(out, w.hasUser(*t.User), pr.p.Pos)
	}
	if t.Cgroup.ID != 0 {
		out = both(out, w.inCgroup(t.Cgroup), pr.p.Pos)
	}
	return out
}

// tracedVal is e.traced. At the beat of a clock it is of the process that runs there.
func (pr *probe) tracedVal(b *body, ev *event) val {
	of := *ev
	of.clock = false
	if traced := pr.traced(b, &of); traced != nil {
		return exprVal(traced)
	}
	return boolVal(true)
}

// both joins two tests, of which the first may be none.
func both(x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	if x == nil {
		return y
	}
	return logic(tree.OpLAnd, x, y, pos)
}

// nobodysTick reports whether an event is the beat of a clock, which is nobody's event.
func nobodysTick(ev *event) bool {
	_, named := ev.over["pid"]
	return ev.clock && !named
}

// tracedProcess is the test of the number: that of -p or -c, one of several, or any but the tracer's.
func (pr *probe) tracedProcess(b *body, ev *event) *tree.Expr {
	t := pr.u.plan.Target
	op, pid := tree.OpEq, t.PID
	if pid == 0 && ev.listed == nil { // a list is whole
		op, pid = tree.OpNe, t.Self
	}
	if pid == 0 || nobodysTick(ev) {
		return nil
	}
	e := pr.pidOf(b, ev)
	if e == nil {
		return nil
	}
	if len(t.Also) > 0 {
		return pr.u.follow.has(e, pr.p.Pos)
	}
	test := &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{e, intExpr(int64(pid), pr.p.Pos)}, Pos: pr.p.Pos}
	if pr.u.follow != nil && op == tree.OpEq {
		test = logic(tree.OpLOr, test, pr.u.follow.has(e, pr.p.Pos), pr.p.Pos)
	}
	return test
}

// pidOf is e.pid, nil where the event has none.
func (pr *probe) pidOf(b *body, ev *event) *tree.Expr {
	v, ok := ev.field("pid", pr.p.Pos)
	if !ok {
		return nil
	}
	e := b.rv(v, pr.p.Pos)
	if e.Type.Kind != types.Int {
		wrong(pr.p.Pos, "the event's own field pid is %s, not a process", v.describe())
	}
	return b.present(exprVal(e), "a pid", pr.p.Pos)
}

// has is the test whether a process is followed.
func (f *followedProcs) has(pid *tree.Expr, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpTableHas, Type: types.Boolean, Int: int64(f.id),
		Args: []*tree.Expr{convert(pid, types.U32)}, Pos: pos}
}

// ownership asks for the user and the cgroup of an event's process: the current one, one that an iterator lists, or one
// that the event names by a pid of its own.
type ownership struct {
	b    *body
	ev   *event
	pos  plan.Pos
	task *tree.Expr // where it is not the current one
}

// find is the process where it is not the current one; nil: it is.
func (w ownership) find() *tree.Expr {
	own, named := w.ev.over["pid"]
	switch {
	case named && own.expr != nil && own.expr.Op == tree.OpBuiltin && own.expr.Str == "pid":
		return nil
	case named:
		return tasks{w.b}.taskOf(w.b.present(exprVal(w.b.rv(own, w.pos)), "a pid", w.pos), w.pos)
	case w.ev.listed != nil && w.ev.listed["task"] != nil:
		return w.b.rv(w.ev.listed["task"](w.pos), w.pos)
	}
	return nil
}

// hasUser is the test whether the real user is one.
func (w ownership) hasUser(uid uint32) *tree.Expr {
	have := &tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "uid", Pos: w.pos}
	if w.task == nil {
		return w.same(have, int64(uid))
	}
	return w.same(tasks{w.b}.follow(w.task, w.pos, "cred", "uid", "val"), int64(uid))
}

// traceCgroups adds the table of the cgroups that are traced.
func (u *unit) traceCgroups() {
	u.cgroups = &tracedCgroups{u.cgroupsID}
	t := u.cont(&plan.Container{ID: u.cgroups.id, Kind: plan.Table, Name: "cgroups"})
	t.key, t.val = types.U64, types.U64
}

// inCgroup is the test whether a process is in a traced cgroup, or below it: then that is the one of its level among
// those that the process is in.
func (w ownership) inCgroup(c plan.Cgroup) *tree.Expr {
	if w.task == nil && w.b.u.hasFields("cgroup", "ancestor_ids") {
		w.task = w.b.task(w.pos) // such kernels, before 6.1, need not let all kinds of programs ask
	}
	traced := w.b.u.cgroups
	if w.task == nil {
		return w.test(&tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: tree.AncestorCgroup(c.Level), Pos: w.pos},
			traced.has)
	}
	group := w.b.assign("group", tasks{w.b}.follow(w.task, w.pos, "cgroups", "dfl_cgrp"))
	deep := tasks{w.b}.follow(group, w.pos, "level")
	reaches := operation(tree.OpGe, types.Boolean, assume(deep), intExpr(int64(c.Level), w.pos), w.pos)
	return all(w.pos, present(deep, w.pos), reaches, w.test(tasks{w.b}.ancestor(group, c.Level, w.pos), traced.has))
}

// has is the test whether the cgroup with a number is traced.
func (t *tracedCgroups) has(number *tree.Expr) *tree.Expr {
	return &tree.Expr{Op: tree.OpTableHas, Type: types.Boolean, Int: int64(t.id),
		Args: []*tree.Expr{convert(number, types.U64)}, Pos: number.Pos}
}

// same is the test whether a number that was read is n.
func (w ownership) same(have *tree.Expr, n int64) *tree.Expr {
	return w.test(have, func(number *tree.Expr) *tree.Expr {
		return operation(tree.OpEq, types.Boolean, number, intExpr(n, w.pos), w.pos)
	})
}

// test is a test of a number that was read, if it could be.
func (w ownership) test(have *tree.Expr, of func(number *tree.Expr) *tree.Expr) *tree.Expr {
	if !have.Type.MayFault {
		return of(have)
	}
	return logic(tree.OpLAnd, present(have, w.pos), of(assume(have)), w.pos)
}
