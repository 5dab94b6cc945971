package infer

import (
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// probe is the inference of one probe() over all points that it matched.
type probe struct {
	u       *unit
	p       *plan.Probe
	targets []*target
	// side says where the handler runs; it is decided at the first point and
	// must hold for all.
	inUser   bool
	whyUser  string
	decided  bool
	half     *plan.UserHalf
	slots    int
	sites    map[syntax.Expr]int // capture site → slot before merging
	siteName []string
	drops    []drop
	sends    []*send
	touched  []touch
	argNames map[string]bool
	// closers complete the programs of spans when all values are known.
	closers []func()
}

// A drop is an expression whose value may turn out not to be needed.
type drop struct {
	half *plan.UserHalf
	x    syntax.Expr
	v    uval
}

// A send is the statement by which one program sends the event; its values
// are known when all points have been walked.
type send struct {
	b      *body
	stmt   *tree.Stmt
	values map[int]val
	target *target
}

func newProbe(u *unit, p *plan.Probe) *probe {
	return &probe{u: u, p: p, sites: map[syntax.Expr]int{}}
}

// walk makes the programs of the probe. What is wrong is noted; the other
// probes are walked all the same.
func (pr *probe) walk() {
	if r := attempt(func() { pr.targets = pr.u.expand(pr.p.Points, pr.p.Pos) }); r != nil {
		r.final = true
		pr.u.mistake(r)
		return
	}
	for _, t := range pr.targets {
		pr.u.res.Points[pr.p.ID] += t.points()
		mistakes := len(pr.u.diags)
		if r := attempt(func() { pr.program(t) }); r != nil {
			r.final = true
			pr.u.mistake(r)
		}
		if len(pr.u.diags) > mistakes {
			return // other points would say the same again
		}
	}
	pr.finish()
}

// program makes the programs of one point.
func (pr *probe) program(t *target) {
	switch t.kind {
	case targetSyscall:
		pr.syscalls(t)
		return
	case targetSpan:
		pr.spans(t)
		return
	}
	if pr.p.Start != nil {
		wrong(pr.p.Start.Pos, "start= is for spans (syscall:NAME), and %s is none", t.text)
	}
	prog := &tree.Program{Name: pr.u.programName(pr.p.ID, t.short()), Probe: pr.p.ID, Attach: t.attach()}
	b := newBody(pr, prog)
	pr.consume(b, t.event(b), t)
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, prog)
}

// atStart is where= and start= of a probe with a handler for the start of its
// spans; it reports whether where= filters there.
func (pr *probe) atStart(b *body, ev *event) bool {
	p := pr.p
	if p.Start == nil {
		return false
	}
	if p.Where != nil {
		pr.filter(b, ev, p.Where)
	}
	r := attempt(func() { b.callFunc(p.Start, eventArg(ev, p.Start.Pos), p.Start.Pos) })
	if r != nil {
		wrong(r.Pos, "the handler start= must run in the kernel for now, and this cannot: %s", r.Msg)
	}
	pr.place("start", p.Start, false, "")
	return p.Where != nil
}

// armed walks the functions of the events on the way from a point; nil: the
// event never happens.
func (pr *probe) armed(b *body, ev *event, t *target) *event {
	for _, fn := range t.arms {
		if ev = pr.extend(b, ev, b.callFunc(fn, eventArg(ev, fn.Pos), fn.Pos), fn.Pos, false); ev == nil {
			return nil
		}
	}
	return ev
}

// consume walks what the probe does with an event: the functions of the
// events on the way, the target, where, kernel, and the handler.
func (pr *probe) consume(b *body, ev *event, t *target) {
	if ev = pr.armed(b, ev, t); ev == nil {
		return
	}
	// A span is tested at its start; its end may happen in another process.
	if _, named := ev.over["pid"]; t.kind != targetSpan || named {
		pr.targetTest(b, ev)
	}
	if fn := pr.p.Where; fn != nil && pr.p.Start == nil {
		pr.filter(b, ev, fn)
	}
	if fn := pr.p.Kernel; fn != nil {
		pr.place("kernel", fn, false, "")
		if ev = pr.extend(b, ev, b.callFunc(fn, eventArg(ev, fn.Pos), fn.Pos), fn.Pos, true); ev == nil {
			return
		}
	}
	pr.handle(b, ev, t)
}

func eventArg(ev *event, pos plan.Pos) []arg { return []arg{{v: objVal(ev), pos: pos}} }

