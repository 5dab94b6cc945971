package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Fields of structs in the memory of programs of 32 bits, by the kernel's compat types.

// narrowField is a field of a struct in the memory of a program of 32 bits: FAULT where the kernel's types do not have
// it.
func (b memory) narrowField(p *tree.Expr, name string, pos plan.Pos) val {
	if p.Type.BTF != 0 {
		if _, err := b.u.btf(pos).Field(p.Type.BTF, name); err == nil {
			return b.structField(&structObj{memPlace{p, 0, tree.User, b.body}, p.Type.BTF}, name, pos)
		}
	}
	nowhere := convert(intExpr(0, pos), types.U64)
	return exprVal(load(memPlace{nowhere, 0, tree.User, b.body}, types.I64, pos))
}

// narrowPointer is a pointer in a struct of the kernel's 32-bit interface, which the kernel's types have as a number:
// compat_uptr_t. To what it points says the struct of 64 bits of the same name: msg_iov of struct compat_msghdr is a
// struct iovec * in struct user_msghdr, so it points to a struct compat_iovec. ok is false of other fields.
func (b memory) narrowPointer(of kernel.TypeID, name string, field kernel.TypeID, at memPlace,
	pos plan.Pos) (v val, ok bool) {
	btf := b.u.btf(pos)
	if t, err := btf.Type(field); err != nil || t.Kind != kernel.KindTypedef || t.Name != "compat_uptr_t" {
		return val{}, false
	}
	word := load(at, types.U32, pos)
	to := b.wideElem(of, name, pos)
	switch t, err := btf.Type(btf.Skip(to)); {
	case err == nil && b.isChar(to, pos):
		return exprVal(b.cstring(memPlace{word, 0, tree.User, b.body}, b.u.strMax+1, 0, pos)), true
	case err == nil && b.isCharPtr(to, pos):
		list := stringLists{b}.at(memPlace{word, 0, tree.User, b.body}, pos)
		list.BitSize = 32
		return exprVal(list), true
	default:
		p := types.Type{Kind: types.Ptr, Narrow: true, MayFault: true}
		if err == nil && t.Kind == kernel.KindStruct {
			p.BTF, _ = btf.Named(kernel.KindStruct, "compat_"+t.Name)
		}
		return exprVal(&tree.Expr{Op: tree.OpConvert, Type: p, Args: []*tree.Expr{word}, Pos: pos}), true
	}
}

// wideElem is to what a field points in the struct of programs of 64 bits; 0 where the kernel's types do not tell it.
func (b memory) wideElem(narrow kernel.TypeID, name string, pos plan.Pos) kernel.TypeID {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(narrow))
	if err != nil {
		return 0
	}
	tag := strings.TrimPrefix(t.Name, "compat_")
	for _, tag := range []string{"user_" + tag, tag} {
		id, ok := btf.Named(kernel.KindStruct, tag)
		if !ok {
			continue
		}
		f, err := btf.Field(id, name)
		if err != nil {
			continue
		}
		if p, err := btf.Type(btf.Skip(f.Type)); err == nil && p.Kind == kernel.KindPtr {
			return p.Elem
		}
	}
	return 0
}
