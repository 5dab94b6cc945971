package infer

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// word is word i in the program b.
func (s *regStruct) word(b *body, i int, pos plan.Pos) *tree.Expr {
	if i >= len(s.words) {
		refuse(pos, "a field that is not among the words of its struct cannot be read")
	}
	w := s.words[i]
	if w.expr != nil {
		return b.argWords().carry(w.from, w.expr)
	}
	return b.argWords().carry(w.from, w.from.argWords().wordAt(w.Place, tree.Kernel, pos))
}

// field is s.name.
func (s *regStruct) field(b *body, name string, pos plan.Pos) val {
	f, err := b.u.btf(pos).Field(s.id, name)
	if err != nil {
		wrong(pos, "%v", err)
	}
	return s.part(b, f, pos)
}

// part reads a member, or gives the struct that it is.
func (s *regStruct) part(b *body, f kernel.Field, pos plan.Pos) val {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(f.Type))
	if err != nil {
		wrong(pos, "%v", err)
	}
	at := s.off + f.Off
	size := t.Size
	if f.BitSize != 0 {
		size = int(f.Load)
	}
	switch {
	case t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion || t.Kind == kernel.KindArray:
		return objVal(&regStruct{words: s.words, off: at, id: btf.Skip(f.Type)})
	case at%8+size > 8:
		refuse(pos, "%s lies in two registers, which a kernel half cannot put together", f.Name)
	}
	word := s.word(b, at/8, pos)
	if word.Op == tree.OpUnreadable {
		return exprVal(word)
	}
	if f.BitSize == 0 {
		return b.argWords().typedWord(shifted(word, 8*(at%8), pos), f.Type, pos)
	}
	return exprVal(truthBit(bitsOf(word, 8*(at%8)+int(f.Bit), int(f.BitSize), t.Signed, pos), t))
}

// shifted is a word without its lowest bits.
func shifted(word *tree.Expr, by int, pos plan.Pos) *tree.Expr {
	if by == 0 {
		return word
	}
	return operation(tree.OpShr, types.U64, word, intExpr(int64(by), pos), pos)
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
	switch {
	case err != nil || t.Kind != kernel.KindArray:
		wrong(pos, "%s cannot be indexed", s.what())
	case !ok:
		refuse(pos, "an array field takes a constant index in a kernel half")
	case n < 0 || n >= int64(t.Len):
		wrong(pos, "index %d of an array of %s", n, format.Count(t.Len, "element"))
	}
	size, err := btf.Size(t.Elem)
	if err != nil {
		refuse(pos, "%v", err)
	}
	return s.part(b, kernel.Field{Name: "the element", Off: int(n) * size, Type: t.Elem}, pos)
}

// whole is the struct as a value: its word, or a record of its fields.
func (s *regStruct) whole(b *body, pos plan.Pos) val {
	btf := b.u.btf(pos)
	size, err := btf.Size(s.id)
	if err == nil && size <= 8 && s.off%8+size <= 8 && len(s.words) > s.off/8 {
		word := s.word(b, s.off/8, pos)
		if word.Op == tree.OpUnreadable {
			return exprVal(word)
		}
		return exprVal(bitsOf(word, 8*(s.off%8), 8*size, false, pos))
	}
	out := val{comp: true, names: []string{}}
	for _, name := range btf.Fields(s.id) {
		var v val
		if refusal.Attempt(func() { v = b.sendable(s.field(b, name, pos), pos) }) == nil {
			out.names, out.elems = append(out.names, name), append(out.elems, v)
		}
	}
	if len(out.names) == 0 {
		refuse(pos, "%s cannot be a value: use its parts", s.what())
	}
	return out
}
