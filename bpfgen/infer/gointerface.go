package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Interfaces of Go: the name of the type in it, what it holds, and the text or number of an error (`errorForms`).
//
// An interface of Go is two words: the address of its type's description, or of a table that leads to it, and the
// address of what it holds. The name of the type is read from the description, in the memory of the process: so it is a
// string like any other, in filters and keys too, and needs no list of all types in user space. Descriptions lie
// between two symbols of the program. A type that lies elsewhere, as one that package reflect made, has a name that
// only the runtime finds: it is FAULT.
//
// Of the errors that most programs have the text is a string in what the interface holds. Which those are is known by
// where their descriptions lie, which debug information tells. Others make their text by a function, which nobody can
// run here: their text is None.

// partsOfErrors are the parts of an interface besides the members that it has in memory.
var partsOfErrors = []string{"type", "text", "path", "errno"}

// interfacePart is one of these; None of nil.
func (b golang) interfacePart(o *goValue, name string, pos plan.Pos) *tree.Expr {
	return b.unlessEmpty(b.dynamic(o, pos), pos, func(h held) *tree.Expr { return b.partOf(h, name, pos) })
}

// A held is what an interface holds.
type held struct {
	// word is the first one of the interface: null where that is nil.
	word *tree.Expr
	// typ is the address of the type's description, and data what leads to the value.
	typ, data *tree.Expr
	// of is the program of the type, and first where its descriptions begin, size bytes of them; nil: nobody knows.
	of    kernel.GoProgram
	first *tree.Expr
	size  uint64
}

// dynamic is what an interface holds.
func (b golang) dynamic(o *goValue, pos plan.Pos) held {
	btf := b.u.btf(pos)
	id := kernel.TypeID(0)
	switch p := o.parts.obj.(type) {
	case *structObj:
		id = p.id
	case *regStruct:
		id = p.id
	}
	h := held{of: kernel.GoProgramOf(btf, id), data: b.part(o.parts, "data", pos)}
	if kernel.HasField(btf, id, "_type") {
		h.word = b.part(o.parts, "_type", pos)
		h.typ = h.word
	} else {
		h.word = b.part(o.parts, "tab", pos)
		h.typ = b.oneOf(exprVal(h.word), []string{"Type", "_type"}, pos)
	}
	h.first, h.size = b.descriptions(h.of, pos)
	return h
}

// oneOf is the member of one of these names: they were others in older releases.
func (b golang) oneOf(x val, names []string, pos plan.Pos) *tree.Expr {
	for _, name := range names {
		if kernel.HasField(b.u.btf(pos), x.typ().BTF, name) {
			return b.part(x, name, pos)
		}
	}
	refuse(pos, "the types of this program's Go are described in another way")
	return nil
}

// unlessEmpty is what f gives of what an interface holds, with its words read; None of nil.
func (b golang) unlessEmpty(h held, pos plan.Pos, f func(held) *tree.Expr) *tree.Expr {
	switch {
	case h.word.Op == tree.OpUnreadable:
		return h.word
	case h.first == nil:
		return lost(pos)
	}
	return unlessNil(h.word, constExpr(plan.None{}, pos), pos, func() *tree.Expr {
		return orFault(h.typ, pos, func(typ *tree.Expr) *tree.Expr {
			return orFault(h.data, pos, func(data *tree.Expr) *tree.Expr {
				there := h
				there.typ, there.data = typ, data
				return f(there)
			})
		})
	})
}

// partOf is a part of an interface that is not nil.
func (b golang) partOf(h held, name string, pos plan.Pos) *tree.Expr {
	switch name {
	case "type":
		return b.typeName(h, pos)
	case "errno":
		return b.errno(h, pos)
	}
	return b.errorText(h, name, pos)
}

// descriptions is where the descriptions of the types of a program are, while it runs; nil: that is not known here, as
// where the probe stands in another program, or its symbols were stripped.
func (b golang) descriptions(of kernel.GoProgram, pos plan.Pos) (first *tree.Expr, size uint64) {
	if of == nil {
		return nil, 0
	}
	r := of.Runtime()
	if !r.Moves {
		return as(intExpr(int64(r.First), pos), types.U64, pos), r.End - r.First
	}
	at, ok := b.argWords().loaded(r.Path, r.First, pos)
	if !ok {
		return nil, 0
	}
	return at, r.End - r.First
}

// How a name is kept (internal/abi/type.go, Name): a byte of flags, its length in groups of 7 bits, the lowest first,
// and its bytes. The name of a type begins with a * too much where its flags say so.
const (
	goNameLength    = 1
	goNameMore      = 0x80
	goNameGroup     = 7
	goTypeExtraStar = 1 // the bit of the flags
)

