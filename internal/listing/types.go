package listing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
)

// Layouts of types: `startrace list 'struct NAME'`.

// typeKinds are the words that begin a type's name.
var typeKinds = map[string]*kernel.TypeKind{
	"struct": kindOf(kernel.KindStruct), "union": kindOf(kernel.KindUnion), "enum": kindOf(kernel.KindEnum),
	"typedef": kindOf(kernel.KindTypedef),
}

func kindOf(k kernel.TypeKind) *kernel.TypeKind { return &k }

// A typeQuery is `struct NAME`, or `MODULE:struct NAME`.
type typeQuery struct {
	module string // that has the type; "": any, or the kernel proper
	word   string // struct, union …
	name   string // or a pattern
}

// spelled is the name of a type as scripts write it.
func (q typeQuery) spelled(name string) string {
	if name = q.word + " " + name; q.module != "" {
		return q.module + ":" + name
	}
	return name
}

// find finds a type by its name.
func (q typeQuery) find(s *Source, b *kernel.BTF, name string) (id kernel.TypeID, ok bool, err error) {
	if id, ok := b.Named(*typeKinds[q.word], name); ok && q.module == "" {
		return id, true, nil
	}
	id, ok, err = kernel.InModules(s.Facts).Find(strings.Replace(q.spelled(name), "typedef ", "", 1))
	if differ := (*kernel.NotOneTypeError)(nil); errors.As(err, &differ) {
		err = fmt.Errorf("%w: %s", err, differ.Way())
	}
	return id, ok, err
}

// names are those of all types of the kind.
func (q typeQuery) names(s *Source, b *kernel.BTF) (out []string) {
	of, module := *typeKinds[q.word], q.module
	if module == "" {
		out = b.Names(of)
	} else if name, loaded := kernel.InModules(s.Facts).Name(module); loaded {
		module = name
	}
	out = append(out, kernel.InModules(s.Facts).Names(module, of)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// types finds types by a name, a pattern, or the path to a member:
// struct NAME.member.member.
func (s *Source) types(r *Result, q typeQuery) error {
	b, err := s.Facts.BTF()
	if err != nil {
		return err
	}
	if naming.IsPattern(q.name) {
		return s.typesMatching(r, b, q)
	}
	name, path, _ := strings.Cut(strings.ReplaceAll(q.name, "->", "."), ".")
	id, ok, err := q.find(s, b, name)
	if err != nil {
		return err
	}
	if !ok {
		if near := naming.Suggest(name, q.names(s, b)); near != "" {
			r.hint(didYouMean(q.spelled(near)))
		}
		return nil
	}
	l, err := layoutOf(b, id, q.spelled(name), path)
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

// typesMatching gives all types whose names match, but for those of which modules have different ones.
func (s *Source) typesMatching(r *Result, b *kernel.BTF, q typeQuery) error {
	glob, err := naming.Compile(q.name)
	if err != nil {
		return err
	}
	for _, name := range q.names(s, b) {
		if !glob.Match(name) {
			continue
		}
		if id, ok, err := q.find(s, b, name); ok && err == nil {
			l, err := layoutOf(b, id, q.spelled(name), "")
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
