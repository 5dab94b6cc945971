package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Fields of structs by their names, bit-fields, and names with a trailing _; the message that a struct has no field of
// a name.

// NoFieldError says that a struct has no field of a name.
type NoFieldError struct {
	Struct, Field string // Struct in C: "struct file"
	Near          string // a field with a similar name, or ""
	// Virtual: it has virtual bases, of which nothing is known.
	Virtual bool
}

func (e *NoFieldError) Error() string {
	if e.Virtual {
		return e.Struct + " has no field " + e.Field +
			" that can be read: those of a virtual base have no fixed place in it"
	}
	return e.Struct + " has no field " + e.Field + orNear(e.Near)
}

// Field finds a member of the struct or union id (typedefs and modifiers are
// skipped), also in its anonymous members. A trailing `_` is dropped if there
// is no such member: from_ is `from`, which Starlark cannot spell.
func (b *BTF) Field(id TypeID, name string) (Field, error) {
	root := b.Skip(id)
	if err := b.mustHaveFields(root, id); err != nil {
		return Field{}, err
	}
	f, ok := b.find(root, name)
	if bare := TrimEscape(name); !ok && bare != name {
		f, ok = b.find(root, bare)
	}
	if !ok {
		return Field{}, &NoFieldError{Struct: b.TypeName(id), Field: name, Near: naming.Suggest(name, b.Fields(root)),
			Virtual: hasVirtual(b, root, 0)}
	}
	return f, nil
}

// hasVirtual reports whether a class of C++ or one of its bases has virtual bases.
func hasVirtual(b *BTF, id TypeID, depth int) bool {
	const most = 32
	of := programOf(b, id)
	if of == nil || depth > most {
		return false
	}
	if of.virtual[id] {
		return true
	}
	t, err := b.Type(id)
	return err == nil && slices.ContainsFunc(t.Members, func(m Member) bool {
		return m.Name == "" && hasVirtual(b, b.Skip(m.Type), depth+1)
	})
}

// HasField reports whether a struct or union has a member of a name, be it in an anonymous one.
func HasField(b *BTF, id TypeID, name string) bool {
	_, ok := b.find(b.Skip(id), name)
	return ok
}

func (b *BTF) mustHaveFields(root, id TypeID) error {
	r := b.record(root)
	switch {
	case r == nil:
	case r.kind() == btfStruct || r.kind() == btfUnion:
		return nil
	case r.kind() == btfFwd:
		return fmt.Errorf("%s is only declared in this kernel's BTF (a module may define it)", b.TypeName(id))
	}
	return fmt.Errorf("%s has no fields", b.TypeName(id))
}

// find gives the member of a name. One of the struct itself hides one of an anonymous member, as those of a class of
// C++ hide those of its bases.
func (b *BTF) find(root TypeID, name string) (found Field, ok bool) {
	nearest := memberAt{}
	_ = b.walkFields(root, func(m memberAt) bool {
		// The name first: decoding a member costs more than comparing.
		if string(b.bytesAt(m.nameOff())) == name && (!ok || m.depth < nearest.depth) {
			nearest, ok = m, true
		}
		return !ok || nearest.depth > 0
	}) // an error means damaged BTF: what was found up to there
	if ok {
		found = b.member(nearest.typeRecord, nearest.i)
		found.Off += nearest.base
	}
	found.Name = name
	return found, ok
}

// Fields gives the names of all fields of id, those of anonymous members
// among them, in the order of declaration.
func (b *BTF) Fields(id TypeID) []string {
	var out []string
	seen := map[string]bool{}
	_ = b.walkFields(b.Skip(id), func(m memberAt) bool {
		if name := b.string(m.nameOff()); !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
		return true
	}) // an error means damaged BTF: the names up to there
	return out
}

var (
	errStop   = errors.New("stop")
	errNested = errors.New("bad BTF: anonymous members without end")
)

// memberAt is the i-th member of a struct that lies base bytes into the root, depth anonymous members deep.
type memberAt struct {
	typeRecord
	i, base, depth int
}

func (m memberAt) nameOff() uint32 { return m.u32(12 + 12*m.i) }
func (m memberAt) typ() TypeID     { return TypeID(m.u32(16 + 12*m.i)) }
func (m memberAt) place() uint32   { return m.u32(20 + 12*m.i) }

