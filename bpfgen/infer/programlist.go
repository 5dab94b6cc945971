package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Lists of programs are structs that lead to their elements: a slice of Go, a std::vector. As lists they have elements,
// x[i], and a length. An element that the list has not is FAULT, whatever lies behind its last one. As a value a list
// of numbers is a tuple of its first maxArray elements.

// A listForm says which structs are lists, and which of their members lead to the first element and to behind the last,
// or to their number.
type listForm struct {
	// name is what the struct's name begins with.
	name         string
	first        []string
	end, counted []string
}

// listForms are those of Go, of libstdc++, of libc++ and of Rust.
var listForms = []listForm{
	{name: "[]", first: []string{"array"}, counted: []string{"len"}},
	{name: "vector<", first: []string{"_M_impl", "_M_start"}, end: []string{"_M_impl", "_M_finish"}},
	{name: "vector<", first: []string{"__begin_"}, end: []string{"__end_"}},
	{name: "&[", first: []string{"data_ptr"}, counted: []string{"length"}},
}

// A programList is a struct that is one: the address of its first element, of a type that leads to it, and how many it
// has.
type programList struct {
	first *tree.Expr
	n     *tree.Expr
}

// listOf gives the list that a value is; false where it is none.
func (b attributes) listOf(x val, pos plan.Pos) (l programList, ok bool) {
	id := kernel.TypeID(0)
	switch o := x.obj.(type) {
	case *structObj:
		id = o.id
	case *regStruct:
		id = o.id
	}
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	if err != nil || id == 0 || !btf.OfProgram(id) {
		return l, false
	}
	for _, form := range listForms {
		if !strings.HasPrefix(t.Name, form.name) || !kernel.HasField(btf, id, form.first[0]) {
			continue
		}
		if l, ok = b.listBy(form, x, pos); ok {
			return l, true
		}
	}
	return l, false
}

// listBy reads the parts of a list.
func (b attributes) listBy(form listForm, x val, pos plan.Pos) (l programList, ok bool) {
	part := func(path []string) *tree.Expr {
		v := x
		for _, name := range path {
			v = b.attr(v, name, pos)
		}
		return b.rv(v, pos)
	}
	l.first = part(form.first)
	elem := l.first.Type.BTF | l.first.Type.Elem
	size, err := b.u.btf(pos).Size(elem)
	if elem == 0 || err != nil || size == 0 {
		return l, false
	}
	if form.counted != nil {
		n := part(form.counted)
		wide := types.I64
		wide.MayFault = n.Type.MayFault
		l.n = as(n, wide, pos)
		return l, true
	}
	end := part(form.end)
	l.n = orFault(l.first, pos, func(first *tree.Expr) *tree.Expr {
		return orFault(end, pos, func(end *tree.Expr) *tree.Expr {
			bytes := operation(tree.OpSub, types.I64, as(end, types.I64, pos), as(first, types.I64, pos), pos)
			return operation(tree.OpFloorDiv, types.I64, bytes, intExpr(int64(size), pos), pos)
		})
	})
	return l, true
}

// element is x[i] of a list: of an index that it has not it lies at the address 0, where nothing can be read.
func (b attributes) element(l programList, i val, pos plan.Pos) val {
	n, ok := i.constInt()
	switch {
	case !ok:
		refuse(pos, "a list of a program takes a constant index in a kernel half")
	case n < 0:
		wrong(pos, "the index of a list of a program counts from its beginning, got %d", n)
	}
	has := operation(tree.OpLt, types.Boolean, intExpr(n, pos), assume(l.n), pos)
	none := as(intExpr(0, pos), l.first.Type, pos)
	first := &tree.Expr{Op: tree.OpCond, Type: l.first.Type, Args: []*tree.Expr{has, l.first, none}, Pos: pos}
	return b.memory().pointerElement(first, i, pos)
}

// numbers is the label of the elements as an array of them; false where they are no numbers.
func (l programList) numbers(b *body, pos plan.Pos) (label string, size int, ok bool) {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(l.first.Type.BTF | l.first.Type.Elem))
	form := "u"
	switch {
	case err != nil || t.Bool || t.Size > 8:
		return "", 0, false
	case t.Kind == kernel.KindFloat:
		form = "f"
	case t.Kind != kernel.KindInt && t.Kind != kernel.KindEnum:
		return "", 0, false
	case t.Signed:
		form = "s"
	}
	return fmt.Sprint(wire.LabelInts, form, t.Size), t.Size, true
}

// listPlace is where the parts of what may be a list of a program are read; false for what is none.
func listPlace(v val) (where memPlace, ok bool) {
	switch o := v.obj.(type) {
	case *structObj:
		return o.memPlace, true
	case *regStruct:
		return where, true
	}
	return where, false
}

// listValue is a list of numbers of a program as a value; false where v is something else.
func (b attributes) listValue(v val, pos plan.Pos) (val, bool) {
	where, ok := listPlace(v)
	if !ok {
		return v, false
	}
	whole := b.inPlace(where, func(at *body) val {
		l, ok := at.attributes().listOf(v, pos)
		if !ok {
			return val{}
		}
		label, size, ok := l.numbers(at, pos)
		if !ok {
			return val{}
		}
		t := types.Type{Kind: types.Bytes, Cap: maxArray * size, Label: label}.OrFault()
		return exprVal(orFault(l.n, pos, func(n *tree.Expr) *tree.Expr {
			return orFault(l.first, pos, func(first *tree.Expr) *tree.Expr {
				bytes := operation(tree.OpMul, types.I64, n, intExpr(int64(size), pos), pos)
				return &tree.Expr{Op: tree.OpStr, Type: t, Str: tree.User, Args: []*tree.Expr{first, bytes}, Pos: pos}
			})
		}))
	})
	if whole.expr == nil {
		return v, false
	}
	return whole, true
}

// isList reports whether v is a list of a program, which no loop of a kernel half goes over and of which user space
// gets no elements but numbers.
func (b attributes) isList(v val, pos plan.Pos) bool {
	if v.obj == nil {
		return false
	}
	_, ok := b.listOf(v, pos)
	return ok
}

// onlyParts reports whether v is a list of a program that is no value as a whole: its elements are no numbers.
func (b attributes) onlyParts(v val, pos plan.Pos) bool {
	if !b.isList(v, pos) {
		return false
	}
	_, whole := b.listValue(v, pos)
	return !whole
}

// counted is how many elements a list of a program has, for the truth of one that is no value as a whole; v where v is
// something else.
func (b attributes) counted(v val, pos plan.Pos) val {
	if !b.onlyParts(v, pos) {
		return v
	}
	where, _ := listPlace(v)
	return b.inPlace(where, func(at *body) val {
		l, _ := at.attributes().listOf(v, pos)
		return exprVal(l.n)
	})
}

// eachOfList is what to do instead of going over a list of a program.
const eachOfList = "this list of the program has another length each time: go over range(8), or as many as are " +
	"wanted, and ask `i < len(list)` before list[i]"
