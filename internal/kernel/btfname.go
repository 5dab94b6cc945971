package kernel

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Types, functions and enumerators of BTF found by their names.

// A nameIndex finds types by name: open addressing, 0 for an empty slot. It
// holds no names; a hit is compared with the blob.
type nameIndex struct {
	slots []TypeID
	seed  maphash.Seed
}

func newNameIndex(n int) nameIndex {
	return nameIndex{make([]TypeID, 1<<bits.Len(uint(n+n/2))), maphash.MakeSeed()}
}

func (x *nameIndex) add(name []byte, id TypeID) {
	if len(name) == 0 {
		return
	}
	mask := uint64(len(x.slots) - 1)
	i := maphash.Bytes(x.seed, name) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = id
}

// find gives the first id added under name for which ok holds.
func (x *nameIndex) find(name string, ok func(TypeID) bool) (TypeID, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(x.slots) - 1)
	for i := maphash.String(x.seed, name) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if ok(x.slots[i]) {
			return x.slots[i], true
		}
	}
	return 0, false
}

// kindOf maps the kinds of BTF to ours.
var kindOf = [btfKinds]TypeKind{
	btfInt: KindInt, btfPtr: KindPtr, btfArray: KindArray, btfStruct: KindStruct, btfUnion: KindUnion,
	btfEnum: KindEnum, btfEnum64: KindEnum, btfFwd: KindFwd, btfTypedef: KindTypedef,
	btfVolatile: KindModifier, btfConst: KindModifier, btfRestrict: KindModifier, btfTypeTag: KindModifier,
	btfFunc: KindFunc, btfProto: KindProto, btfFloat: KindFloat,
	btfVar: KindOther, btfDatasec: KindOther, btfDeclTag: KindOther,
}

// isNamed says which kinds are in the index of types. Functions have their
// own: they are more than all others together, and few scripts ask for them.
var isNamed = [btfKinds]bool{
	btfInt: true, btfStruct: true, btfUnion: true, btfEnum: true, btfEnum64: true,
	btfFwd: true, btfTypedef: true, btfFloat: true,
}

var isFunction = [btfKinds]bool{btfFunc: true}

// Named finds the type of a kind by its name, without "struct" and the like.
// Of several (the kernel has some private structs of one name) it is the first.
func (b *BTF) Named(kind TypeKind, name string) (TypeID, bool) {
	if kind == KindFunc && b.functionsAsked.Add(1) <= fewFunctions {
		return functionNamed(b, name)
	}
	return b.findNamed(b.indexFor(kind), kind, name)
}

// fewFunctions are found one by one: to make the index of all takes as long as this.
const fewFunctions = 3

// functionNamed finds the first function of that name among all types.
func functionNamed(b *BTF, name string) (found TypeID, ok bool) {
	functionsThatBegin(b, name, func(id TypeID, rest byte) {
		if rest == 0 && !ok {
			found, ok = id, true
		}
	})
	return found, ok
}

// functionsThatBegin calls f with the functions whose names begin with a text, in order: its number, and the byte of
// the name behind that text, 0 where the name ends there.
func functionsThatBegin(b *BTF, text string, f func(id TypeID, rest byte)) {
	look := func(id TypeID, r typeRecord) {
		from := uint64(r.name())
		to := from + uint64(len(text))
		if to < uint64(len(b.strs)) && string(b.strs[from:to]) == text {
			f(id, b.strs[to])
		}
	}
	if !slices.ContainsFunc(usualFunctions, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		eachOf(b, &isFunction, look)
		return
	}
	for _, id := range b.usual {
		look(id, b.record(id))
	}
}

// traceiter is the prefix of the function that calls a tracepoint's probes
// (5.10; include/linux/tracepoint.h): int __traceiter_NAME(void *, ARGS).
const traceiter = "__traceiter_"

// usualFunctions are what names of functions begin with of which nearly each script with probes is asked: the walk over
// all types that OpenBTF does anyway notes them, so that no other is needed.
var usualFunctions = []string{traceiter, "__x64_compat_sys_"}

