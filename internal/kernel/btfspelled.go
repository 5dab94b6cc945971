package kernel

import "strings"

// Types found as C spells them (`struct sock`, `unsigned long`), for cast() and sizeof().

// Spelled finds a type as C spells it: "struct sock", "u32", "unsigned long". A typedef gives what it stands for.
func (b *BTF) Spelled(name string) (TypeID, bool) {
	kinds := map[string]TypeKind{"struct": KindStruct, "union": KindUnion, "enum": KindEnum}
	word, rest, ok := strings.Cut(name, " ")
	if k, known := kinds[word]; ok && known {
		return b.Named(k, strings.TrimSpace(rest))
	}
	if id, ok := b.Named(KindTypedef, name); ok {
		return b.Skip(id), true
	}
	for _, name := range append([]string{name}, intNames(name)...) {
		if id, ok := b.Named(KindInt, name); ok {
			return id, true
		}
	}
	return 0, false
}

// SizeOf is the size in bytes of a type as C spells it; all pointers have one size.
func (b *BTF) SizeOf(name string) (int, bool) {
	bare := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "*"))
	id, ok := b.Spelled(bare)
	if !ok {
		return 0, false
	}
	if strings.HasSuffix(strings.TrimSpace(name), "*") {
		return 8, true
	}
	n, err := b.Size(id)
	return n, err == nil
}

// Number finds a type of ints, enums or bools as C spells it.
func (b *BTF) Number(name string) (Type, bool) {
	id, ok := b.Spelled(name)
	if !ok {
		return Type{}, false
	}
	return NumberOf(b, id)
}

// NumberOf is a type, if it is one of ints, enums or bools.
func NumberOf(b *BTF, id TypeID) (Type, bool) {
	t, err := b.Type(b.Skip(id))
	return t, err == nil && (t.Kind == KindInt || t.Kind == KindEnum) && t.Size <= 8
}

// intNames are the names that BTF may have for an integer type as C spells it: compilers write the words in an order of
// their own, gcc "long unsigned int", clang "unsigned long".
func intNames(spelled string) []string {
	count := map[string]int{}
	for _, word := range strings.Fields(spelled) {
		switch word {
		case "long", "short", "signed", "unsigned", "int", "char":
			count[word]++
		default:
			return []string{spelled}
		}
	}
	if count["char"] > 0 || len(count) == 0 {
		return []string{spelled}
	}
	width := strings.TrimSpace(strings.Repeat("long ", count["long"]) + strings.Repeat("short ", count["short"]))
	sign := ""
	if count["unsigned"] > 0 {
		sign = "unsigned"
	}
	gcc := strings.Join(strings.Fields(width+" "+sign+" int"), " ")
	clang := strings.Join(strings.Fields(sign+" "+width), " ")
	return []string{gcc, clang}
}
