package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// e at a function's entry or return, and e.goid, the number of the goroutine. Its questions are noted: see
// sameanswers.go.

// funcEvent is e at a function's entry or return.
func funcEvent(b *body, fs *points.Functions, f *funcView) *event {
	ev := &event{b: b, point: f.Text, regs: fs.Shares(), inside: f.Inside}
	b.view, b.file = f, fs.Binary
	if !fs.Returns && fs.Mech != tree.AttachUretprobe {
		b.origin = b
	}
	ev.profile = ev.regs // the registers tell ip and the mode
	ev.unwound = func() { f.ask(question{about: aboutCaller}) }
	result := func(pos plan.Pos) val { return b.argWords().funcResult(f, fs.Mech, pos) }
	switch {
	case f.Site != nil:
		ev.args = &operandArgs{f}
	case f.Inlined():
		ev.args = &copyArgs{ev, f}
	case fs.Returns, fs.Mech == tree.AttachKretprobe, fs.Mech == tree.AttachUretprobe:
		ev.ret = result
	case fs.Mech == tree.AttachFexit:
		ev.ret = result
		fallthrough
	case !f.Inside:
		ev.args = &funcArgs{f: f, mech: fs.Mech}
	}
	if f.HasVariables() {
		ev.vars = f
	}
	ev.source = func() (string, bool) { return f.ask(question{about: aboutSource}), f.At() != "" }
	if f.OfGoroutine() {
		ev.goid = func(pos plan.Pos) val { return goid(b, f, pos) }
	}
	ev.fn = func(pos plan.Pos) val { return b.pr.pointLabel(f, "func", f.Name, pos) }
	ev.name = func(pos plan.Pos) val { return b.pr.pointLabel(f, "point", f.Text, pos) }
	return ev
}

// goid is e.goid: the number of the goroutine whose g is in its register.
func goid(b *body, f *funcView, pos plan.Pos) val {
	f.ask(question{about: aboutGoid})
	off, err := f.Goid()
	if err != nil {
		wrong(pos, "where the number of a goroutine is in the program of %s is not known: %v", f.Text, err)
	}
	g := &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: "goroutine", Pos: pos}
	return exprVal(load(memPlace{g, int64(off), tree.User, b}, types.U64, pos))
}

func newView(fs *points.Functions, f *points.Function, log *[]access) *funcView {
	return &funcView{f, log, fs.Shares()}
}
