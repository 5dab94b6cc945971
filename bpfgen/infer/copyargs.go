package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/plan"
)

// e.args of a copy of a function that was inlined.

// copyArgs is e.args of a copy of a function that was inlined: its parameters are variables, of which debug information
// says where they are.
type copyArgs struct {
	ev *event
	f  *funcView
}

func (a *copyArgs) list(pos plan.Pos) []locals.Variable {
	list, err := a.f.Parameters()
	if err != nil {
		wrong(pos, "the parameters of %s, which was inlined, are not known: %v", a.f.Name, err)
	}
	return list
}

func (a *copyArgs) names() (out []string) {
	a.f.ask(question{})
	for _, v := range a.list(plan.Pos{}) {
		out = append(out, v.Name)
	}
	return out
}

func (a *copyArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	a.f.ask(argument(name))
	for _, v := range a.list(pos) {
		if v.Name == name {
			return b.inSight(a.f, pos).value(&v), true
		}
	}
	return val{}, false
}

// at is word i of the arguments, if they are known to be as many words: ints and pointers.
func (a *copyArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	a.f.ask(question{})
	list := a.list(pos)
	if i < 0 || i >= len(list) {
		return val{}, false
	}
	in := b.inSight(a.f, pos)
	for j := range list[:i+1] {
		t, err := b.u.btf(pos).Type(in.typeOf(&list[j]))
		if err != nil || !oneWord(t) {
			return exprVal(lost(pos)), true
		}
	}
	v := in.value(&list[i])
	if v.expr == nil || v.expr.Op == tree.OpUnreadable {
		return exprVal(lost(pos)), true
	}
	return v, true
}

// oneWord reports whether an argument of a type is one word.
func oneWord(t kernel.Type) bool {
	switch t.Kind {
	case kernel.KindInt, kernel.KindEnum, kernel.KindPtr:
		return t.Size <= 8
	}
	return false
}
