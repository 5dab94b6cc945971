package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// What a pointer points to.

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
	t, err := btf.Type(id)
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
	n, ok := i.constInt()
	if !ok {
		refuse(pos, constantIndex, "a pointer")
	}
	at := b.after(memPlace{p, 0, b.spaceOf(p.Type, pos), b.body}, n, elem, pos)
	return b.read(at, elem, "the element", pos)
}