// isUsual reports whether the name at a place of the strings begins with one of usualFunctions.
func isUsual(strs []byte, at uint32) bool {
	const all = "__" // they begin with
	if int64(at)+int64(len(all)) > int64(len(strs)) || string(strs[at:int(at)+len(all)]) != all {
		return false
	}
	return slices.ContainsFunc(usualFunctions, func(begin string) bool {
		return len(strs)-int(at) > len(begin) && string(strs[at:int(at)+len(begin)]) == begin
	})
}

func (b *BTF) findNamed(x *nameIndex, kind TypeKind, name string) (TypeID, bool) {
	return x.find(name, func(id TypeID) bool {
		r := b.record(id)
		return kindOf[r.kind()] == kind && string(b.bytesAt(r.name())) == name
	})
}

func (b *BTF) indexFor(kind TypeKind) *nameIndex {
	if kind == KindFunc {
		b.once.funcs.Do(func() {
			b.funcs = newNameIndex(b.kinds[btfFunc])
			eachOf(b, &isFunction, func(id TypeID, r typeRecord) { b.funcs.add(b.bytesAt(r.name()), id) })
		})
		return &b.funcs
	}
	b.once.named.Do(func() {
		n := 0
		for k, is := range isNamed {
			if is {
				n += b.kinds[k]
			}
		}
		b.named = newNameIndex(n)
		eachOf(b, &isNamed, func(id TypeID, r typeRecord) { b.named.add(b.bytesAt(r.name()), id) })
	})
	return &b.named
}

// EnumValue finds an enumerator in all enums of the kernel.
func (b *BTF) EnumValue(name string) (v int64, enum TypeID, ok bool) {
	b.once.enums.Do(b.indexEnums)
	enum, ok = b.enums.find(name, func(id TypeID) bool {
		val, has := b.enumeratorNamed(b.record(id), name)
		if has {
			v = val
		}
		return has
	})
	return v, enum, ok
}

func (b *BTF) indexEnums() {
	n := 0
	b.each(func(_ TypeID, kind int, r typeRecord) {
		if kindOf[kind] == KindEnum {
			n += r.vlen()
		}
	})
	b.enums = newNameIndex(n)
	b.each(func(id TypeID, kind int, r typeRecord) {
		if kindOf[kind] != KindEnum {
			return
		}
		for i := range r.vlen() {
			nameOff, _ := b.enumerator(r, i)
			b.enums.add(b.bytesAt(nameOff), id)
		}
	})
}

func (b *BTF) enumeratorNamed(r typeRecord, name string) (int64, bool) {
	for i := range r.vlen() {
		if nameOff, v := b.enumerator(r, i); string(b.bytesAt(nameOff)) == name {
			return v, true
		}
	}
	return 0, false
}

// EnumNumber is what names an enum of a program for Enumerators: programs have many enums of one name.
func EnumNumber(id TypeID) string { return "#" + strconv.FormatUint(uint64(id), 10) }

func enumNumbered(name string) (TypeID, bool) {
	digits, ok := strings.CutPrefix(name, "#")
	id, err := strconv.ParseUint(digits, 10, 32)
	return TypeID(id), ok && err == nil
}

// Enumerators gives those of the enum of that name; where there is none, all
// enumerators whose names begin so, in the order of their enums.
func (b *BTF) Enumerators(name string) (out []EnumValue) {
	if name == "" {
		return nil
	}
	if id, ok := enumNumbered(name); ok {
		if r := b.record(id); r != nil && kindOf[r.kind()] == KindEnum {
			return b.enumValues(r)
		}
		return nil
	}
	if id, ok := b.Named(KindEnum, name); ok {
		return b.enumValues(b.record(id))
	}
	prefix := []byte(name)
	b.each(func(_ TypeID, kind int, r typeRecord) {
		if kindOf[kind] != KindEnum {
			return
		}
		for i := range r.vlen() {
			if nameOff, v := b.enumerator(r, i); bytes.HasPrefix(b.bytesAt(nameOff), prefix) {
				out = append(out, EnumValue{b.string(nameOff), v})
			}
		}
	})
	return out
}

// Names gives the sorted names of all types of a kind, for spelling hints and
// globs. It copies them: not for the common path.
func (b *BTF) Names(kind TypeKind) []string {
	var out []string
	b.each(func(_ TypeID, k int, r typeRecord) {
		if kindOf[k] != kind {
			return
		}
		if name := b.bytesAt(r.name()); len(name) > 0 {
			out = append(out, string(name))
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}
