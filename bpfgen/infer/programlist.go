package infer

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Lists of programs that lead to their elements: slices of Go, std::vector, Vec of Rust (`listForms`); elements,
// length, and how many bytes of one are sent (`maxListBytes`).
//
// Lists of programs are structs that lead to their elements: a slice of Go, a std::vector. As lists they have elements,
// x[i], and a length. An element that the list has not is FAULT, whatever lies behind its last one. As a value a list
// of numbers is a tuple of its first maxArray elements (listvalue.go).

// A listForm says which structs are lists, and which of their members lead to the first element and to behind the last,
// or to their number.
type listForm struct {
	// name is what the struct's name begins with; golang is what it is in Go, whatever its name.
	name         string
	golang       kernel.GoForm
	first        []string
	end, counted []string
	// bits: the elements are bits of words; end leads to a word, and rest to the number of bits that are taken of it.
	bits bool
	rest []string
	// inside is the member, of what first leads to, that the elements lie in, where they are not that themselves.
	inside string
}

// listForms are those of Go, of libstdc++, of libc++ and of Rust. A std::span whose type says how many elements it has
// keeps no number of them.
var listForms = []listForm{
	{golang: kernel.GoSlice, first: []string{"array"}, counted: []string{"len"}},
	{name: "vector<bool", first: []string{"_M_impl", "_M_start", "_M_p"}, end: []string{"_M_impl", "_M_finish", "_M_p"},
		bits: true, rest: []string{"_M_impl", "_M_finish", "_M_offset"}},
	{name: "vector<bool", first: []string{"__begin_"}, counted: []string{"__size_"}, bits: true},
	{name: "vector<", first: []string{"_M_impl", "_M_start"}, end: []string{"_M_impl", "_M_finish"}},
	{name: "vector<", first: []string{"__begin_"}, end: []string{"__end_"}},
	{name: "span<", first: []string{"_M_ptr"}, counted: []string{"_M_extent", "_M_extent_value"}},
	{name: "span<", first: []string{"__data_"}, counted: []string{"__size_"}},
	{name: "span<", first: []string{"__data"}, counted: []string{"__size"}}, // until LLVM 15
	{name: "span<", first: []string{"_M_ptr"}},
	{name: "span<", first: []string{"__data_"}},
	{name: "span<", first: []string{"__data"}},
	{name: "&[", first: []string{"data_ptr"}, counted: []string{"length"}},
	{name: "&mut [", first: []string{"data_ptr"}, counted: []string{"length"}},
	{name: "alloc::boxed::Box<[", first: []string{"data_ptr"}, counted: []string{"length"}},
	{name: "Rc<[", first: []string{"ptr", "pointer", "data_ptr"}, counted: []string{"ptr", "pointer", "length"},
		inside: "value"},
	{name: "Arc<[", first: []string{"ptr", "pointer", "data_ptr"}, counted: []string{"ptr", "pointer", "length"},
		inside: "data"},
	{name: "Vec<", first: []string{"buf", "inner", "ptr", "pointer", "pointer"}, counted: []string{"len"}},
	{name: "Vec<", first: []string{"buf", "ptr", "pointer", "pointer"}, counted: []string{"len"}}, // until Rust 1.83
}

// A listType is a struct of a program that is a list: its form, and the type of its elements, of size bytes each; 0 are
// those of a type that there is no form for, as a complex number, and of a struct without members.
type listType struct {
	listForm
	elem kernel.TypeID
	size int
	// fixed is how many elements each list of the type has, where the form has no number of them.
	fixed int64
	// ahead is how many bytes lie between what the form's first leads to and the first element.
	ahead int64
}

// listType is what type a list has; false for a type that is none.
func (u *unit) listType(id kernel.TypeID, pos plan.Pos) (listType, bool) {
	if id == 0 {
		return listType{}, false // no struct: a kernel without types has such values, too
	}
	btf := u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	if err != nil || id == 0 || t.Kind != kernel.KindStruct || !btf.OfProgram(id) {
		return listType{}, false
	}
	for _, form := range listForms {
		if is, _ := kernel.GoTypeOf(btf, t.ID); is.Form != form.golang || !strings.HasPrefix(t.Name, form.name) {
			continue
		}
		if l, ok := listTypeBy(btf, form, t); ok {
			return l, true
		}
	}
	return listType{}, false
}

