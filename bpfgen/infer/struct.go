package infer

import (
	"errors"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Fields of structs in memory (p.name), elements of arrays, bit-fields, strings of `char *`; messages that the kernel
// has no such type, or an index is not constant.

// value is the address. What lies in a struct that a null pointer leads to, or one
// that could not be read, has none.
func (p memPlace) value(_ *body, pos plan.Pos) *tree.Expr {
	a := asAddress(p.addr, pos)
	out := a
	if p.off != 0 {
		out = operation(tree.OpAdd, types.U64, a, intExpr(p.off, pos), pos)
	}
	if !p.addr.Type.Leads() || p.addr.Op == tree.OpBuiltin { // the current task is there
		return out
	}
	null := operation(tree.OpEq, types.Boolean, a, intExpr(0, pos), pos)
	t := types.U64.OrFault()
	return &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{null, as(faultExpr(pos), t, pos), as(out, t, pos)},
		Pos: pos}
}

// asAddress is e as the base of a read: a fault left 0 there, so the read
// that follows faults by itself.
func asAddress(e *tree.Expr, pos plan.Pos) *tree.Expr {
	e = assume(e)
	if e.Type.Kind == types.Ptr {
		return &tree.Expr{Op: tree.OpConvert, Type: types.U64, Args: []*tree.Expr{e}, Pos: pos}
	}
	return e
}

// lost reports whether the compiler of the program keeps no address that leads here: then nobody knows what is here,
// either.
func (p memPlace) lost() bool {
	e := p.addr
	for e != nil && e.Op == tree.OpConvert {
		e = e.Args[0]
	}
	return isLost(e)
}

func (p memPlace) origin() *body { return p.from }

func (u *unit) btf(pos plan.Pos) *kernel.BTF {
	btf, err := u.facts.BTF()
	if err != nil {
		wrong(pos, "the kernel's types are not available: %v", err)
	}
	return btf
}

// pointerField is p.name for a pointer to a struct.
func (b memory) pointerField(p *tree.Expr, name string, pos plan.Pos) val {
	if p.Type.Kind == types.Ptr && p.Type.Narrow {
		return b.narrowField(p, name, pos)
	}
	if !p.Type.Leads() || p.Type.BTF == 0 {
		wrong(pos, "%s has no field %s", exprVal(p).describe(), name)
	}
	return b.structField(&structObj{memPlace{p, 0, b.spaceOf(p.Type, pos), b.body}, p.Type.BTF}, name, pos)
}

// structField is s.name.
func (b memory) structField(s *structObj, name string, pos plan.Pos) val {
	btf := b.u.btf(pos)
	if o, ok := (library(b)).enumOf(objVal(s), pos); ok {
		return b.attributes().enumMember(o, name, pos)
	}
	f, err := btf.Field(s.id, name)
	if v, ok := b.promoted(objVal(s), s.id, name, err, pos); ok {
		return v
	}
	if err != nil {
		if v := (library(b)).meant(objVal(s), s.id, pos); v.obj != object(s) { // as Arc<P> behind a pointer
			return b.attributes().attr(v, name, pos)
		}
		wrong(pos, "%v", err)
	}
	at := s.memPlace
	at.off += int64(f.Off)
	if p, ok := b.narrowPointer(s.id, name, f.Type, at, pos); ok {
		return p
	}
	if f.BitSize != 0 {
		return exprVal(b.bitField(at, f, pos))
	}
	return b.read(at, f.Type, name, pos)
}

func (b memory) bitField(at memPlace, f kernel.Field, pos plan.Pos) *tree.Expr {
	if at.lost() {
		return lost(pos)
	}
	btf := b.u.btf(pos)
	t, _ := kernel.Outline(btf, btf.Skip(f.Type))
	bits := uint8(8)
	for bits < 64 && int(bits) < int(f.Load)*8 {
		bits *= 2
	}
	e := load(at, types.IntOf(bits, t.Signed), pos)
	e.Bit, e.BitSize = f.Bit, f.BitSize
	if first := 8*at.off + int64(f.Bit); first>>6 != (first+int64(f.BitSize)-1)>>6 {
		e = inTwoWords(at, first, int64(f.BitSize), e.Type, pos)
	}
	return b.asNamed(truthBit(e, t), t, pos)
}

