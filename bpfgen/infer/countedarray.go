package infer

import (
	"debug/dwarf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/plan"
)

// Arrays of C whose length the program computes (`int list[n]`), as variables of programs.
//
// Arrays of C whose length the program computes, `int list[n]`, are lists of the program (programlist.go): debug
// information tells where their length is. An index behind the end is FAULT, and so is each where the length is not
// kept. In `short grid[n][m]` the second length is needed for the place of a row.

// A countedArray is one of them.
type countedArray struct {
	memPlace
	elem kernel.TypeID
	// n is how many elements it has; FAULT where nobody knows.
	n *tree.Expr
	// gone: nobody knows where it is, or how long.
	gone bool
}

func (*countedArray) what() string { return "an array" }

// countedArray is an array of a type at a place; false where the length is known, or nobody says it.
func (b memory) countedArray(at memPlace, t kernel.Type, pos plan.Pos) (*countedArray, bool) {
	place, ok := kernel.CountedAt(b.u.btf(pos), t.ID)
	if !ok {
		return nil, false
	}
	n, known := b.computed(place, pos)
	return &countedArray{at, t.Elem, n, !known}, true
}

// countedValue is the array, or of one of chars the string in it.
func (b memory) countedValue(a *countedArray, pos plan.Pos) val {
	switch {
	case !b.isChar(a.elem, pos):
		return objVal(a)
	case a.gone:
		return unknownPlace(pos)
	}
	return exprVal(orFault(a.n, pos, func(n *tree.Expr) *tree.Expr {
		e := b.cstring(a.memPlace, b.u.strMax+1, 0, pos)
		e.Args = append(e.Args, n)
		return e
	}))
}

// computed is a length that the program computes, by its place in the debug information; false where nobody knows it.
func (b memory) computed(place int64, pos plan.Pos) (*tree.Expr, bool) {
	if b.view == nil {
		return lost(pos), false
	}
	b.view.ask(question{about: aboutLength, at: place})
	v, err := b.view.Length(dwarf.Offset(place))
	if err != nil || v.Place.Kind != location.Held {
		return lost(pos), false
	}
	n := b.body.inSight(b.view, pos).tree(v.Place.Value)
	return lengthWithin(as(n, types.U64, pos), maxListBytes, func(n *tree.Expr) *tree.Expr { return n }, pos), true
}

// elementOf is a[i].
func (b attributes) elementOf(a *countedArray, i val, pos plan.Pos) val {
	if !a.gone {
		return b.element(a.asList(b.body, pos), i, pos)
	}
	if _, ok := i.constInt(); !ok {
		refuse(pos, constantIndex, "an array field")
	}
	return b.memory().gone(a.elem, pos)
}

// gone is a value of a type of which nobody knows where it is.
func (b memory) gone(id kernel.TypeID, pos plan.Pos) val {
	id = b.u.btf(pos).Skip(id)
	t, err := b.u.btf(pos).Type(id)
	if err != nil {
		wrong(pos, "%v", err)
	}
	return b.argWords().nowhere(id, t, pos)
}

// asList is the array as a list of the program.
func (a *countedArray) asList(b *body, pos plan.Pos) programList {
	t := b.memory().addressType(a.elem, pos)
	if a.gone {
		first := &tree.Expr{Op: tree.OpUnreadable, Type: t.OrFault(), Int: tree.Lost, Pos: pos}
		return programList{listType: b.u.typeOfCounted(a), first: first, n: lost(pos)}
	}
	first := a.addr
	if a.off != 0 {
		first = operation(tree.OpAdd, types.U64, asAddress(a.addr, pos), intExpr(a.off, pos), pos)
	}
	return programList{listType: b.u.typeOfCounted(a), first: as(asAddress(first, pos), t, pos), n: a.n}
}

// typeOfCounted is the type of the array as a list.
func (u *unit) typeOfCounted(a *countedArray) listType {
	l := listType{elem: u.btf(plan.Pos{}).Skip(a.elem)}
	l.size, _ = u.btf(plan.Pos{}).Size(l.elem) // 0 where the program computes that, too
	return l
}

// listTypeOf is the type of the list that a value is; false for what is none.
func (b attributes) listTypeOf(v val, pos plan.Pos) (listType, bool) {
	if a, ok := v.obj.(*countedArray); ok {
		return b.u.typeOfCounted(a), true
	}
	if h, ok := v.obj.(*heldList); ok {
		v = objVal(h.structObj)
	}
	return b.u.listType(structOf(v), pos)
}

// after is the place of what lies n elements of a type behind a place. The size of the type is known, or the program
// computes it; where nobody knows it, nothing can be read there.
func (b memory) after(at memPlace, n int64, elem kernel.TypeID, pos plan.Pos) memPlace {
	btf := b.u.btf(pos)
	size, err := btf.Size(elem)
	if t, bad := btf.Type(btf.Skip(elem)); bad == nil && t.Open && err == nil && n != 0 {
		wrong(pos, "nobody says how long the arrays are of which this is number %d, so where it lies is not known", n)
	}
	if err == nil {
		at.off += n * int64(size)
		return at
	}
	stride, ok := b.stride(elem, pos)
	if !ok {
		refuse(pos, "%v", err)
	}
	base := operation(tree.OpAdd, types.I64, as(asAddress(at.addr, pos), types.I64, pos), intExpr(at.off, pos), pos)
	address := orFault(stride, pos, func(stride *tree.Expr) *tree.Expr {
		bytes := operation(tree.OpMul, types.I64, as(stride, types.I64, pos), intExpr(n, pos), pos)
		return operation(tree.OpAdd, types.I64, base, bytes, pos)
	})
	return memPlace{address, 0, at.space, at.from}
}

// stride is the size of an array whose length, or that of an array in it, the program computes; false for other types
// without a size.
func (b memory) stride(id kernel.TypeID, pos plan.Pos) (size *tree.Expr, ok bool) {
	btf := b.u.btf(pos)
	size = intExpr(1, pos)
	for range maxDimensions {
		id = btf.Skip(id)
		if known, err := btf.Size(id); err == nil {
			return product(size, intExpr(int64(known), pos), pos), true
		}
		t, err := btf.Type(id)
		if err != nil || t.Kind != kernel.KindArray {
			return nil, false
		}
		n := intExpr(int64(t.Len), pos)
		if place, counted := kernel.CountedAt(btf, id); counted {
			n, _ = b.computed(place, pos)
		}
		size, id = product(size, n, pos), t.Elem
	}
	return nil, false
}

// strideOf is how many bytes lie between two elements of a list; false for elements of a type without a form.
func (b memory) strideOf(l listType, pos plan.Pos) (*tree.Expr, bool) {
	if l.size != 0 {
		return intExpr(int64(l.size), pos), true
	}
	if _, err := b.u.btf(pos).Size(l.elem); err == nil {
		return nil, false
	}
	return b.stride(l.elem, pos)
}

// product multiplies two numbers; FAULT where one of them is that.
func product(x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	return orFault(x, pos, func(x *tree.Expr) *tree.Expr {
		return orFault(y, pos, func(y *tree.Expr) *tree.Expr {
			return operation(tree.OpMul, types.I64, as(x, types.I64, pos), as(y, types.I64, pos), pos)
		})
	})
}

// maxDimensions bounds the dimensions of an array of which the width of the elements is known.
const maxDimensions = 16
