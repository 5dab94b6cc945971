package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// callContainerOf is container_of(p, "struct T", "member"): the struct whose
// member lies at p.
func (b *body) callContainerOf(args []arg, pos plan.Pos) val {
	const form = `container_of(pointer, "struct T", "member")`
	a := want(args, 3, 3, form, pos)
	tname, ok := a[1].constStr()
	member, named := a[2].constStr()
	if !ok || !named {
		wrong(pos, "%s wants the names of the type and its member as constant strings", form)
	}
	id := b.typeByName(tname, pos)
	field, err := b.u.btf(pos).Field(id, member)
	if err != nil {
		wrong(pos, "%v", err)
	}
	at, addr := b.addressOf(a[0], pos)
	whole := &tree.Expr{Op: tree.OpAdd, Type: types.U64, Args: []*tree.Expr{addr, constExpr(plan.MakeInt(-int64(field.Off)), pos)}, Pos: pos}
	out := exprVal(&tree.Expr{Op: tree.OpConvert, Type: types.Type{Kind: types.Ptr, BTF: id}, Args: []*tree.Expr{whole}, Pos: pos})
	if at != b {
		out.start = at
	}
	return out
}

// addressOf is v as an address in the program to which it belongs: what the
// start of a span has stays there.
func (b *body) addressOf(v val, pos plan.Pos) (at *body, addr *tree.Expr) {
	at = b
	if v.start != nil {
		at, v.start = v.start, nil
	}
	return at, at.num(v, pos)
}

// readable is v as an address from which something is read: from FAULT that is FAULT.
func (b *body) readable(v val, pos plan.Pos) *tree.Expr {
	if e := v.expr; v.obj == nil && e != nil && e.Type.MayFault && !e.Type.MayNone {
		if e.Type.Kind == types.Ptr || e.Type.Kind == types.Int && e.Type.Label == "" {
			return e
		}
	}
	return b.num(v, pos)
}