// inTwoWords are size bits of a packed struct from the bit first on, of which a word of 8 bytes has the lower ones, and
// the next word the others.
func inTwoWords(at memPlace, first, size int64, t types.Type, pos plan.Pos) *tree.Expr {
	low := 64 - first&63
	part := func(word, bit, bits int64) *tree.Expr {
		from := at
		from.off = 8 * word
		e := load(from, types.U64, pos)
		e.Bit, e.BitSize = uint8(bit), uint8(bits)
		return e
	}
	return orFault(part(first>>6, first&63, low), pos, func(lower *tree.Expr) *tree.Expr {
		return orFault(part(first>>6+1, 0, size-low), pos, func(upper *tree.Expr) *tree.Expr {
			upper = operation(tree.OpShl, types.U64, upper, intExpr(low, pos), pos)
			both := operation(tree.OpOr, types.U64, lower, upper, pos)
			return as(bitsOf(both, 0, int(size), t.Signed, pos), t.Present(), pos)
		})
	})
}

func load(at memPlace, t types.Type, pos plan.Pos) *tree.Expr {
	if at.space != tree.Ctx {
		t.MayFault = true
	}
	addr := at.addr
	if at.space != tree.Ctx {
		addr = asAddress(at.addr, pos)
	}
	return &tree.Expr{Op: tree.OpLoad, Type: t, Int: at.off, Str: at.space, Args: []*tree.Expr{addr}, Pos: pos}
}

// read gives what lies at a place by its type: a scalar is read, a string is
// read, a struct or array is a place again.
func (b memory) read(at memPlace, id kernel.TypeID, name string, pos plan.Pos) val {
	btf := b.u.btf(pos)
	id = btf.Skip(id)
	t, err := kernel.Outline(btf, id)
	if err != nil {
		wrong(pos, "%s: %v", name, err)
	}
	if at.lost() {
		return b.argWords().nowhere(id, t, pos)
	}
	switch t.Kind {
	case kernel.KindInt, kernel.KindEnum:
		if t.Size == 16 {
			return b.wide(at, t.Signed, pos)
		}
		if t.Size > 8 {
			refuse(pos, "%s has %d bytes; a kernel half computes with 64 bits", name, t.Size)
		}
		return exprVal(b.asNamed(truthBit(load(at, types.IntOf(uint8(t.Size*8), t.Signed), pos), t), t, pos))
	case kernel.KindPtr:
		if kernel.IsReference(btf, t) {
			return b.read(memPlace{load(at, types.U64, pos), 0, tree.User, b.body}, t.Elem, name, pos)
		}
		if b.isCharPtr(t.Elem, pos) {
			first := memPlace{load(at, types.U64, pos), 0, b.spaceBehind(id, pos), b.body}
			return exprVal(stringLists{b}.at(first, pos))
		}
		if b.isChar(t.Elem, pos) {
			p := load(at, types.U64, pos)
			return exprVal(b.cstring(memPlace{p, 0, b.spaceBehind(id, pos), b.body}, b.u.strMax+1, 0, pos))
		}
		p := load(at, b.pointerType(t, pos), pos)
		if to, err := kernel.Outline(btf, btf.Skip(t.Elem)); err == nil && to.Kind == kernel.KindFwd {
			b.u.onlyNamed[p] = to.Name
		}
		return b.asGo(exprVal(p), id, pos)
	case kernel.KindStruct, kernel.KindUnion:
		if view, ok := kernel.TextOf(btf, id); ok {
			return exprVal(b.textIn(at, view, pos))
		}
		if f, ok := b.u.arrayIn(id, pos); ok {
			return b.insideArray(at, f, name, pos)
		}
		return b.inLanguage(objVal(&structObj{at, id}), id, pos)
	case kernel.KindArray:
		if a, ok := b.countedArray(at, t, pos); ok {
			return b.countedValue(a, pos)
		}
		if b.isChar(t.Elem, pos) && t.Len == 0 { // char name[] at the end of a struct
			return exprVal(b.cstring(at, b.u.strMax+1, 0, pos))
		}
		if b.isChar(t.Elem, pos) {
			room := t.Len + 1
			if name == "comm" && t.Len == types.Comm.Cap {
				room = t.Len // the kernel always ends it with a NUL
			}
			return exprVal(b.cstring(at, room, t.Len, pos))
		}
		return objVal(&arrayObj{at, t.Elem, t.Len, t.Open})
	}
	switch {
	case t.Kind == kernel.KindFloat:
		return exprVal(readFloat(at, t, pos))
	case t.Kind == kernel.KindFwd && btf.OfProgram(id):
		return unknownKind(pos)
	case t.Kind == kernel.KindProto && btf.OfProgram(id): // a function of Go is the address of what it has
		return exprVal(load(at, types.I64, pos))
	}
	refuse(pos, "%s is a %s, which a kernel half cannot read", name, t.Kind)
	return val{}
}

