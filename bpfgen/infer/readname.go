package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// The words by which messages say what a value is read of: `args.n`, `struct task_struct.pid`.

// whole is what a field is read of, in words for people: "args.", "struct task_struct.".
func (b memory) whole(x val, name string) (string, bool) {
	switch o := x.obj.(type) {
	case *event:
		return "", name == "ret" || name == "addr"
	case *argsObj:
		return "args.", true
	case *varsObj:
		return "vars.", true
	case *globalsObj:
		return "globals.", true
	case *structObj:
		return b.typeWord(o.id) + ".", true
	case *regStruct:
		return b.typeWord(o.id) + ".", true
	}
	if x.expr != nil && x.expr.Type.Leads() && x.expr.Type.BTF != 0 {
		return b.typeWord(x.expr.Type.BTF) + ".", true
	}
	return "", false
}

// typeWord is a struct or union as C writes it, "(unnamed)" where it has no name.
func (b memory) typeWord(id kernel.TypeID) string {
	btf, err := b.u.facts.BTF()
	if err != nil {
		return "(unnamed)"
	}
	t, err := kernel.Outline(btf, btf.Skip(id))
	switch {
	case err != nil || t.Name == "":
		return "(unnamed)"
	case t.Kind == kernel.KindUnion:
		return "union " + t.Name
	}
	return "struct " + t.Name
}

// nameReads gives the reads of e that have no name this one. What gives a read its address has been named before.
func nameReads(e *tree.Expr, name string) {
	if e.Op.Reads() {
		if e.Field == "" {
			e.Field = name
		}
		return
	}
	for _, a := range e.Args {
		nameReads(a, name)
	}
}
