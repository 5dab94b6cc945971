package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Enums of Rust with something in their variants: x.variant, members, Option and Result.
//
// Enums of Rust whose variants have something in them. An Option is what is in it, or None, as a std::optional is. Of
// others x.variant is the name of the variant, and each variant is a field: what is in it, and None where the enum is
// another one. A variant whose members have names is a struct, whose address it is, and others are a tuple, or what is
// in them.

// A rustEnum is such a value.
type rustEnum struct {
	kernel.VariantPart
	// parts is what the value is in memory, and name that of its type.
	parts val
	name  string
	// from is the program that can read it.
	from *body
}

func (o *rustEnum) what() string { return "the enum " + o.name }

// enumOf is a struct as the enum of Rust that it is; false where it is none.
func (b library) enumOf(x val, pos plan.Pos) (*rustEnum, bool) {
	btf := b.u.btf(pos)
	id := btf.Skip(structOf(x))
	part, ok := kernel.VariantsOf(btf, id)
	t, err := kernel.Outline(btf, id)
	return &rustEnum{part, x, t.Name, b.body}, ok && err == nil
}

// valueOf is an enum as the value that it stands for: of an Option what is in it.
func (b library) valueOf(o *rustEnum, pos plan.Pos) val {
	if strings.HasPrefix(o.name, "Option<") && len(o.Variants) == 2 {
		for i, v := range o.Variants {
			if v.Name == "Some" {
				return b.variant(o, i, pos)
			}
		}
	}
	return objVal(o)
}

// enumMember is x.variant of an enum, or what is in a variant.
func (b attributes) enumMember(o *rustEnum, name string, pos plan.Pos) val {
	names := []string{"variant"}
	for i, v := range o.Variants {
		if names = append(names, v.Name); v.Name != name && v.Name != kernel.TrimEscape(name) {
			continue
		}
		return b.inPlace(memPlace{from: o.from}, func(at *body) val {
			if empty(at.u.btf(pos), o, i) {
				wrong(pos, "nothing is in the variant %s: compare x.variant == %q", v.Name, v.Name)
			}
			return library{at}.variant(o, i, pos)
		})
	}
	if name != "variant" {
		wrong(pos, "%s has no variant %s%s", o.what(), name, refusal.Near(name, names))
	}
	return b.inPlace(memPlace{from: o.from}, func(at *body) val { return exprVal(library{at}.variantName(o, pos)) })
}

// empty reports whether nothing is in a variant.
func empty(btf *kernel.BTF, o *rustEnum, i int) bool {
	f, err := btf.Field(structOf(o.parts), o.Variants[i].Name)
	return err == nil && len(btf.Fields(btf.Skip(f.Type))) == 0
}

// variant is what is in a variant, None where the enum is another one.
func (b library) variant(o *rustEnum, i int, pos plan.Pos) val {
	is := b.isVariant(o, i, pos)
	v := b.content(unlessLost(is, o.parts), o, i, pos)
	if list, ok := b.asHeldList(is, v, pos); ok && is.Op != tree.OpUnreadable {
		return list
	}
	return b.ifThere(is, v, pos)
}

// content is what the parts of an enum have of a variant, whether it is that one or not: the only member of a tuple, or
// the struct.
func (b library) content(parts val, o *rustEnum, i int, pos plan.Pos) val {
	name := o.Variants[i].Name
	f, ok := b.member(structOf(parts), path{name}, pos)
	btf := b.u.btf(pos)
	fields := btf.Fields(btf.Skip(f.Type))
	tuple := ok && len(fields) > 0 && fields[0] == "__0"
	if tuple && len(fields) == 1 {
		f, ok = b.member(structOf(parts), path{name, "__0"}, pos)
	}
	switch {
	case !ok:
		return unknownKind(pos)
	case tuple && len(fields) > 1:
		return b.tuple(parts, rustElements(path{name}, len(fields)), pos)
	}
	return b.part(parts, f, pos)
}

// discriminant is the number that tells which variant there is.
func (b library) discriminant(o *rustEnum, pos plan.Pos) *tree.Expr {
	if o.Discriminant.Type == 0 {
		return intExpr(0, pos)
	}
	return b.rv(b.part(o.parts, o.Discriminant, pos), pos)
}