// filter ends the handler where fn does not hold.
func (pr *probe) filter(b *body, ev *event, fn *plan.Func) {
	pr.place("where", fn, false, "")
	c := b.truth(b.callFunc(fn, eventArg(ev, fn.Pos), fn.Pos), fn.Pos)
	b.require(c, fn.Pos)
}

// require ends the handler unless c holds.
func (b *body) require(c cond, pos plan.Pos) {
	if c.known {
		if !c.value {
			b.stop(pos)
		}
		return
	}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{not(c.expr, pos)}, Pos: pos,
		Then: &tree.Block{Stmts: []*tree.Stmt{{Op: tree.SStop, Pos: pos}}}})
}

// targetTest is -p, -c and the exclusion of the tracer itself.
func (pr *probe) targetTest(b *body, ev *event) {
	t := pr.u.plan.Target
	op, pid := tree.OpEq, t.PID
	if pid == 0 {
		op, pid = tree.OpNe, t.Self
	}
	if pid == 0 {
		return
	}
	v, ok := ev.field("pid", pr.p.Pos)
	if !ok {
		return
	}
	e := b.rv(v, pr.p.Pos)
	if e.Type.Kind != types.Int {
		wrong(pr.p.Pos, "the event's own field pid is %s, not a process", v.describe())
	}
	e = b.present(exprVal(e), "a pid", pr.p.Pos)
	test := &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{e, constExpr(plan.MakeInt(int64(pid)), pr.p.Pos)}, Pos: pr.p.Pos}
	if pr.u.follow != nil && op == tree.OpEq {
		test = logic(tree.OpLOr, test, pr.u.follow.has(e, pr.p.Pos), pr.p.Pos)
	}
	b.require(cond{expr: test}, pr.p.Pos)
}

// extend lays what a function returned over the event. None ends the handler;
// nil is returned where it is always None.
func (pr *probe) extend(b *body, ev *event, r val, pos plan.Pos, plain bool) *event {
	if r.isNone() {
		return nil
	}
	out := *ev
	out.over = map[string]val{}
	for k, v := range ev.over {
		out.over[k] = v
	}
	if c, ok := r.c.(plan.Record); ok {
		for _, f := range c {
			out.over[f.Name] = constant(f.Value)
		}
		return &out
	}
	if r.isRecord() {
		for i, n := range r.names {
			out.over[n] = r.elems[i]
		}
		return &out
	}
	e := b.rv(r, pos)
	if e.Type.MayNone {
		b.require(negate(b.isNone(exprVal(e), pos), pos), pos)
		e = assumeNotNone(e)
	}
	if e.Type.Kind == types.Record {
		for i, n := range e.Type.Names {
			out.over[n] = exprVal(&tree.Expr{Op: tree.OpElem, Type: e.Type.Elems[i], Int: int64(i), Args: []*tree.Expr{e}, Pos: pos})
		}
		return &out
	}
	if !plain {
		wrong(pos, "the function of an event returns a record or None, got %s", r.describe())
	}
	v := exprVal(e)
	out.value = &v
	return &out
}

// handle places the handler: in the kernel if all of it can run there.
func (pr *probe) handle(b *body, ev *event, t *target) {
	fn := pr.p.Handler
	if fn == nil {
		pr.sendDefault(b, ev, t)
		return
	}
	if pr.p.Kernel == nil && !pr.inUser && pr.inKernel(b, ev, fn) {
		pr.place("handler", fn, false, "")
		return
	}
	if pr.p.Kernel != nil {
		pr.inUser, pr.whyUser = true, "kernel= is the kernel half"
	}
	pr.place("handler", fn, true, pr.whyUser)
	pr.project(b, ev, fn, t)
}

