package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// What a pointer points to: its type, p[i], pointers spelled in C.

// pointerTo is the type of a pointer to id.
func (b memory) pointerTo(id kernel.TypeID, pos plan.Pos) types.Type {
	return pointerIn(b.u.btf(pos), id)
}

// pointerType is the type of a value that is a pointer. Those of programs are numbers, as their words are where no
// types are known: a null one is 0 and not None.
func (b memory) pointerType(p kernel.Type, pos plan.Pos) types.Type {
	return b.address(p.Elem, b.u.btf(pos).OfProgram(p.ID), pos)
}

// addressType is the type of the address of something of a type.
func (b memory) addressType(to kernel.TypeID, pos plan.Pos) types.Type {
	return b.address(to, b.u.btf(pos).OfProgram(to), pos)
}

func (b memory) address(to kernel.TypeID, program bool, pos plan.Pos) types.Type {
	out := b.pointerTo(to, pos)
	if program {
		out.Kind, out.Bits, out.Signed = types.Int, types.I64.Bits, types.I64.Signed
	}
	return out
}

func pointerIn(btf *kernel.BTF, id kernel.TypeID) types.Type {
	id = btf.Skip(id)
	out := types.Type{Kind: types.Ptr}
	t, err := kernel.Outline(btf, id)
	switch {
	case err != nil:
	case t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion:
		out.BTF = id
	case t.Kind == kernel.KindInt || t.Kind == kernel.KindEnum || t.Kind == kernel.KindPtr,
		t.Kind == kernel.KindFloat || t.Kind == kernel.KindArray:
		out.Elem = id
	}
	return out
}

// pointerSpelled is the type of a pointer that the kernel spells in C: "const stack_t *", or "cap_user_header_t", a
// typedef of a pointer.
func (b memory) pointerSpelled(ctype string) types.Type {
	to := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(ctype), "*"))
	to = strings.TrimSpace(strings.TrimPrefix(to, "const "))
	if btf, err := b.u.facts.BTF(); err == nil {
		if id, ok := btf.Spelled(to); ok {
			if t, err := btf.Type(id); err == nil && t.Kind == kernel.KindPtr && !strings.HasSuffix(ctype, "*") {
				id = t.Elem
			}
			return pointerIn(btf, id)
		}
	}
	return types.Type{Kind: types.Ptr}
}

// pointerElement is p[i]: what lies i elements behind the one that p points to.
func (b memory) pointerElement(p *tree.Expr, i val, pos plan.Pos) val {
	elem := p.Type.BTF | p.Type.Elem
	if elem == 0 {
		refuse(pos, `what this pointer points to has no type: cast("u32 *", p)[i] gives it one, and mem(p, n) is bytes`)
	}
	first := memPlace{p, 0, b.spaceOf(p.Type, pos), b.body}
	if n, ok := i.constInt(); ok {
		return b.read(b.after(first, n, elem, pos), elem, "the element", pos)
	}
	size, err := b.u.btf(pos).Size(elem)
	if err != nil || i.typ().Kind != types.Int || i.typ().Label != "" || i.obj != nil {
		refuse(pos, constantIndex, "a pointer")
	}
	return b.computedElement(first, b.numOrFault(i, pos), size, elem, pos)
}

// computedElement is p[i] of an index that is computed at the event. As with a constant one nothing but the memory says
// where the elements end: one that cannot be read is FAULT. So is that of an index that could not be read, which is one
// of a null pointer.
func (b memory) computedElement(first memPlace, i *tree.Expr, size int, elem kernel.TypeID, pos plan.Pos) val {
	i = b.bind("", exprVal(i), pos).expr
	bytes := operation(tree.OpMul, types.I64, as(assume(i), types.I64, pos), intExpr(int64(size), pos), pos)
	base := as(asAddress(first.addr, pos), types.I64, pos)
	first.addr = operation(tree.OpAdd, types.I64, base, bytes, pos)
	if i.Type.MayFault {
		fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{i}, Pos: pos}
		none := as(intExpr(0, pos), types.I64, pos)
		first.addr = &tree.Expr{Op: tree.OpCond, Type: types.I64, Args: []*tree.Expr{fault, none, first.addr}, Pos: pos}
	}
	first.addr = b.bind("", exprVal(first.addr), pos).expr
	return b.read(first, elem, "the element", pos)
}
