package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Types of loaded modules by their names, as xfs:struct xfs_inode. They are sought where the kernel proper has no such
// type, and modules do not know each other: two can have different types of one name. Then the name alone says nothing.

// A NotOneTypeError says that modules have different things of one name.
type NotOneTypeError struct {
	Name    string   // as the script writes it: "struct item"
	Modules []string // that have one
}

// Way is what to write instead.
func (e *NotOneTypeError) Way() string {
	return fmt.Sprintf(`write which, as "%s:%s"`, e.Modules[0], e.Name)
}

func (e *NotOneTypeError) Error() string {
	return fmt.Sprintf("the modules %s have different ones of the name %s", strings.Join(e.Modules, " and "), e.Name)
}

// ModuleTypes are the types of the loaded modules.
type ModuleTypes struct{ f *Facts }

// InModules are the types of the modules that are loaded.
func InModules(f *Facts) ModuleTypes { return ModuleTypes{f} }

// Name is the name of a loaded module whose types the kernel shows; false where none has it. A - in it is a _ for
// the kernel.
func (t ModuleTypes) Name(name string) (string, bool) {
	name = strings.ReplaceAll(name, "-", "_")
	return name, slices.Contains(t.f.moduleNames(), name)
}

// Find finds a type as scripts write it: one of the kernel proper, "struct sock", or else of the loaded modules, of one
// of them where it is named, "xfs:struct xfs_inode".
func (t ModuleTypes) Find(name string) (id TypeID, ok bool, err error) {
	b, err := t.f.BTF()
	if err != nil {
		return 0, false, err
	}
	of, spelled, found := strings.Cut(name, ":")
	if !found {
		if id, ok := b.Spelled(strings.TrimSpace(name)); ok {
			return id, true, nil
		}
		return t.Spelled("", strings.TrimSpace(name))
	}
	if of, found = t.Name(of); !found {
		return 0, false, nil
	}
	return t.Spelled(of, strings.TrimSpace(spelled))
}

// Names are the names of the types of a kind in the loaded modules, or in one of them where it is named.
func (t ModuleTypes) Names(module string, kind TypeKind) (out []string) {
	b, err := t.f.BTF()
	if err != nil {
		return nil
	}
	for _, m := range t.f.loadedModules() {
		if module != "" && m.name != module {
			continue
		}
		m.part.each(func(_ TypeID, k int, r typeRecord) {
			if name := b.bytesAt(r.name()); kindOf[k] == kind && len(name) > 0 {
				out = append(out, string(name))
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Spelled finds a type as C spells it, "struct xfs_inode", among those of the loaded modules, of one of them
// where it is named. Types of several modules that are laid out alike are one.
func (t ModuleTypes) Spelled(module, spelled string) (id TypeID, ok bool, err error) {
	b, err := t.f.BTF()
	if err != nil {
		return 0, false, err
	}
	kind, name := KindTypedef, spelled
	if word, rest, found := strings.Cut(spelled, " "); found {
		k, known := map[string]TypeKind{"struct": KindStruct, "union": KindUnion, "enum": KindEnum}[word]
		if !known {
			return 0, false, nil
		}
		kind, name = k, strings.TrimSpace(rest)
	}
	differ := &NotOneTypeError{Name: spelled}
	for _, m := range t.f.loadedModules() {
		if module != "" && m.name != module {
			continue
		}
		at, has := m.typeNamed(b, kind, name)
		if !has {
			continue
		}
		if at = b.Skip(at); !ok {
			id, ok = at, true
			differ.Modules = []string{m.name}
		} else if !alike(b, id, at) {
			differ.Modules = append(differ.Modules, m.name)
		}
	}
	if len(differ.Modules) > 1 {
		return 0, false, differ
	}
	return id, ok, nil
}

// typeNamed finds a type of the module by its name.
func (m *moduleBTF) typeNamed(b *BTF, kind TypeKind, name string) (id TypeID, ok bool) {
	want := []byte(name)
	m.part.each(func(at TypeID, k int, r typeRecord) {
		if !ok && kindOf[k] == kind && bytes.Equal(b.bytesAt(r.name()), want) {
			id, ok = m.first+at-1, true
		}
	})
	return id, ok
}

// alike reports whether two types have one size, and members or constants of the same names at the same places.
func alike(b *BTF, x, y TypeID) bool {
	first, err := b.Size(x)
	second, err2 := b.Size(y)
	if err != nil || err2 != nil || first != second || b.TypeName(x) != b.TypeName(y) {
		return false
	}
	if r, s := b.record(x), b.record(y); kindOf[r.kind()] == KindEnum && kindOf[s.kind()] == KindEnum {
		return slices.Equal(b.enumValues(r), b.enumValues(s))
	}
	names := b.Fields(x)
	if !slices.Equal(names, b.Fields(y)) {
		return false
	}
	for _, name := range names {
		f, err := b.Field(x, name)
		g, err2 := b.Field(y, name)
		if err != nil || err2 != nil || f.Off != g.Off || f.BitSize != g.BitSize || f.Bit != g.Bit ||
			b.TypeName(f.Type) != b.TypeName(g.Type) {
			return false
		}
	}
	return true
}

// EnumValue is a constant of the enums of the loaded modules.
func (t ModuleTypes) EnumValue(name string) (v int64, ok bool, err error) {
	b, err := t.f.BTF()
	if err != nil {
		return 0, false, err
	}
	differ := &NotOneTypeError{Name: name}
	for _, m := range t.f.loadedModules() {
		m.part.each(func(_ TypeID, k int, r typeRecord) {
			if kindOf[k] != KindEnum {
				return
			}
			n, has := b.enumeratorNamed(r, name)
			switch {
			case !has || ok && n == v || slices.Contains(differ.Modules, m.name):
			case !ok:
				v, ok = n, true
				differ.Modules = []string{m.name}
			default:
				differ.Modules = append(differ.Modules, m.name)
			}
		})
	}
	if len(differ.Modules) > 1 {
		return 0, false, differ
	}
	return v, ok, nil
}

// Enumerators are those of the enum of a module of that name.
func (t ModuleTypes) Enumerators(name string) ([]EnumValue, error) {
	b, err := t.f.BTF()
	if err != nil {
		return nil, err
	}
	id, ok, err := t.Spelled("", "enum "+name)
	if !ok {
		return nil, err
	}
	return b.enumValues(b.record(id)), nil
}

// OfModule reports whether a type is one of a module.
func OfModule(b *BTF, id TypeID) bool {
	m := b.parts().of(b.Skip(id))
	return m != nil && m.program == nil
}