// inKernel tries to run the handler in the kernel.
func (pr *probe) inKernel(b *body, ev *event, fn *plan.Func) bool {
	saved := *b
	locals, inlines := len(b.prog.Locals), b.prog.Inlines
	written, used := clone(pr.u.written), clone(pr.u.used)
	var v val
	block := &tree.Block{}
	mistakes := len(pr.u.diags)
	r := attempt(func() {
		block = b.inBlock(func() { v = b.callFunc(fn, eventArg(ev, fn.Pos), fn.Pos) })
	})
	if r == nil && pr.decided && pr.inUser {
		r = &refusal{}
	}
	if r == nil {
		b.block.Stmts = append(b.block.Stmts, block.Stmts...)
		pr.decided = true
		if !v.isNone() && fn.Def != nil {
			pr.u.warnf(fn.Pos, "what %s returns is dropped: a handler that sends an event is kernel=", fn.Name)
		}
		return true
	}
	if r.final || pr.decided {
		panic(r)
	}
	pr.u.diags = pr.u.diags[:mistakes]
	*b = saved
	b.prog.Locals, b.prog.Inlines = b.prog.Locals[:locals], inlines
	pr.u.written, pr.u.used = written, used
	pr.decided, pr.inUser, pr.whyUser = true, true, r.Error()
	return false
}

