package kernel

import (
	"strconv"
	"strings"
)

// Types written as C writes them: `void (*)(int)`, for lists.

// TypeName writes a type as C does without a name: "struct task_struct *",
// "char [16]", "void (*)(struct work_struct *)".
func (b *BTF) TypeName(id TypeID) string {
	w := cName{b: b, budget: 256}
	return w.decl(id, "")
}

// Declaration writes a type as C declares a name with it: "char comm[16]".
func (b *BTF) Declaration(id TypeID, name string) string {
	w := cName{b: b, budget: 256}
	return w.decl(id, name)
}

// cName writes declarators, from the name outwards. The budget bounds what
// damaged input can make of it.
type cName struct {
	b      *BTF
	budget int
}

func (w *cName) decl(id TypeID, inner string) string {
	if w.budget--; w.budget < 0 {
		return "…"
	}
	r := w.b.record(id)
	if r == nil {
		return withInner("void", inner)
	}
	switch r.kind() {
	case btfPtr:
		if to := (Type{Elem: r.ref()}); IsReference(w.b, to) {
			return withInner(w.base(w.b.record(to.Elem)), inner)
		}
		return w.decl(r.ref(), w.pointer(r.ref(), inner))
	case btfArray:
		return w.decl(TypeID(r.u32(12)), inner+"["+strconv.FormatUint(uint64(r.u32(20)), 10)+"]")
	case btfVolatile, btfConst, btfRestrict:
		return w.modified(modifierNames[r.kind()], r.ref(), inner)
	case btfTypeTag:
		return w.decl(r.ref(), inner)
	case btfProto:
		return w.decl(r.ref(), inner+"("+w.params(r)+")")
	}
	return withInner(w.base(r), inner)
}

// pointer adds the star; a pointer to an array or function needs brackets.
func (w *cName) pointer(to TypeID, inner string) string {
	if r := w.b.record(to); r != nil && (r.kind() == btfArray || r.kind() == btfProto) {
		return "(*" + inner + ")"
	}
	return "*" + inner
}

// modified writes `const char` but `char *const`.
func (w *cName) modified(word string, to TypeID, inner string) string {
	if r := w.b.record(to); r != nil && r.kind() == btfPtr {
		return w.decl(to, strings.TrimSuffix(word+" "+inner, " "))
	}
	return word + " " + w.decl(to, inner)
}

func (w *cName) params(r typeRecord) string {
	var parts []string
	for i := range min(r.vlen(), 32) {
		typ := TypeID(r.u32(16 + 8*i))
		if typ == 0 && i == r.vlen()-1 {
			parts = append(parts, "...")
		} else {
			parts = append(parts, w.decl(typ, ""))
		}
	}
	if len(parts) == 0 {
		return "void"
	}
	return strings.Join(parts, ", ")
}

func (w *cName) base(r typeRecord) string {
	name := w.b.string(r.name())
	prefix := ""
	switch r.kind() {
	case btfStruct:
		prefix = "struct"
	case btfUnion:
		prefix = "union"
	case btfEnum, btfEnum64:
		prefix = "enum"
	case btfFwd:
		if prefix = "struct"; r.flag() {
			prefix = "union"
		}
	}
	switch {
	case prefix == "":
		return name
	case name == "":
		return prefix + " {…}"
	}
	return prefix + " " + name
}

func withInner(base, inner string) string {
	if inner == "" {
		return base
	}
	return base + " " + inner
}