// listTypeBy is the type t as a list of a form.
func listTypeBy(btf *kernel.BTF, form listForm, t kernel.Type) (l listType, ok bool) {
	first, ok := memberType(btf, t.ID, form.first)
	if !ok || first.Kind != kernel.KindPtr {
		return l, false
	}
	l = listType{listForm: form, elem: btf.Skip(first.Elem)}
	if elem, said := kernel.ElementsOf(btf, t.ID); said {
		l.elem = btf.Skip(elem)
	}
	if form.inside != "" {
		if !kernel.HasField(btf, l.elem, form.inside) {
			return l, false
		}
		f, err := btf.Field(l.elem, form.inside)
		if err != nil {
			return l, false
		}
		l.elem, l.ahead = btf.Skip(f.Type), int64(f.Off)
	}
	for _, path := range [][]string{form.end, form.counted, form.rest} {
		if _, ok := memberType(btf, t.ID, path); !ok {
			return l, false
		}
	}
	if form.end == nil && form.counted == nil {
		if l.fixed, ok = extentOf(t.Name); !ok {
			return l, false
		}
	}
	if size, err := btf.Size(l.elem); err == nil {
		l.size = size
	}
	return l, l.elem != 0 && (l.size != 0 || l.end == nil)
}

// memberType is the type of a member of a member …; of no path it is the type itself.
func memberType(btf *kernel.BTF, id kernel.TypeID, path []string) (t kernel.Type, ok bool) {
	for _, name := range path {
		if !kernel.HasField(btf, id, name) {
			return t, false
		}
		f, err := btf.Field(id, name)
		if err != nil {
			return t, false
		}
		id = btf.Skip(f.Type)
	}
	t, err := btf.Type(id)
	return t, err == nil
}

// extentOf is how many elements the name of a type of C++ says: 4 of span<int, 4>, which clang writes as 4UL.
func extentOf(name string) (int64, bool) {
	last := name[strings.LastIndexByte(name, ',')+1:]
	n, err := strconv.ParseInt(strings.Trim(last, " UL>"), 10, 64)
	return n, err == nil && n >= 0
}

// arrayIn gives the array that a struct of C++ is, a std::array: where it lies in the struct, and its type. One of no
// elements has the type 0.
func (u *unit) arrayIn(id kernel.TypeID, pos plan.Pos) (f kernel.Field, ok bool) {
	if id == 0 {
		return f, false
	}
	btf := u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	if err != nil || t.Kind != kernel.KindStruct || !btf.OfProgram(id) || !strings.HasPrefix(t.Name, "array<") {
		return f, false
	}
	for _, name := range []string{"_M_elems", "__elems_"} {
		if !kernel.HasField(btf, t.ID, name) {
			continue
		}
		if f, err = btf.Field(t.ID, name); err != nil {
			return f, false
		}
		if of, err := btf.Type(btf.Skip(f.Type)); err != nil || of.Kind != kernel.KindArray {
			f.Type = 0
		}
		if n, known := extentOf(t.Name); known && n == 0 {
			f.Type = 0
		}
		return f, true
	}
	return f, false
}

// A programList is a list of a program: its type, the address of its first element, and how many it has. A number that
// no list can have is FAULT.
type programList struct {
	listType
	first *tree.Expr
	n     *tree.Expr
}

// listOf gives the list that a value is; false where it is none.
func (b attributes) listOf(x val, pos plan.Pos) (l programList, ok bool) {
	if a, ok := x.obj.(*countedArray); ok {
		return a.asList(b.body, pos), true
	}
	if h, ok := x.obj.(*heldList); ok {
		l, ok = b.listOf(objVal(h.structObj), pos)
		l.n = h.counted(l.n, pos)
		return l, ok
	}
	t, ok := b.u.listType(structOf(x), pos)
	if !ok {
		return l, false
	}
	l = programList{listType: t, first: t.behind(b.address(x, t.listForm.first, t.elem, pos), pos)}
	l.n = b.length(l, x, pos)
	return l, true
}