// insideArray is a std::array in memory: the array that is its member.
func (b memory) insideArray(at memPlace, f kernel.Field, name string, pos plan.Pos) val {
	if f.Type == 0 {
		return val{comp: true}
	}
	at.off += int64(f.Off)
	return b.read(at, f.Type, name, pos)
}

// readFloat is a float in memory.
func readFloat(at memPlace, t kernel.Type, pos plan.Pos) *tree.Expr {
	f, ok := floatOf(t)
	if !ok {
		return unreadable(pos)
	}
	return load(at, f, pos)
}

// wide is an int of 128 bits in memory as a tuple of two, the lower half first.
func (b memory) wide(at memPlace, signed bool, pos plan.Pos) val {
	high := at
	high.off += 8
	return val{comp: true, elems: []val{exprVal(load(at, types.U64, pos)),
		exprVal(load(high, types.IntOf(64, signed), pos))}}
}

// asNamed is the int e of a type; of which enum it is a value is noted, for names(e), and that it is a duration of Go.
func (b memory) asNamed(e *tree.Expr, t kernel.Type, pos plan.Pos) *tree.Expr {
	if is, ok := kernel.GoTypeOf(b.u.btf(pos), t.ID); ok && is.Form == kernel.GoDuration {
		b.u.durations[e] = true
	}
	if t.Kind != kernel.KindEnum {
		return e
	}
	b.u.enums[e] = t.Name
	if btf := b.u.btf(pos); btf.OfProgram(t.ID) || kernel.OfModule(btf, t.ID) {
		b.u.enums[e] = kernel.EnumNumber(t.ID)
	}
	return e
}

// truthBit makes a C bool a bool.
func truthBit(e *tree.Expr, t kernel.Type) *tree.Expr {
	if !t.Bool {
		return e
	}
	out := types.Boolean
	out.MayFault = e.Type.MayFault
	return &tree.Expr{Op: tree.OpConvert, Type: out, Args: []*tree.Expr{e}, Pos: e.Pos}
}

// isChar reports whether id is the plain char of C.
func (b memory) isChar(id kernel.TypeID, pos plan.Pos) bool {
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	return err == nil && t.PlainChar()
}

// isCharPtr reports whether id is a char *.
func (b memory) isCharPtr(id kernel.TypeID, pos plan.Pos) bool {
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	return err == nil && t.Kind == kernel.KindPtr && b.isChar(t.Elem, pos)
}

// cstring reads a string of at most room bytes with its NUL; limit, if not 0,
// is the size of a char array that need not have one.
func (b memory) cstring(at memPlace, room, limit int, pos plan.Pos) *tree.Expr {
	e := &tree.Expr{Op: tree.OpStr, Type: types.StrOf(room).OrFault(), Int: at.off, Str: at.space, Pos: pos,
		Edge: limit == 0 && at.space != tree.Ctx && at.space != tree.Kernel}
	addr := at.addr
	if at.space != tree.Ctx && addr.Op != tree.OpCtx {
		addr = asAddress(addr, pos)
	}
	e.Args = []*tree.Expr{addr}
	if limit > 0 {
		e.Args = append(e.Args, intExpr(int64(limit), pos))
	}
	return e
}

// constantIndex says which indices the kernel takes: what a loop that is written out gives is constant (maxUnroll).
const constantIndex = "%s takes a constant index where the kernel reads it, " +
	"or that of a loop over at most range(64)"

