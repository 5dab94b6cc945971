package signature

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// To how many bytes an argument is aligned (DW_AT_alignment). Debug information gives it only where the source does
// (DW_AT_alignment, DWARF 5, 2.24, by gcc from 7 on and clang from 5 on in all versions of DWARF). Elsewhere it is what
// the members need, and that a struct is packed shows only by members that lie where they could not lie otherwise.

// attrAlignment is DW_AT_alignment, which debug/dwarf has no name for.
const attrAlignment = dwarf.Attr(0x88)

// An alignment is that of a struct, a union or a class, in bytes: what its members need, and what it has itself, if
// the source says so of it.
type alignment struct{ members, own int64 }

// alignment is that of a class all of whose members were read.
func (s *class) alignment(e *dwarfinfo.Entry) alignment {
	own, _ := e.Val(attrAlignment).(int64)
	members := max(s.needed, s.said, 1)
	if s.packed || s.ByteSize%members != 0 {
		members = max(s.said, 1)
	}
	return alignment{members: members, own: own}
}

// align notes what a member needs. A packed struct keeps what the source says of a member, but not what it says of the
// name of a member's type, which clang tells as if it were of the member. How such a struct is passed is not known:
// clang takes it for one that is not aligned, and gcc does not.
func (f *finder) align(s *class, m *dwarfinfo.Entry, field *dwarf.StructField) {
	said, _ := m.Val(attrAlignment).(int64)
	named := f.ofName(m)
	if said = max(said, 1); field.ByteOffset%said == 0 {
		s.said = max(s.said, said)
	}
	need := max(f.whole(field.Type), named, 1)
	s.needed = max(s.needed, need)
	s.packed = s.packed || field.ByteOffset%need != 0
	s.Incomplete = s.Incomplete || field.ByteOffset%max(said, named, 1) != 0
}

// ofName is what the source aligns the name to by which a member has its type (typedef, using); 0 for nothing.
func (f *finder) ofName(m *dwarfinfo.Entry) (largest int64) {
	for range deepest {
		off, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			break
		}
		var err error
		if m, err = f.data.Entry(off); err != nil || m == nil || !namesAndQualifiers[m.Tag] {
			break
		}
		said, _ := m.Val(attrAlignment).(int64)
		largest = max(largest, said)
	}
	return largest
}

// whole is what a type needs as a member.
func (f *finder) whole(t dwarf.Type) int64 {
	switch t := t.(type) {
	case *dwarf.StructType:
		a, known := f.alignments[t]
		if !known { // two words that were made up
			return t.Field[0].Type.Size()
		}
		return max(a.members, a.own)
	case *dwarf.ArrayType:
		return f.whole(t.Type)
	case *dwarf.ComplexType:
		return t.ByteSize / 2
	case *dwarf.VoidType:
		return 1
	}
	return min(t.Size(), 16)
}

// alignmentOf is what a type is aligned to as an argument, in bytes. arm64 looks at its members only (AAPCS64, 5.9.6:
// the natural alignment), and there what is aligned to more is passed as what is aligned to 16.
func (f *finder) alignmentOf(t dwarf.Type) int {
	s, composite := t.(*dwarf.StructType)
	a, known := f.alignments[s]
	switch {
	case !composite || !known:
		return int(f.whole(t))
	case f.arch == "arm64":
		return int(min(a.members, 16))
	}
	return int(max(a.members, a.own))
}