// behind is the address of the first element where e is that of what it lies in.
func (l listType) behind(e *tree.Expr, pos plan.Pos) *tree.Expr {
	if l.ahead == 0 || e.Op == tree.OpUnreadable {
		return e
	}
	return orFault(e, pos, func(e *tree.Expr) *tree.Expr {
		return as(operation(tree.OpAdd, types.U64, as(e, types.U64, pos), intExpr(l.ahead, pos), pos), e.Type, pos)
	})
}

// structOf is the type of a struct, 0 of what is none.
func structOf(x val) kernel.TypeID {
	switch o := x.obj.(type) {
	case *structObj:
		return o.id
	case *regStruct:
		return o.id
	}
	return 0
}

// along is what a path leads to.
func (b attributes) along(x val, path []string, pos plan.Pos) val {
	for _, name := range path {
		x = b.attr(x, name, pos)
	}
	return x
}

// address is the address that a path leads to, of elements of a type. A char * would be a string, and a char ** a list.
func (b attributes) address(x val, path []string, elem kernel.TypeID, pos plan.Pos) *tree.Expr {
	last := len(path) - 1
	x = b.along(x, path[:last], pos)
	t := b.memory().addressType(elem, pos)
	if v := b.attr(x, path[last], pos); v.expr != nil && v.expr.Type.Kind == types.Int && !isLost(v.expr) {
		word := b.rv(v, pos)
		is := word.Type
		is.BTF, is.Elem = t.BTF, t.Elem
		return as(word, is, pos)
	}
	f, err := b.u.btf(pos).Field(structOf(x), path[last])
	if err != nil {
		wrong(pos, "%v", err)
	}
	switch o := x.obj.(type) {
	case *structObj:
		at := o.memPlace
		at.off += int64(f.Off)
		return load(at, t, pos)
	case *regStruct:
		if !o.nowhere {
			return as(o.has(b.body, o.off+f.Off, 8, path[last], pos), t, pos)
		}
	}
	return &tree.Expr{Op: tree.OpUnreadable, Type: t.OrFault(), Int: tree.Lost, Pos: pos}
}

// maxListBytes bounds the bytes of a list. One of more is none, but memory that is none yet, or no more.
const maxListBytes = 1 << 38

// length is how many elements a list has. The members of one that is damaged, or not yet made, can say anything.
func (b attributes) length(l programList, x val, pos plan.Pos) *tree.Expr {
	switch {
	case l.end == nil && l.counted == nil:
		return intExpr(l.fixed, pos)
	case l.counted != nil:
		most := int64(maxListBytes / max(l.size, 1))
		return orFault(b.rv(b.along(x, l.counted, pos), pos), pos, func(n *tree.Expr) *tree.Expr {
			return lengthWithin(as(n, types.U64, pos), most, func(n *tree.Expr) *tree.Expr { return n }, pos)
		})
	}
	end := b.address(x, l.end, l.elem, pos)
	if isLost(l.first) || isLost(end) {
		return lost(pos)
	}
	return orFault(l.first, pos, func(first *tree.Expr) *tree.Expr {
		return orFault(end, pos, func(end *tree.Expr) *tree.Expr {
			bytes := operation(tree.OpSub, types.U64, as(end, types.U64, pos), as(first, types.U64, pos), pos)
			return lengthWithin(bytes, maxListBytes, func(bytes *tree.Expr) *tree.Expr {
				if l.bits {
					return b.bitsIn(l, x, bytes, pos)
				}
				size := as(intExpr(int64(l.size), pos), types.U64, pos)
				return operation(tree.OpFloorDiv, types.U64, bytes, size, pos)
			}, pos)
		})
	})
}

