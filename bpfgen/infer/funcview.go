package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// A function as the walk of a program sees it. Its questions are noted: see sameanswers.go.

// funcEvent is e at a function's entry or return.
func funcEvent(b *body, fs *points.Functions, f *funcView) *event {
	ev := &event{b: b, point: f.Text, regs: fs.Shares(), inside: f.Inside}
	ev.profile = ev.regs // the registers tell ip and the mode
	ev.unwound = func() { f.ask("caller") }
	result := func(pos plan.Pos) val { return b.argWords().funcResult(f, fs.Mech, pos) }
	switch {
	case f.Site != nil:
		ev.args = &operandArgs{f}
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
	ev.fn = func(pos plan.Pos) val { return b.pr.pointLabel(f, "func", f.Name, pos) }
	ev.name = func(pos plan.Pos) val { return b.pr.pointLabel(f, "point", f.Text, pos) }
	return ev
}

func newView(fs *points.Functions, f *points.Function, log *[]access) *funcView {
	return &funcView{f, log, fs.Shares()}
}