// fieldWalk bounds the descent into anonymous members. The kernel nests 5
// deep and its largest struct has some 1,000 members.
type fieldWalk struct {
	b      *BTF
	f      func(memberAt) bool
	budget int
}

// walkFields calls f with each named member until it returns false (errStop).
func (b *BTF) walkFields(root TypeID, f func(memberAt) bool) error {
	w := fieldWalk{b, f, 1 << 16}
	return w.walk(root, 0, 0)
}

func (w *fieldWalk) walk(id TypeID, base, depth int) error {
	r := w.b.record(id)
	if r == nil || r.kind() != btfStruct && r.kind() != btfUnion {
		return nil
	}
	n := r.vlen()
	if w.budget -= n + 1; depth > 32 || w.budget < 0 {
		return errNested
	}
	for i := range n {
		m := memberAt{r, i, base, depth}
		if len(w.b.bytesAt(m.nameOff())) == 0 {
			inner := base + int(m.place()&offMask(r))/8
			if err := w.walk(w.b.Skip(m.typ()), inner, depth+1); err != nil {
				return err
			}
		} else if !w.f(m) {
			return errStop
		}
	}
	return nil
}

// offMask selects the bit offset in a member: with kind_flag the upper 8 bits
// are the size of a bit-field.
func offMask(r typeRecord) uint32 {
	if r.flag() {
		return 0xffffff
	}
	return ^uint32(0)
}

// member decodes the i-th member of a struct without its name.
func (b *BTF) member(r typeRecord, i int) Field {
	typ, w := TypeID(r.u32(16+12*i)), r.u32(20+12*i)
	bits, size := int(w&offMask(r)), 0
	if r.flag() {
		size = int(w >> 24)
	} else {
		// Before kind_flag (4.20, and still where a struct has none) the bit-field
		// is in its integer: a type of fewer bits than its bytes have.
		off, n := b.oddInt(typ)
		bits, size = bits+off, n
	}
	if size == 0 {
		return Field{Off: bits / 8, Type: typ}
	}
	return b.bitField(typ, bits, size, int(r.u32(8)))
}

// oddInt gives the offset and size in bits of an integer type made for a
// bit-field, 0 for an ordinary type.
func (b *BTF) oddInt(typ TypeID) (off, n int) {
	r := b.record(b.Skip(typ))
	if r == nil || r.kind() != btfInt {
		return 0, 0
	}
	w := r.u32(12)
	off, n = int(w>>16&0xff), int(w&0xff)
	if off == 0 && n == int(r.u32(8))*8 {
		return 0, 0
	}
	return off, n
}

// bitField places size bits at bit bits: in the aligned unit of the declared
// type as compilers do, or, where that crosses the unit or the struct's end
// (packed structs), in the bytes that hold it.
func (b *BTF) bitField(typ TypeID, bits, size, structSize int) Field {
	unit, err := b.Size(typ)
	if err != nil || unit < 1 || unit > 8 || unit&(unit-1) != 0 {
		unit = 1
	}
	off := bits / 8 / unit * unit
	if bits-off*8+size > unit*8 || off+unit > structSize {
		off = bits / 8
		for unit = 1; bits-off*8+size > unit*8 && unit < 8; {
			unit *= 2
		}
	}
	return Field{Off: off, Type: typ, Bit: uint8(bits - off*8), BitSize: uint8(size), Load: uint8(unit)}
}

// TrimEscape takes the `_` off that scripts put behind keywords: from_, class_.
func TrimEscape(name string) string {
	if bare := strings.TrimSuffix(name, "_"); bare != "" {
		return bare
	}
	return name
}

// OffsetOf is the place in bytes of a field of a field … of a struct.
func (b *BTF) OffsetOf(tag string, names ...string) (int, error) {
	id, ok := b.Named(KindStruct, tag)
	if !ok {
		return 0, fmt.Errorf("the kernel's types have no struct %s", tag)
	}
	at := 0
	for _, n := range names {
		f, err := b.Field(id, n)
		if err != nil {
			return 0, err
		}
		at += f.Off
		id = b.Skip(f.Type)
	}
	return at, nil
}