func clone[K comparable, V any](m map[K]V) map[K]V {
	out := make(map[K]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// place notes where a function runs, once.
func (pr *probe) place(role string, fn *plan.Func, user bool, why string) {
	for _, p := range pr.u.res.Placed {
		if p.Probe == pr.p.ID && p.Role == role {
			return
		}
	}
	side := "kernel"
	if user {
		side = "user"
	}
	pr.u.res.Placed = append(pr.u.res.Placed, Placement{Probe: pr.p.ID, Role: role, Fn: fn, Side: side, Why: why})
}

// project walks a handler of user space and sends what it uses.
func (pr *probe) project(b *body, ev *event, fn *plan.Func, t *target) {
	if pr.half == nil {
		pr.half = newHalf(fn)
	}
	s := &send{b: b, values: map[int]val{}, target: t}
	pr.sends = append(pr.sends, s)
	def := resolved(fn)
	w := &user{pr: pr, b: b, half: pr.half}
	w.frame = &uframe{fn: fn, def: def, vars: map[*resolve.Binding]uval{}, top: true}
	if len(def.Params) == 0 {
		wrong(fn.Pos, "a handler takes the event: def %s(e)", fn.Name)
	}
	for i, p := range def.Params {
		bind := paramIdent(p).Binding.(*resolve.Binding)
		switch {
		case i == 0:
			w.frame.vars[bind] = uval{v: objVal(ev), known: true, part: true}
		case i < len(fn.Defaults) && fn.Defaults[i] != nil:
			w.frame.vars[bind] = knownVal(constant(fn.Defaults[i]))
		default:
			wrong(fn.Pos, "a handler gets one argument, the event; %s has no default", paramIdent(p).Name)
		}
	}
	b.lazily(func() { w.stmts(def.Body) })
	s.stmt = &tree.Stmt{Op: tree.SSend, Pos: fn.Pos}
	b.emit(s.stmt)
}

// capture makes the value at a site a field of the record.
func (pr *probe) capture(u *user, c capture) {
	slot, ok := pr.sites[c.site]
	if !ok {
		slot = pr.slots
		pr.slots++
		pr.sites[c.site] = slot
		pr.siteName = append(pr.siteName, siteName(c.site))
	}
	c.half.Slots[c.site] = slot
	if c.in != nil {
		c.half.Nested[c.in] = true
	}
	s := pr.sends[len(pr.sends)-1]
	if _, done := s.values[slot]; !done {
		s.values[slot] = u.b.settled(c.v, start(c.site))
	}
}

// settled is v as a value of this program that needs nothing more of the
// span's start.
func (b *body) settled(v val, pos plan.Pos) val {
	v = b.sendable(v, pos)
	if _, ok := v.obj.(addressed); ok {
		return exprVal(b.rv(v, pos))
	}
	return b.here(v)
}

// sendable is v as what a record can carry: e itself is all of its fields.
func (b *body) sendable(v val, pos plan.Pos) val {
	switch o := v.obj.(type) {
	case *event:
		return o.everything(pos)
	case *argsObj:
		return o.everything(pos)
	case *arrayObj:
		return b.arrayValue(o, pos)
	case *ctxArray:
		return o.everything(pos)
	case addressed:
		return v
	case nil:
		return v
	}
	wrong(pos, "%s cannot be sent to user space", v.obj.what())
	return v
}

// siteName is the expression as the field's name: "pid" for e.pid.
func siteName(x syntax.Expr) string {
	var parts []string
	for {
		d, ok := x.(*syntax.DotExpr)
		if !ok {
			break
		}
		parts = append([]string{d.Name.Name}, parts...)
		x = d.X
	}
	switch x := x.(type) {
	case *syntax.Ident:
		if len(parts) == 0 {
			return x.Name
		}
	case *syntax.CallExpr:
		if id, ok := x.Fn.(*syntax.Ident); ok {
			parts = append([]string{id.Name}, parts...)
		}
	}
	return strings.Join(parts, ".")
}

// mayDrop notes an expression of user code whose value is needed only if one
// of its captures turns out to be.
func (pr *probe) mayDrop(half *plan.UserHalf, x syntax.Expr, v uval) {
	if v.part {
		pr.drops = append(pr.drops, drop{half, x, v})
	}
}

// touch notes the tables and cells that a value of user code leads to.
func (pr *probe) touch(c plan.Value, pos plan.Pos, seen map[*plan.Func]bool) {
	switch c := c.(type) {
	case plan.Ref:
		if pr.p.Kernel == nil && (c.Kind == plan.Table || c.Kind == plan.Cell) {
			pr.u.touched = append(pr.u.touched, touch{c.Container, pos, pr.whyUser})
		}
	case *plan.Func:
		if seen[c] {
			return
		}
		seen[c] = true
		for _, name := range sortedKeys(c.Names) {
			pr.touch(c.Names[name], pos, seen)
		}
		for _, v := range c.Free {
			if v != nil {
				pr.touch(v, pos, seen)
			}
		}
	}
}

// finish completes what is known only when all points have been walked.
func (pr *probe) finish() {
	pr.finishDrops()
	names := pr.mergeSlots()
	for _, s := range pr.sends {
		pr.finishSend(s, names)
	}
	for _, f := range pr.closers {
		f()
	}
	if pr.half != nil {
		pr.u.res.Halves[pr.p.ID] = pr.half
		for i := range pr.u.res.Placed {
			if p := &pr.u.res.Placed[i]; p.Probe == pr.p.ID && p.Role == "handler" {
				p.Sends = names
			}
		}
	}
}

// finishDrops decides which expressions have no value in user space.
func (pr *probe) finishDrops() {
	for _, d := range pr.drops {
		_, sent := d.half.Slots[d.x]
		for _, c := range d.v.caps {
			if _, ok := c.half.Slots[c.site]; ok {
				sent = true
			}
		}
		if !sent {
			d.half.Drop[unparen(d.x)] = true
		}
	}
}

// mergeSlots gives one field to captures that are the same at every point,
// and gives the fields' names.
func (pr *probe) mergeSlots() []string {
	into := make([]int, pr.slots)
	var names []string
	var first []int
	for i := range into {
		into[i] = -1
		for n, j := range first {
			if pr.sameSlot(i, j) {
				into[i] = n
				break
			}
		}
		if into[i] < 0 {
			into[i] = len(first)
			first = append(first, i)
			names = append(names, pr.siteName[i])
		}
	}
	for _, s := range pr.sends {
		values := map[int]val{}
		for i, v := range s.values {
			values[into[i]] = v
		}
		s.values = values
	}
	if pr.half != nil {
		renumber(pr.half, into)
	}
	return names
}

func (pr *probe) sameSlot(i, j int) bool {
	for _, s := range pr.sends {
		x, okx := s.values[i]
		y, oky := s.values[j]
		if okx != oky || okx && !same(x, y) {
			return false
		}
	}
	return true
}

func renumber(h *plan.UserHalf, into []int) {
	for site, slot := range h.Slots {
		h.Slots[site] = into[slot]
	}
	for _, c := range h.Calls {
		renumber(c, into)
	}
}

// finishSend makes the record of one program. A field that this point does
// not have is None.
func (pr *probe) finishSend(s *send, names []string) {
	if s.stmt == nil {
		return
	}
	number := len(pr.u.res.Tree.Records)
	s.stmt.Int = int64(number)
	ts := make([]types.Type, len(names))
	fill := s.b.inBlock(func() {
		for i := range names {
			v, ok := s.values[i]
			if !ok {
				v = noneVal()
			}
			e := s.b.rv(v, s.stmt.Pos)
			s.stmt.Exprs = append(s.stmt.Exprs, e)
			ts[i] = e.Type
		}
	})
	if len(fill.Stmts) > 0 {
		panic(fmt.Sprintf("infer: a captured value of probe %d needs statements", pr.p.ID))
	}
	pr.u.res.Tree.Records = append(pr.u.res.Tree.Records, layout.Record(number, pr.p.ID, names, ts))
}
