package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// An iterator's program runs for each entry of a list of the kernel's, in the
// reader's context: what concerns the current process would be startrace's. So
// e.pid and its like are those of the entry's task, and where the entry is no
// task's, there are none.

// An iterator is a list of the kernel's.
type iterator struct {
	onePoint
	of kernel.TypedPoint
}

// iterators gives the targets of iter:NAME.
func (u finder) iterators(p *plan.Pattern) []*target {
	fields(p, 1, "iter:NAME")
	var out []*target
	for _, it := range u.matchIterators(p) {
		if ofOne[it.Name] != "" {
			continue
		}
		out = append(out, &target{source: &iterator{of: it}, text: "iter:" + it.Name, name: it.Name, pos: p.Pos})
	}
	return out
}

func (u finder) matchIterators(p *plan.Pattern) []kernel.TypedPoint {
	if parts, ok := ofOne[p.Args[0]]; ok {
		wrong(p.Pos, "%s goes over %s, which a script cannot name", p.Text, parts)
	}
	list, err := u.facts.MatchIterators(p.Args[0])
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		wrong(p.Pos, "no iterator matches %s", p.Text)
	}
	return list
}

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

func (it *iterator) attach(*target) tree.Attach {
	return tree.Attach{Way: tree.Iterator{Name: it.of.Name,
		Func: tree.Place{Func: "bpf_iter_" + it.of.Name, BTF: uint32(it.of.Func)}}}
}

func (it *iterator) argNames(*unit) []string { return (&iterArgs{params: it.of.Params}).names() }

func (it *iterator) argCount(*unit) int { return len(it.of.Params) }

// nobodys: the entries are of all processes.
func (*iterator) nobodys() bool { return true }

// event is e at an iterator. Behind the last entry the kernel runs the
// program once more, without one: its pointers are NULL then, and the verifier
// wants them to be tested before they are used.
func (it *iterator) event(t *target, b *body) *event {
	args := &iterArgs{params: it.of.Params}
	ev := &event{b: b, point: t.text, args: args, listed: map[string]func(plan.Pos) val{}}
	raw := &rawArgs{&kernel.RawTracepoint{Params: append([]kernel.Param{{}}, it.of.Params...)}}
	for i, p := range it.of.Params {
		v, _ := raw.at(b, i+1, t.pos)
		if b.u.finder().isPointer(p.Type, t.pos) {
			v = b.bind(p.Name, v, t.pos)
			b.require(negate(b.ops().isNone(v, t.pos), t.pos), t.pos)
		}
		args.known = append(args.known, v)
		if b.u.finder().isTask(v) {
			ev.listTask(v)
		}
	}
	return ev
}

func (u finder) isPointer(id kernel.TypeID, pos plan.Pos) bool {
	btf := u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	return err == nil && t.Kind == kernel.KindPtr
}

func (u finder) isTask(v val) bool {
	btf, err := u.facts.BTF()
	if err != nil || v.expr == nil || v.expr.Type.BTF == 0 {
		return false
	}
	id, ok := btf.Named(kernel.KindStruct, "task_struct")
	return ok && v.expr.Type.BTF == id
}