// typeName is the name of the type that an interface holds, as the program prints it with %T.
func (b golang) typeName(h held, pos plan.Pos) *tree.Expr {
	inside := operation(tree.OpLt, types.Boolean, behind(h.typ, h.first, pos), intExpr(int64(h.size), pos), pos)
	return chooseFault(not(inside, pos), b.nameOf(h.typ, h.first, pos), pos)
}

// behind is how far an address lies behind another.
func behind(address, first *tree.Expr, pos plan.Pos) *tree.Expr {
	return operation(tree.OpSub, types.U64, as(address, types.U64, pos), first, pos)
}

// nameOf reads the name of a type by the address of its description.
func (b golang) nameOf(t, first *tree.Expr, pos plan.Pos) *tree.Expr {
	plus := func(x, y *tree.Expr) *tree.Expr { return operation(tree.OpAdd, types.U64, x, y, pos) }
	number := func(op tree.Op, x *tree.Expr, n int64) *tree.Expr {
		return operation(op, types.U64, x, intExpr(n, pos), pos)
	}
	str := b.oneOf(exprVal(t), []string{"Str", "str"}, pos)
	flags := b.oneOf(exprVal(t), []string{"TFlag", "tflag"}, pos)
	return orFault(str, pos, func(str *tree.Expr) *tree.Expr {
		return orFault(flags, pos, func(flags *tree.Expr) *tree.Expr {
			name := plus(first, as(str, types.I64, pos))
			size := load(memPlace{name, goNameLength, tree.User, b.body}, types.IntOf(16, false), pos)
			return orFault(size, pos, func(size *tree.Expr) *tree.Expr {
				low := number(tree.OpAnd, size, goNameMore-1)
				high := number(tree.OpShl, number(tree.OpAnd, number(tree.OpShr, size, 8), goNameMore-1), goNameGroup)
				more := number(tree.OpAnd, number(tree.OpShr, size, goNameGroup), 1)
				star := number(tree.OpAnd, number(tree.OpShr, as(flags, types.U64, pos), goTypeExtraStar), 1)
				length := plus(low, operation(tree.OpMul, types.U64, high, more, pos))
				at := plus(plus(name, intExpr(goNameLength+1, pos)), plus(more, star))
				return b.memory().text(at, operation(tree.OpSub, types.U64, length, star, pos), 0, pos)
			})
		})
	})
}

// An errorForm is an error whose text lies in it: the members that have it, or a part of it, and the error that it
// wraps. The names of types are those of debug information.
type errorForm struct {
	name             string
	text, path, next string
}

var errorForms = []errorForm{
	{name: "*errors.errorString", text: "s"},
	{name: "*fmt.wrapError", text: "msg", next: "err"},
	{name: "*fmt.wrapErrors", text: "msg"},
	{name: "*io/fs.PathError", text: "Op", path: "Path", next: "Err"},
	{name: "*os.LinkError", text: "Op", path: "Old", next: "Err"},
	{name: "*os.SyscallError", text: "Syscall", next: "Err"},
	{name: "*net.OpError", text: "Op", path: "Net", next: "Err"},
	{name: "*net/url.Error", text: "Op", path: "URL", next: "Err"},
}

// errnoType is the type of the numbers of errors, which are errors by themselves.
const errnoType = "syscall.Errno"

// known gives the errors that a program has.
func (h held) known() map[string]kernel.GoDynamic {
	names := []string{errnoType}
	for _, f := range errorForms {
		names = append(names, f.name)
	}
	return h.of.Dynamic(names)
}

// isType are 64 bits that are set where an interface holds a value of a type, and else are not: they are computed,
// since a branch for each type is more than kernels follow where a handler has a few errors.
func isType(h held, d kernel.GoDynamic, pos plan.Pos) *tree.Expr {
	at := operation(tree.OpAdd, types.U64, h.first, intExpr(int64(d.At), pos), pos)
	differ := operation(tree.OpXor, types.U64, as(h.typ, types.U64, pos), at, pos)
	minus := operation(tree.OpSub, types.U64, intExpr(0, pos), differ, pos)
	one := operation(tree.OpShr, types.U64, operation(tree.OpOr, types.U64, differ, minus, pos), intExpr(63, pos), pos)
	return operation(tree.OpSub, types.U64, one, intExpr(1, pos), pos)
}