// within is an index of what has n elements, of which one below 0 counts from the end; false for one that it has not.
func within(i int64, n int) (int64, bool) {
	if i < 0 && i >= -int64(n) {
		i += int64(n)
	}
	return i, i >= 0 && i < int64(n)
}

// element is a[i] for an array in memory. A constant index is checked here, a
// computed one by a test that ends the handler.
func (b memory) element(a *arrayObj, i val, pos plan.Pos) val {
	n, ok := i.constInt()
	if !ok {
		refuse(pos, constantIndex, "an array field")
	}
	switch {
	case a.len > 0:
		if n, ok = within(n, a.len); !ok {
			wrong(pos, "index %d of an array of %s", n, format.Count(a.len, "element"))
		}
	case n < 0:
		wrong(pos, "index %d of an array of which nobody says how long it is: want one from 0 on", n)
	}
	return b.read(b.after(a.memPlace, n, a.elem, pos), a.elem, "the element", pos)
}

// ofFile takes "./shop:struct order" apart; false: no file is named. The colons of C++ are no end of a file's name.
func ofFile(name string) (file, of string, ok bool) {
	file, of, ok = strings.Cut(name, ":")
	return file, strings.TrimSpace(of), ok && file != "" && !strings.HasPrefix(of, ":")
}

// typeOfFile is a type of a program or library.
func (b memory) typeOfFile(file, name string, pos plan.Pos) kernel.TypeID {
	if b.u.programs == nil {
		wrong(pos, "no types of programs are known here")
	}
	id, err := b.u.programs.TypeNamed(file, name, b.u.btf(pos))
	if err != nil {
		wrong(pos, "%v", err)
	}
	return id
}

// typeByName finds "struct sock", "union u", "enum e" or a typedef, and those of a program, "./shop:struct order".
func (b memory) typeByName(s string, pos plan.Pos) kernel.TypeID {
	clean := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "*"))
	if file, name, ok := ofFile(clean); ok {
		name = strings.TrimPrefix(name, "*") // as Go writes a pointer
		if _, is := kernel.InModules(b.u.facts).Name(file); !is {
			return b.typeOfFile(file, name, pos)
		}
	}
	if id, ok := scriptTypes(b.u).Named(clean); ok {
		return id
	}
	id, ok, err := kernel.InModules(b.u.facts).Find(clean)
	if differ := (*kernel.NotOneTypeError)(nil); errors.As(err, &differ) {
		wrong(pos, "%v: %s", err, differ.Way())
	}
	if err != nil {
		wrong(pos, "%v", err)
	}
	if !ok {
		b.noType(clean, pos)
	}
	return id
}

// noType says that there is no type of a name.
func (b memory) noType(clean string, pos plan.Pos) {
	if module, name, ok := ofFile(clean); ok {
		wrong(pos, "module %s has no %s", module, name)
	}
	if near := scriptTypes(b.u).Near(clean); near != "" {
		wrong(pos, "neither types() nor the kernel has %s; did you mean %s?", clean, near)
	}
	switch word, _, _ := strings.Cut(clean, " "); word {
	case "struct", "union", "enum":
		wrong(pos, "the kernel has no %s, nor have its loaded modules", clean)
	}
	if _, ok := b.u.btf(pos).Named(kernel.KindStruct, clean); ok {
		wrong(pos, "write struct %s", clean)
	}
	wrong(pos, "the kernel has no type %s", clean)
}

// mustEnd refuses what goes through an array of which nobody says how long it is.
func (a *arrayObj) mustEnd(pos plan.Pos) {
	if a.open {
		wrong(pos, "how many elements this array has is not known: it is the last member of a struct, or its program "+
			"does not say it; x[i] reads one element")
	}
}

// arrayValue is an array in memory as a tuple of its elements.
func (b memory) arrayValue(a *arrayObj, pos plan.Pos) val {
	a.mustEnd(pos)
	v := val{comp: true}
	for i := range a.len {
		v.elems = append(v.elems, b.attributes().inPlace(a.memPlace, func(at *body) val {
			return at.memory().element(a, intVal(int64(i)), pos)
		}))
	}
	return v
}
