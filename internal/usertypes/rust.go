package usertypes

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// Enums of Rust with variants, and elements of vectors.
//
// An enum of Rust whose values have something in them is a struct with a variant part (DW_TAG_variant_part): a member
// that tells which variant there is, the discriminant, and the variants. Where a variant has values that it never
// takes, as a reference is never null, these stand for the other variants, and the discriminant is a part of it.

// attrDiscriminant and attrDiscriminantList are DW_AT_discr and DW_AT_discr_list.
const (
	attrDiscriminant     = dwarf.AttrDiscr
	attrDiscriminantList = dwarf.AttrDiscrList
)

// variants gives the variants of an enum as members, and notes what tells which one there is. Of an enum of which that
// is not known, as of a discriminant of 128 bits with numbers above 64, there are none.
func (c *conversion) variants(id kernel.TypeID, part *dwarfinfo.Entry, depth int) (members []kernel.Member) {
	var out kernel.VariantPart
	known, signed := c.discriminant(part, &out)
	err := c.t.data.EachChild(part, func(v *dwarfinfo.Entry) (bool, error) {
		if v.Tag != dwarf.TagVariant || !known {
			return known, nil
		}
		variant, ok := variantOf(v, signed)
		known = known && ok && len(out.Variants) < maxEntries
		return known, c.t.data.EachChild(v, func(m *dwarfinfo.Entry) (bool, error) {
			field, ok := c.member(m, depth)
			if m.Tag != dwarf.TagMember || !ok {
				return true, nil
			}
			variant.Name = field.Name
			out.Variants, members = append(out.Variants, variant), append(members, field)
			return true, nil
		})
	})
	if err != nil {
		c.fail(err)
	}
	if out.Discriminant.Type == 0 && len(out.Variants) > 1 {
		members, out.Variants = c.onlyPossible(part, members, out.Variants)
	}
	if !known || out.Discriminant.Type == 0 && len(out.Variants) != 1 {
		return nil
	}
	c.out.Variants(id, out)
	return members
}

// onlyPossible leaves of an enum without a discriminant the variants that a value can be of. There is one, as in a
// Result<i32, Infallible>: where several are possible something must tell them apart.
func (c *conversion) onlyPossible(part *dwarfinfo.Entry, members []kernel.Member, variants []kernel.Variant) (
	_ []kernel.Member, _ []kernel.Variant) {
	var some []kernel.Member
	var of []kernel.Variant
	i := 0
	err := c.eachVariant(part, func(m *dwarfinfo.Entry) {
		if i < len(variants) && !c.impossible(c.t.bare(m), mostNested) {
			some, of = append(some, members[i]), append(of, variants[i])
		}
		i++
	})
	if err != nil || i != len(variants) {
		return nil, nil
	}
	return some, of
}

// eachVariant calls f for the member of each variant of a variant part.
func (c *conversion) eachVariant(part *dwarfinfo.Entry, f func(m *dwarfinfo.Entry)) error {
	return c.t.data.EachChild(part, func(v *dwarfinfo.Entry) (bool, error) {
		if v.Tag != dwarf.TagVariant {
			return true, nil
		}
		return true, c.t.data.EachChild(v, func(m *dwarfinfo.Entry) (bool, error) {
			if m.Tag == dwarf.TagMember {
				f(m)
			}
			return true, nil
		})
	})
}

// mostNested bounds the types in types that are looked at for one that no value is of.
const mostNested = 8

// impossible reports whether no value is of a type: an enum without variants, and what has one in it.
func (c *conversion) impossible(e *dwarfinfo.Entry, depth int) (found bool) {
	if e == nil || depth == 0 {
		return false
	}
	if e.Tag == dwarf.TagBaseType {
		return nameOf(e) == "!"
	}
	if e.Tag != dwarf.TagStructType {
		return false
	}
	err := c.t.data.EachChild(e, func(m *dwarfinfo.Entry) (bool, error) {
		switch m.Tag {
		case dwarf.TagMember:
			found = c.impossible(c.t.bare(m), depth-1)
		case dwarf.TagVariantPart:
			possible := false
			err := c.eachVariant(m, func(v *dwarfinfo.Entry) {
				possible = possible || !c.impossible(c.t.bare(v), depth-1)
			})
			if found = !possible; err != nil {
				return false, err
			}
		}
		return !found, nil
	})
	return found && err == nil
}

// discriminant finds the member that tells which variant there is, and says whether its values have a sign; known is
// false where it is none that can be compared.
func (c *conversion) discriminant(part *dwarfinfo.Entry, out *kernel.VariantPart) (known, signed bool) {
	off, ok := part.Val(attrDiscriminant).(dwarf.Offset)
	if !ok {
		return part.Val(attrDiscriminant) == nil, false
	}
	m, err := c.t.data.Entry(off)
	if err != nil || m == nil {
		return false, false
	}
	first, bits, ok := c.t.place(m)
	size := c.t.pointerOr(m)
	if size == 16 { // the numbers of variants fit in its lower half
		size = 8
	}
	if !ok || bits != 0 || size != 1 && size != 2 && size != 4 && size != 8 {
		return false, false
	}
	is := c.out.Add(kernel.Type{Kind: kernel.KindInt, Name: "discriminant", Size: size})
	out.Discriminant = kernel.Field{Name: "discriminant", Off: first / 8, Type: is}
	of := c.t.bare(m)
	return true, of != nil && of.Tag == dwarf.TagBaseType && base(of).Signed
}

// variantOf says which value of the discriminant an entry is for. One with a sign is written in as few bytes as it fits
// in, of the discriminant's or less: -1 of 64 bits as 0xff.
func variantOf(v *dwarfinfo.Entry, signed bool) (kernel.Variant, bool) {
	if v.Val(attrDiscriminantList) != nil {
		return kernel.Variant{}, false
	}
	if n, ok := v.SignedVal(dwarf.AttrDiscrValue); ok && signed {
		return kernel.Variant{Value: uint64(n)}, true
	}
	switch n := v.Val(dwarf.AttrDiscrValue).(type) {
	case nil:
		return kernel.Variant{Default: true}, true
	case int64:
		return kernel.Variant{Value: uint64(n)}, true
	case uint64:
		return kernel.Variant{Value: n}, true
	case []byte: // of 128 bits
		if low, high := n[:min(8, len(n))], n[min(8, len(n)):]; len(n) == 16 && !slices.ContainsFunc(high, isSet) {
			return kernel.Variant{Value: binary.LittleEndian.Uint64(low)}, true
		}
	}
	return kernel.Variant{}, false
}

func isSet(b byte) bool { return b != 0 }

// elements notes what the elements of a Vec are: the parameter T of its type. What its members lead to are bytes.
func (c *conversion) elements(id kernel.TypeID, e *dwarfinfo.Entry, name string, depth int) {
	if !strings.HasPrefix(name, "Vec<") {
		return
	}
	err := c.t.data.EachChild(e, func(p *dwarfinfo.Entry) (bool, error) {
		if p.Tag != dwarf.TagTemplateTypeParameter || nameOf(p) != "T" {
			return true, nil
		}
		if to := c.next(p, declared, depth); to != 0 {
			c.out.Elements(id, to)
		}
		return false, nil
	})
	if err != nil {
		c.fail(err)
	}
}
