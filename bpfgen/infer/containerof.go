package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// container_of(p, TYPE, MEMBER): the struct whose member lies at p.

// callContainerOf is container_of(p, "struct T", "member"): the struct whose
// member lies at p.
func callContainerOf(b *body, args []arg, pos plan.Pos) val {
	const form = `container_of(pointer, "struct T", "member")`
	a := named(args, 3, 3, form, pos)
	tname, ok := a[1].constStr()
	member, named := a[2].constStr()
	if !ok || !named {
		wrong(pos, "%s wants the names of the type and its member as constant strings", form)
	}
	id := b.memory().typeByName(tname, pos)
	field, err := b.u.btf(pos).Field(id, member)
	if err != nil {
		wrong(pos, "%v", err)
	}
	if fold.IsFault(a[0].c) {
		return a[0]
	}
	at, addr := b.addressOf(a[0], pos)
	out := exprVal(aroundMember(addr, field.Off, b.memory().addressType(id, pos), pos))
	if at != b {
		out.start = at
	}
	return out
}

// aroundMember is the struct whose member lies at addr. Of what is null or could not be read it is FAULT.
func aroundMember(addr *tree.Expr, off int, t types.Type, pos plan.Pos) *tree.Expr {
	whole := operation(tree.OpAdd, types.U64, assume(addr), intExpr(-int64(off), pos), pos)
	null := operation(tree.OpEq, types.Boolean, assume(addr), intExpr(0, pos), pos)
	if addr.Type.MayFault {
		fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{addr}, Pos: pos}
		null = logic(tree.OpLOr, fault, null, pos)
	}
	return chooseFault(null, as(whole, t, pos), pos)
}