// memberAt is the address of a member of what an interface holds, which depends on what that is; 0 where no type of
// these has one. choose gives the name of the member.
func (b golang) memberAt(h held, choose func(errorForm) string, pos plan.Pos) *tree.Expr {
	known := h.known()
	at := as(intExpr(0, pos), types.U64, pos)
	for _, form := range errorForms {
		d, ok := known[form.name]
		off, found := memberOffset(b.u.btf(pos), d.Type, choose(form))
		if !ok || !found {
			continue
		}
		member := intExpr(int64(off), pos)
		address := operation(tree.OpAdd, types.U64, as(h.data, types.U64, pos), member, pos)
		one := operation(tree.OpAnd, types.U64, address, isType(h, d, pos), pos)
		at = operation(tree.OpOr, types.U64, at, one, pos)
	}
	return at
}

// memberOffset is where a member lies in the struct that a pointer type leads to.
func memberOffset(btf *kernel.BTF, pointer kernel.TypeID, name string) (int, bool) {
	t, err := btf.Type(btf.Skip(pointer))
	if err != nil || t.Kind != kernel.KindPtr {
		return 0, false
	}
	f, err := btf.Field(t.Elem, name)
	return f.Off, err == nil
}

// errorText is a string of an error; None where nothing is known of such an error, or it has none.
func (b golang) errorText(h held, part string, pos plan.Pos) *tree.Expr {
	at := b.memberAt(h, func(f errorForm) string {
		if part == "path" {
			return f.path
		}
		return f.text
	}, pos)
	place := memPlace{at, 0, tree.User, b.body}
	text := b.memory().textIn(place, kernel.TextView{Length: 8, LengthSize: 8}, pos)
	return orNone(not(isNull(at, pos), pos), text, pos)
}

// mostWrapped is how many errors inside of each other are looked at for the number of an error.
const mostWrapped = 5

// errno is the number of a syscall.Errno that an interface holds, or that the error in it wraps; None where there is
// none.
func (b golang) errno(h held, pos plan.Pos) *tree.Expr {
	number, ok := h.known()[errnoType]
	if !ok {
		return as(constExpr(plan.None{}, pos), types.I64.OrNone(), pos)
	}
	id, wraps := b.errorType(h, pos)
	at := as(intExpr(0, pos), types.U64, pos)
	var unread []*tree.Expr
	for left := mostWrapped; ; left-- {
		one := operation(tree.OpAnd, types.U64, as(h.data, types.U64, pos), isType(h, number, pos), pos)
		if at = operation(tree.OpOr, types.U64, at, one, pos); left == 1 || !wraps {
			break
		}
		inner := b.memberAt(h, func(f errorForm) string { return f.next }, pos)
		h = b.dynamic(&goValue{parts: objVal(&structObj{memPlace{inner, 0, tree.User, b.body}, id})}, pos)
		unread = append(unread, isUnread(h.word, inner, pos), isUnread(h.typ, h.word, pos),
			isUnread(h.data, inner, pos))
		h.typ, h.data = assume(h.typ), assume(h.data)
	}
	out := orNone(not(isNull(at, pos), pos), load(memPlace{at, 0, tree.User, b.body}, types.I64, pos), pos)
	for i := len(unread) - 1; i >= 0; i-- {
		out = chooseFault(unread[i], out, pos)
	}
	return out
}

// isUnread is whether a word is FAULT though there is an address to read it at.
func isUnread(word, address *tree.Expr, pos plan.Pos) *tree.Expr {
	fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{word}, Pos: pos}
	return logic(tree.OpLAnd, fault, not(isNull(assume(address), pos), pos), pos)
}

// errorType is the type of error, which an error that wraps one has as the type of a member.
func (b golang) errorType(h held, pos plan.Pos) (kernel.TypeID, bool) {
	btf := b.u.btf(pos)
	known := h.known()
	for _, form := range errorForms {
		t, err := btf.Type(btf.Skip(known[form.name].Type))
		if err != nil || form.next == "" || t.Kind != kernel.KindPtr {
			continue
		}
		if f, err := btf.Field(t.Elem, form.next); err == nil {
			return btf.Skip(f.Type), true
		}
	}
	return 0, false
}

// interfaceValue is an interface as a value: the type of what it holds, and of an error what is known of it; None of
// nil.
func (b golang) interfaceValue(o *goValue, pos plan.Pos) val {
	parts := partsOfErrors
	if o.Name != "error" {
		parts = parts[:1]
	}
	return exprVal(b.unlessEmpty(b.dynamic(o, pos), pos, func(h held) *tree.Expr {
		out := val{comp: true, names: []string{}}
		for _, name := range parts {
			out.names = append(out.names, name)
			out.elems = append(out.elems, exprVal(b.partOf(h, name, pos)))
		}
		return b.rv(out, pos)
	}))
}
