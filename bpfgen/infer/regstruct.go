package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Structs, unions and arrays whose bytes are in registers: members, bit-fields, numbers of 128 bits.

// wordAt is the part of a word that has size bytes of the struct from at on, in the program b; false: no word has them.
func (s *regStruct) wordAt(b *body, at, size int, pos plan.Pos) (*tree.Expr, bool) {
	for _, w := range s.words {
		if at < w.at || at+size > w.at+w.size() {
			continue
		}
		word := w.expr
		if word == nil {
			word = w.from.argWords().wordAt(w.Place, w.space, pos)
		}
		if word = b.argWords().carry(w.from, word); word.Op == tree.OpUnreadable {
			return word, true
		}
		return shifted(word, 8*(at-w.at), pos), true
	}
	return nil, false
}

// has is wordAt where there must be one.
func (s *regStruct) has(b *body, at, size int, name string, pos plan.Pos) *tree.Expr {
	word, ok := s.wordAt(b, at, size, pos)
	switch {
	case ok:
		return word
	case s.split || !s.covers(at, size):
		return lost(pos)
	}
	refuse(pos, "%s lies in two registers, which a kernel half cannot put together", name)
	return nil
}

// covers reports whether the words have each of size bytes of the struct from at on. Debug information may know of some
// members only, of those that the function uses.
func (s *regStruct) covers(at, size int) bool {
	for i := at; i < at+size; i++ {
		if !slices.ContainsFunc(s.words, func(w wordIn) bool { return w.at <= i && i < w.at+w.size() }) {
			return false
		}
	}
	return true
}

// field is s.name.
func (s *regStruct) field(b *body, name string, pos plan.Pos) val {
	if o, ok := (library{b}).enumOf(objVal(s), pos); ok {
		return b.attributes().enumMember(o, name, pos)
	}
	f, err := b.u.btf(pos).Field(s.id, name)
	if v, ok := b.memory().promoted(objVal(s), s.id, name, err, pos); ok {
		return v
	}
	if err != nil {
		wrong(pos, "%v", err)
	}
	return s.part(b, f, pos)
}

// part reads a member, or gives the struct that it is.
func (s *regStruct) part(b *body, f kernel.Field, pos plan.Pos) val {
	return b.attributes().inPlace(memPlace{from: s.in}, func(at *body) val { return s.partIn(at, f, pos) })
}

func (s *regStruct) partIn(b *body, f kernel.Field, pos plan.Pos) val {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(f.Type))
	if err != nil {
		wrong(pos, "%v", err)
	}
	at := s.off + f.Off
	size := t.Size
	switch {
	case s.nowhere:
		return b.argWords().nowhere(btf.Skip(f.Type), t, pos)
	case t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion || t.Kind == kernel.KindArray:
		inner := &regStruct{words: s.words, off: at, id: btf.Skip(f.Type), in: s.in, split: s.split}
		return b.memory().inWords(inner, pos)
	}
	if f.BitSize != 0 {
		return s.bitField(b, f, t, at, pos)
	}
	if t.Kind == kernel.KindInt && size == 16 {
		return s.wideInt(b, t, at, f.Name, pos)
	}
	word := s.has(b, at, size, f.Name, pos)
	switch {
	case word.Op == tree.OpUnreadable && word.Int == tree.Lost:
		return b.argWords().nowhere(btf.Skip(f.Type), t, pos)
	case word.Op == tree.OpUnreadable:
		return exprVal(word)
	}
	return b.argWords().typedWord(word, f.Type, pos)
}

// wideInt is a member of 128 bits as a tuple of two, the lower half first.
func (s *regStruct) wideInt(b *body, t kernel.Type, at int, name string, pos plan.Pos) val {
	low, high := s.has(b, at, 8, name, pos), s.has(b, at+8, 8, name, pos)
	for _, half := range []*tree.Expr{low, high} {
		if half.Op == tree.OpUnreadable {
			return exprVal(half)
		}
	}
	return inHalves(low, high, t.Signed, pos)
}

// bitField reads some bits of a word: the unit that they are told by can be larger than the struct.
func (s *regStruct) bitField(b *body, f kernel.Field, t kernel.Type, at int, pos plan.Pos) val {
	first := int(f.Bit) / 8
	word := s.has(b, at+first, (int(f.Bit)%8+int(f.BitSize)+7)/8, f.Name, pos)
	if word.Op == tree.OpUnreadable {
		return exprVal(word)
	}
	e := orFault(word, pos, func(there *tree.Expr) *tree.Expr {
		bits := bitsOf(there, int(f.Bit)%8, int(f.BitSize), t.Signed, pos)
		return truthBit(partOf(as(bits, types.IntOf(uint8(8*t.Size), t.Signed), pos)), t)
	})
	return exprVal(b.memory().asNamed(e, t, pos))
}

// shifted is a word without its lowest bits.
func shifted(word *tree.Expr, by int, pos plan.Pos) *tree.Expr {
	if by == 0 {
		return word
	}
	return orFault(word, pos, func(there *tree.Expr) *tree.Expr {
		return operation(tree.OpShr, types.U64, there, intExpr(int64(by), pos), pos)
	})
}

