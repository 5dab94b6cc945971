package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e and e.args at iter: points, whose programs run in the process that reads the list.
//
// An iterator's program runs for each entry of a list of the kernel's, in the
// reader's context: what concerns the current process would be startrace's. So
// e.pid and its like are those of the entry's task, and where the entry is no
// task's, there are none.

// iterArgs is e.args of an iterator: the words of its context behind the
// iterator's own. Pointers are read once, at the beginning.
type iterArgs struct {
	params []kernel.Param
	known  []val
}

func (a *iterArgs) names() []string {
	var out []string
	for _, p := range a.params {
		out = append(out, p.Name)
	}
	return out
}

func (a *iterArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	for i, p := range a.params {
		if p.Name == name {
			return a.at(b, i, pos)
		}
	}
	return val{}, false
}

func (a *iterArgs) at(_ *body, i int, _ plan.Pos) (val, bool) {
	if i < 0 || i >= len(a.known) {
		return val{}, false
	}
	return a.known[i], true
}

// iterEvent is e at an iterator. Behind the last entry the kernel runs the
// program once more, without one: its pointers are NULL then, and the verifier
// wants them to be tested before they are used.
func (b *body) iterEvent(t *points.Target, it *points.Iterator) *event {
	args := &iterArgs{params: it.Of.Params}
	ev := &event{b: b, point: t.Text, args: args, listed: map[string]func(plan.Pos) val{}}
	raw := &rawArgs{&kernel.RawTracepoint{Params: append([]kernel.Param{{}}, it.Of.Params...)}}
	for i, p := range it.Of.Params {
		v, _ := raw.at(b, i+1, t.Pos)
		if b.u.isPointer(p.Type, t.Pos) {
			v = b.bind(p.Name, v, t.Pos)
			b.require(negate(b.ops().isNone(v, t.Pos), t.Pos), t.Pos)
		}
		args.known = append(args.known, v)
		if b.u.isTask(v) {
			ev.listTask(v)
		}
	}
	return ev
}

func (u *unit) isPointer(id kernel.TypeID, pos plan.Pos) bool {
	btf := u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	return err == nil && t.Kind == kernel.KindPtr
}

func (u *unit) isTask(v val) bool {
	btf, err := u.facts.BTF()
	if err != nil || v.expr == nil || v.expr.Type.BTF == 0 {
		return false
	}
	id, ok := btf.Named(kernel.KindStruct, "task_struct")
	return ok && v.expr.Type.BTF == id
}
