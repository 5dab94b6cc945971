package listing

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// typeKinds are the words that begin a type's name.
var typeKinds = map[string]*kernel.TypeKind{
	"struct": kindOf(kernel.KindStruct), "union": kindOf(kernel.KindUnion), "enum": kindOf(kernel.KindEnum),
	"typedef": kindOf(kernel.KindTypedef),
}

func kindOf(k kernel.TypeKind) *kernel.TypeKind { return &k }

// types finds types by `struct NAME`, a pattern, or the path to a member:
// struct NAME.member.member.
func (s *Source) types(r *Result, word, name string) error {
	b, err := s.Facts.BTF()
	if err != nil {
		return err
	}
	of := *typeKinds[word]
	if kernel.IsPattern(name) {
		return s.typesMatching(r, b, word, name)
	}
	name, path, _ := strings.Cut(strings.ReplaceAll(name, "->", "."), ".")
	id, ok := b.Named(of, name)
	if !ok {
		near := kernel.Suggest(name, b.Names(of))
		if near != "" {
			r.hint(didYouMean(word + " " + near))
		}
		return nil
	}
	l, err := layoutOf(b, id, word+" "+name, path)
	if err != nil {
		return err
	}
	r.Types = append(r.Types, s.shown(b, l))
	return nil
}

// A pending is a type whose layout is still to be listed.
type pending struct {
	id     kernel.TypeID
	layout *Layout
}

// shown lays a type out, if its members are wanted.
func (s *Source) shown(b *kernel.BTF, p pending) *Layout {
	if s.Verbose {
		fill(b, p)
	}
	return p.layout
}

// typesMatching gives all types whose names match.
func (s *Source) typesMatching(r *Result, b *kernel.BTF, word, pattern string) error {
	glob, err := kernel.CompileGlob(pattern)
	if err != nil {
		return err
	}
	of := *typeKinds[word]
	for _, name := range b.Names(of) {
		if !glob.Match(name) {
			continue
		}
		if id, ok := b.Named(of, name); ok {
			l, err := layoutOf(b, id, word+" "+name, "")
			if err != nil {
				return err
			}
			r.Types = append(r.Types, s.shown(b, l))
		}
	}
	return nil
}

// typesNamed gives the types of exactly this name.
func (s *Source) typesNamed(r *Result, b *kernel.BTF, name string) {
	for _, word := range []string{"struct", "union", "enum"} {
		if id, ok := b.Named(*typeKinds[word], name); ok {
			l, err := layoutOf(b, id, word+" "+name, "")
			if err == nil {
				r.Types = append(r.Types, s.shown(b, l))
			}
		}
	}
}

// layoutOf finds the type at the end of a path of members, through pointers.
func layoutOf(b *kernel.BTF, id kernel.TypeID, name, path string) (pending, error) {
	l := &Layout{Type: name}
	if path != "" {
		l.Type += "." + path
		base := id
		for member := range strings.SplitSeq(path, ".") {
			id = target(b, id)
			if isPointer(b, base) || l.In == "" {
				l.In, l.Offset = b.TypeName(id), 0
			}
			f, err := b.Field(id, member)
			if err != nil {
				return pending{}, err
			}
			id, base = f.Type, f.Type
			l.Offset += f.Off
		}
		l.C = b.TypeName(id)
	} else if b.TypeName(id) == strings.TrimPrefix(name, "typedef ") {
		if t, err := b.Type(id); err == nil && t.Kind == kernel.KindTypedef {
			l.C = b.TypeName(t.Elem)
		}
	}
	l.Size, _ = b.Size(id) // 0 where it has none
	return pending{id, l}, nil
}

// target is what a pointer points at; other types are it themselves.
func target(b *kernel.BTF, id kernel.TypeID) kernel.TypeID {
	if t, err := b.Type(b.Skip(id)); err == nil && t.Kind == kernel.KindPtr {
		return b.Skip(t.Elem)
	}
	return b.Skip(id)
}

func isPointer(b *kernel.BTF, id kernel.TypeID) bool {
	t, err := b.Type(b.Skip(id))
	return err == nil && t.Kind == kernel.KindPtr
}

// fill lists the members of a type, or of what it points at.
func fill(b *kernel.BTF, p pending) {
	t, err := b.Type(target(b, p.id))
	if err != nil {
		return
	}
	if t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion {
		p.layout.Members = members(b, t, 0, 0)
	}
	for _, e := range t.Enums {
		p.layout.Values = append(p.layout.Values, Value{e.Name, e.Val})
	}
}

// maxNesting bounds anonymous members in anonymous members; the kernel has 5.
const maxNesting = 16

func members(b *kernel.BTF, t kernel.Type, base, depth int) (out []Member) {
	for _, f := range t.Members {
		m := Member{Name: f.Name, Offset: base + f.Off, Type: scriptType(b, f.Type)}
		m.C = b.Declaration(f.Type, f.Name)
		if m.Size, _ = b.Size(f.Type); f.BitSize != 0 {
			m.Bit, m.Bits, m.Size = int(f.Bit), int(f.BitSize), 0
			m.C += fmt.Sprintf(" : %d", m.Bits)
		}
		if inner, err := b.Type(b.Skip(f.Type)); f.Name == "" && err == nil && depth < maxNesting {
			m.Members = members(b, inner, m.Offset, depth+1)
		}
		out = append(out, m)
	}
	return out
}