// partOf is a part of a word that is a field, which has the width of its type where it is shown (ownwidth.go). What a
// script computes of a word has none.
func partOf(e *tree.Expr) *tree.Expr {
	e.Part = true
	return e
}

// bitsOf takes size bits of a word from a place on, as an int of that sign.
func bitsOf(word *tree.Expr, at, size int, signed bool, pos plan.Pos) *tree.Expr {
	up := operation(tree.OpShl, types.U64, word, intExpr(int64(64-at-size), pos), pos)
	t := types.IntOf(64, signed)
	return operation(tree.OpShr, t, as(up, t, pos), intExpr(int64(64-size), pos), pos)
}

// element is s[i].
func (s *regStruct) element(b *body, i val, pos plan.Pos) val {
	btf := b.u.btf(pos)
	t, err := btf.Type(s.id)
	n, ok := i.constInt()
	if t.Kind != kernel.KindArray && ok && n >= 0 && n < int64(len(s.returned)) {
		return b.argWords().userValue(b, s.returned[n], pos)
	}
	if s.lostInt(b) {
		t = kernel.Type{Kind: kernel.KindArray, Elem: s.id, Len: 2}
	}
	switch {
	case err != nil || t.Kind != kernel.KindArray:
		wrong(pos, "%s cannot be indexed", s.what())
	case !ok:
		refuse(pos, constantIndex, "an array field")
	}
	if n, ok = within(n, t.Len); !ok {
		wrong(pos, "index %d of an array of %s", n, format.Count(t.Len, "element"))
	}
	if s.lostInt(b) {
		return unknownPlace(pos)
	}
	if s.nowhere {
		return b.memory().gone(t.Elem, pos)
	}
	size, err := btf.Size(t.Elem)
	if err != nil {
		refuse(pos, "%v", err)
	}
	return s.part(b, kernel.Field{Name: "the element", Off: int(n) * size, Type: t.Elem}, pos)
}

// lostInt reports whether this is a number of 128 bits, in two halves, of which nobody knows where it is.
func (s *regStruct) lostInt(b *body) bool {
	t, err := b.u.btf(plan.Pos{}).Type(s.id)
	return err == nil && s.nowhere && t.Kind == kernel.KindInt
}

// length is how many elements an array has; false of a struct.
func (s *regStruct) length(b *body) (int, bool) {
	t, err := b.u.btf(plan.Pos{}).Type(s.id)
	return t.Len, err == nil && t.Kind == kernel.KindArray
}

// elements is an array as a tuple of its elements.
func (s *regStruct) elements(b *body, n int, pos plan.Pos) val {
	out := val{comp: true}
	for i := range n {
		out.elems = append(out.elems, b.sendable(s.element(b, intVal(int64(i)), pos), pos))
	}
	return out
}

// whole is the struct as a value: a record of its fields, but of the kernel's its word where it is one.
func (s *regStruct) whole(b *body, pos plan.Pos) val {
	if s.lostInt(b) {
		return unknownPlace(pos)
	}
	btf := b.u.btf(pos)
	size, err := btf.Size(s.id)
	if word, ok := s.wordAt(b, s.off, size, pos); ok && err == nil && size > 0 && !btf.OfProgram(s.id) {
		if word.Op == tree.OpUnreadable {
			return exprVal(word)
		}
		return exprVal(bitsOf(word, 0, 8*size, false, pos))
	}
	if t, err := btf.Type(s.id); err == nil && t.Kind == kernel.KindArray {
		return s.elements(b, t.Len, pos)
	}
	if left := mostParts; !fewParts(btf, s.id, &left) {
		refuse(pos, "the struct has more than %d parts: name those that are wanted", mostParts)
	}
	out := val{comp: true, names: []string{}}
	for _, name := range btf.Fields(s.id) {
		out.names = append(out.names, name)
		out.elems = append(out.elems, orUnshown(pos, func() val { return b.sendable(s.field(b, name, pos), pos) }))
	}
	if !slices.ContainsFunc(out.elems, func(v val) bool { return !v.unshown() }) {
		refuse(pos, "%s cannot be a value: use its parts", s.what())
	}
	return out
}

// mostParts bounds a struct that is sent as a whole. A struct of four structs of four structs … has more members than
// can be counted, and damaged debug information says that it is small.
const mostParts = 1 << 12

// fewParts takes the members of a struct, those of its members too, from what is left, until nothing is.
func fewParts(btf *kernel.BTF, id kernel.TypeID, left *int) bool {
	for _, name := range btf.Fields(id) {
		f, err := btf.Field(id, name)
		if err == nil && !partsWithin(btf, btf.Skip(f.Type), left) {
			return false
		}
	}
	return true
}

// partsWithin is fewParts of any type.
func partsWithin(btf *kernel.BTF, id kernel.TypeID, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	t, err := btf.Type(id)
	switch {
	case err != nil:
	case t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion:
		return fewParts(btf, id, left)
	case t.Kind == kernel.KindArray:
		for range t.Len {
			if !partsWithin(btf, btf.Skip(t.Elem), left) {
				return false
			}
		}
	}
	return true
}