// bitsIn is how many bits a list of them has: those of whole words, of so many bytes, and of the last one.
func (b attributes) bitsIn(l programList, x val, bytes *tree.Expr, pos plan.Pos) *tree.Expr {
	rest := b.rv(b.along(x, l.rest, pos), pos)
	bits := operation(tree.OpMul, types.U64, bytes, as(intExpr(8, pos), types.U64, pos), pos)
	return orFault(rest, pos, func(rest *tree.Expr) *tree.Expr {
		return operation(tree.OpAdd, types.U64, bits, as(rest, types.U64, pos), pos)
	})
}

// lengthWithin is the length that f makes of n, FAULT where n is more than most.
func lengthWithin(n *tree.Expr, most int64, f func(*tree.Expr) *tree.Expr, pos plan.Pos) *tree.Expr {
	more := operation(tree.OpGt, types.Boolean, n, as(intExpr(most, pos), types.U64, pos), pos)
	out := f(n)
	t := types.I64
	t.MayFault = out.Type.MayFault
	return chooseFault(more, as(out, t, pos), pos)
}

// element is x[i] of a list, from its end where i is below 0: of an index that it has not it lies at the address 0,
// where nothing can be read.
func (b attributes) element(l programList, i val, pos plan.Pos) val {
	n, ok := i.constInt()
	if !ok {
		refuse(pos, constantIndex, "a list of a program")
	}
	stride, ok := b.memory().strideOf(l.listType, pos)
	if !ok {
		return unknownKind(pos)
	}
	if isLost(l.first) {
		return b.memory().gone(l.elem, pos)
	}
	where, has := l.first, operation(tree.OpLt, types.Boolean, intExpr(n, pos), assume(l.n), pos)
	if n < 0 {
		if l.bits {
			wrong(pos, "the index of a list of bits counts from its beginning, got %d", n)
		}
		has = operation(tree.OpGe, types.Boolean, assume(l.n), intExpr(-n, pos), pos)
		bytes := assume(product(assume(l.n), stride, pos))
		sum := operation(tree.OpAdd, types.I64, as(asAddress(l.first, pos), types.I64, pos), bytes, pos)
		where = as(sum, l.first.Type.Present(), pos)
	}
	none := as(intExpr(0, pos), where.Type, pos)
	first := &tree.Expr{Op: tree.OpCond, Type: where.Type, Args: []*tree.Expr{has, where, none}, Pos: pos}
	if l.bits {
		return b.bitOf(first, n, pos)
	}
	return b.memory().pointerElement(first, intVal(n), pos)
}

// bitOf is a bit of what begins at an address, counted from the lowest of its first byte on.
func (b attributes) bitOf(first *tree.Expr, n int64, pos plan.Pos) val {
	e := load(memPlace{first, n / 8, tree.User, b.body}, types.IntOf(8, false), pos)
	e.Bit, e.BitSize = uint8(n%8), 1
	return exprVal(truthBit(e, kernel.Type{Bool: true}))
}

// isList reports whether v is a list of a program, which no loop of a kernel half goes over and of which user space
// gets no elements but numbers.
func (b attributes) isList(v val, pos plan.Pos) bool {
	_, ok := b.listTypeOf(v, pos)
	return ok
}

// eachOfList is what to do instead of going over a list of a program.
const (
	eachOfList  = "this list of the program has another length each time: " + partsOfList
	partsOfList = "go over range(8), or as many as are wanted, and ask `i < len(list)` before list[i]"
)

// noPointer refuses to take what points to a list, or to a std::array, for the list itself.
func (b attributes) noPointer(v val, pos plan.Pos) {
	if b.pointsToList(v, pos) {
		wrong(pos, "this is the address of a list, as C has it: p[0] is the list, as in len(p[0])")
	}
}

// pointsToList reports whether v is the address of a list of a program.
func (b attributes) pointsToList(v val, pos plan.Pos) bool {
	if v.expr == nil || v.expr.Type.BTF == 0 {
		return false
	}
	_, list := b.u.listType(v.expr.Type.BTF, pos)
	_, array := b.u.arrayIn(v.expr.Type.BTF, pos)
	return list || array
}