// isVariant is whether an enum is one of its variants; FAULT where it could not be read.
func (b library) isVariant(o *rustEnum, i int, pos plan.Pos) *tree.Expr {
	if len(o.Variants) == 1 {
		return as(intExpr(1, pos), types.Boolean, pos)
	}
	n := b.discriminant(o, pos)
	if n.Op == tree.OpUnreadable {
		return n
	}
	return orFault(n, pos, func(n *tree.Expr) *tree.Expr { return o.chosen(n, i, b.u.btf(pos), pos) })
}

// chosen is whether a discriminant is that of a variant.
func (o *rustEnum) chosen(n *tree.Expr, i int, btf *kernel.BTF, pos plan.Pos) *tree.Expr {
	is := func(v kernel.Variant) *tree.Expr {
		value := v.Value
		if size, err := btf.Size(o.Discriminant.Type); err == nil && size < 8 {
			value &= 1<<(8*size) - 1
		}
		constant := as(intExpr(int64(value), pos), types.U64, pos)
		return operation(tree.OpEq, types.Boolean, as(n, types.U64, pos), constant, pos)
	}
	if !o.Variants[i].Default {
		return is(o.Variants[i])
	}
	var out *tree.Expr
	for _, v := range o.Variants {
		switch {
		case v.Default:
		case out == nil:
			out = not(is(v), pos)
		default:
			out = logic(tree.OpLAnd, out, not(is(v), pos), pos)
		}
	}
	return out
}

// variantName is the name of the variant that an enum is; FAULT of what is none.
func (b library) variantName(o *rustEnum, pos plan.Pos) *tree.Expr {
	if len(o.Variants) == 1 {
		return b.u.nameConst(o.Variants[0].Name, pos)
	}
	n := b.discriminant(o, pos)
	if n.Op == tree.OpUnreadable {
		return n
	}
	return orFault(n, pos, func(n *tree.Expr) *tree.Expr {
		t := types.Name.OrFault()
		out := as(faultExpr(pos), t, pos)
		for i, v := range o.Variants {
			if v.Default {
				out = as(b.u.nameConst(o.Variants[i].Name, pos), t, pos)
			}
		}
		for i, v := range o.Variants {
			if !v.Default {
				name := as(b.u.nameConst(v.Name, pos), t, pos)
				out = conditional(o.chosen(n, i, b.u.btf(pos), pos), name, out, pos)
			}
		}
		return out
	})
}

// mostVariants bounds the variants that an enum shows as a whole. Of one that has more with something in them the name
// is shown.
const mostVariants = 8

// enumValue is an enum as a value: the name of its variant, and of each variant what is in it.
func (b library) enumValue(o *rustEnum, pos plan.Pos) val {
	out := b.allVariants(o, pos)
	if len(out.elems) > mostVariants+1 {
		out.names, out.elems = out.names[:1], out.elems[:1]
	}
	return out
}

// heldEnum is an enum that an Option holds, as what can be None: a record. One of more variants than that shows is its
// address, which leads to all of them, and in registers a record of all.
func (b library) heldEnum(o *rustEnum, pos plan.Pos) val {
	out := b.allVariants(o, pos)
	if _, words := o.parts.obj.(*regStruct); !words && len(out.elems) > mostVariants+1 {
		return o.parts
	}
	return out
}

// allVariants is a record of the name of the variant that an enum is, and of what is in each of them.
func (b library) allVariants(o *rustEnum, pos plan.Pos) val {
	return b.attributes().inPlace(memPlace{from: o.from}, func(at *body) val {
		out := val{comp: true, names: []string{"variant"}, elems: []val{exprVal(library{at}.variantName(o, pos))}}
		for i, v := range o.Variants {
			if empty(b.u.btf(pos), o, i) {
				continue
			}
			out.names = append(out.names, v.Name)
			out.elems = append(out.elems, orUnshown(pos, func() val {
				return at.sendable(library{at}.variant(o, i, pos), pos)
			}))
		}
		return out
	})
}

// tuple is a tuple, to whose elements these paths lead.
func (b library) tuple(x val, elems []path, pos plan.Pos) val {
	out := val{comp: true}
	for _, way := range elems {
		out.elems = append(out.elems, orUnshown(pos, func() val {
			f, ok := b.member(structOf(x), way, pos)
			if !ok {
				return unknownKind(pos)
			}
			return b.part(x, f, pos)
		}))
	}
	return out
}

// rustElements are the ways to the elements of a tuple of Rust of n elements, which a path leads to.
func rustElements(way path, n int) (out []path) {
	for i := range n {
		out = append(out, append(slices.Clone(way), fmt.Sprint("__", i)))
	}
	return out
}
