package infer

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// How many bits %x and other unsigned verbs show of a negative int: the width of its field.
//
// The verbs of printf for unsigned numbers (%x of -100) show the bits of a negative int, as many as its field has. An
// int of user space does not know from which field it is, so the compiler says it of each place where one is shown so
// (plan.UserHalf.Widths). Points of a probe can differ in it: each record has widths of its own, which are known when
// the programs are made, so that nothing is sent for them.
//
// So it is with a time.Duration and a time.Time of Go, which are ints and shown with their units: what print, str and
// %s show has such a width (wire.WidthDuration).

// ownWidth notes the widths of what printf and sprintf with a constant format show as unsigned numbers, and of what is
// shown as a text of Go.
func (u *userWalk) ownWidth(f *builtin, x *syntax.CallExpr, vals []uval) {
	switch {
	case !f.is(makesText) || len(vals) == 0:
		return
	case !f.is(formats):
		for i, v := range vals {
			u.noteText(x.Args[i], v)
		}
		return
	}
	text, ok := vals[0].v.constStr()
	if !ok || !vals[0].known || argValue(x.Args[0]) != x.Args[0] {
		return
	}
	form, err := format.Parse(text)
	if err != nil || !starred(x.Args) && form.Wanted() != len(vals)-1 {
		return // checkFormat says it
	}
	verbs := form.Verbs()
	spread := len(verbs) - (len(vals) - 2) // what the others leave to the one that is given by a star
	for i, v := range vals[1:] {
		switch at := x.Args[i+1]; {
		case len(verbs) == 0 || starOf(at) == syntax.STARSTAR:
			return
		case starOf(at) == 0:
			u.noteVerb(at, v, verbs[0])
			verbs = verbs[1:]
		case spread > 0:
			u.noteSpread(argValue(at), v, verbs[:spread])
			verbs = verbs[spread:]
		}
	}
}

// unsignedVerbs are the verbs that show an int without its sign.
const unsignedVerbs = "xXobu"

// noteVerb notes how v, which stands at x, is shown by a verb.
func (u *userWalk) noteVerb(x syntax.Expr, v uval, verb byte) {
	switch {
	case verb == 's' || verb == 'v':
		u.noteText(x, v)
	case strings.IndexByte(unsignedVerbs, verb) >= 0 && argValue(x) == x:
		u.noteWidth(x, max(fieldWidth(v), 0))
	}
}

// noteSpread notes how the elements of v, which is given by a star and stands at x, are shown by verbs.
func (u *userWalk) noteSpread(x syntax.Expr, v uval, verbs []byte) {
	for i, verb := range verbs {
		one := uval{bits: elementBits(v, i)}
		if i < len(v.elems) {
			one = v.elems[i]
		}
		at := u.proj.element(copySite{u.half, x}, i)
		if u.half.Spread[x] == nil || len(u.half.Spread[x]) <= i {
			u.half.Spread[x] = append(u.half.Spread[x], at)
		}
		u.noteVerb(at, one, verb)
	}
}

// noteText notes that v, which stands at x, is shown as a text, if it is an int that has one.
func (u *userWalk) noteText(x syntax.Expr, v uval) {
	if argValue(x) == x {
		u.noteWidth(x, min(fieldWidth(v), 0))
	}
}

// noteWidth notes the width of what stands at x. What one walk comes to twice with other widths has none.
func (u *userWalk) noteWidth(x syntax.Expr, width int) {
	at := copySite{u.half, unparen(x)}
	if !u.proj.shown[at] {
		u.proj.shown[at] = true
		u.proj.widths = append(u.proj.widths, widthSite{at, u.nested})
	}
	s := u.proj.sends[len(u.proj.sends)-1]
	if was, seen := s.widths[at]; seen && was != width {
		width = 0
	}
	s.widths[at] = width
}

// fieldWidth is how many bits v has if it is a field with a sign that is narrower than 64 bits, or a list of such, else
// 0; below 0 of what is shown as a text of Go, which no list is.
func fieldWidth(v uval) int {
	switch {
	case !v.known && v.elems != nil:
		return max(commonWidth(v.elems...), 0)
	case !v.known:
		return v.bits
	case v.bits < 0:
		return v.bits
	case !v.part:
		return 0
	}
	return shownWidth(v.v)
}

// shownWidth is fieldWidth of a part of the event.
func shownWidth(v val) int {
	switch {
	case v.obj != nil:
		return elementWidth(v.obj)
	case v.comp || v.expr != nil && v.typ().Kind == types.Tuple:
		list := widthsOf(v)
		if len(list) == 0 || slices.Max(list) != slices.Min(list) {
			return 0
		}
		return list[0]
	case v.expr == nil || !isField(v.expr):
		return 0
	}
	return narrowWidth(v.typ())
}

// widthsOf are the widths of the elements of a tuple of the event, each as shownWidth has it; nil where v is none.
func widthsOf(v val) (list []int) {
	switch {
	case v.comp:
		for _, e := range v.elems {
			list = append(list, shownWidth(e))
		}
	case v.expr != nil && v.typ().Kind == types.Tuple:
		for i, t := range v.typ().Elems {
			list = append(list, 0)
			if isFieldAt(v.expr, i) {
				list[i] = narrowWidth(t)
			}
		}
	}
	return list
}

// elementBits is the width of element i of a value: that of all elements where it is no tuple of the event.
func elementBits(v uval, i int) int {
	if v.known && v.part {
		list := widthsOf(v.v)
		if at, ok := within(int64(i), len(list)); ok {
			return list[at]
		}
	}
	return fieldWidth(v)
}

// elementWidths are the elements of a tuple or an array of the event, of which only the widths are known; nil where
// there are too many, or where v is something else.
func (u arguments) elementWidths(v uval) []uval {
	if !v.known || !v.part {
		return nil
	}
	n := max(v.v.arrayLen(), len(widthsOf(v.v)))
	if o, ok := v.v.obj.(*regStruct); ok {
		n, _ = o.length(u.b)
	}
	if n == 0 || n > maxUnroll {
		return nil
	}
	out := make([]uval, n)
	for i := range out {
		out[i] = uval{bits: elementBits(v, i)}
	}
	return out
}

// narrowWidth is the width of an int with a sign that is narrower than 64 bits, else 0.
func narrowWidth(t types.Type) int {
	if t.Signed && t.Bits < 64 {
		return int(t.Bits)
	}
	return 0
}

// elementWidth is fieldWidth of the elements of an array or a list of the event, in all its dimensions.
func elementWidth(o object) int {
	switch o := o.(type) {
	case *ctxArray:
		return narrowWidth(o.elem)
	case *dynArray:
		return narrowWidth(o.elem)
	case *countedArray:
		if o.from == nil {
			return 0
		}
		return o.from.u.widthOfType(o.elem)
	case *arrayObj:
		return o.from.u.widthOfType(o.elem)
	case *structObj:
		return o.from.u.listedWidth(o.id)
	case *regStruct:
		if len(o.words) == 0 || o.words[0].from == nil {
			return 0
		}
		u := o.words[0].from.u
		if t, err := u.btf(plan.Pos{}).Type(o.id); err == nil && t.Kind == kernel.KindArray {
			return u.widthOfType(o.id)
		}
		return u.listedWidth(o.id)
	}
	return 0
}

// listedWidth is elementWidth of what may be a list of a program.
func (u *unit) listedWidth(id kernel.TypeID) int {
	l, ok := u.listType(id, plan.Pos{})
	if !ok || l.bits {
		return 0
	}
	return u.widthOfType(l.elem)
}

// widthOfType is the width of what a type is made of: of an array its elements.
func (u *unit) widthOfType(id kernel.TypeID) int {
	btf := u.btf(plan.Pos{})
	for range maxDimensions {
		t, err := btf.Type(btf.Skip(id))
		switch {
		case err != nil:
			return 0
		case t.Kind == kernel.KindArray:
			id = t.Elem
			continue
		case (t.Kind == kernel.KindInt || t.Kind == kernel.KindEnum) && t.Signed && t.Size < 8:
			return 8 * t.Size
		}
		return 0
	}
	return 0
}

// choosing are the builtins that give the elements of the one list that they are given, or some of them.
var choosing = []string{"enumerate", "list", "reversed", "sorted", "tuple"}

// givenWidth is the width of what a builtin gives that only chooses of what it is given.
func givenWidth(name plan.Builtin, vals []uval) int {
	switch {
	case slices.Contains(choosing, string(name)) && len(vals) > 0 && (name != "enumerate" || len(vals) == 1):
		return fieldWidth(vals[0])
	case (name == "min" || name == "max") && len(vals) == 1:
		return fieldWidth(vals[0])
	case name == "zip" || name == "min" || name == "max":
		return commonWidth(vals...)
	}
	return 0
}

// givenRow is what each tuple has that a builtin gives a list of: the parts of one have widths of their own.
func givenRow(name plan.Builtin, vals []uval) []uval {
	switch {
	case name == "zip":
		row := make([]uval, len(vals))
		for i, v := range vals {
			row[i] = oneOfList(v)
		}
		return row
	case !slices.Contains(choosing, string(name)) || len(vals) == 0:
		return nil
	case name == "enumerate":
		return []uval{{typ: "int"}, oneOfList(vals[0])}
	}
	return vals[0].row
}

// oneOfList is an element of a list, of which only the width is known.
func oneOfList(v uval) uval {
	if v.row != nil {
		return tupleOf(v.row)
	}
	if row := rowOf(v.elems); row != nil {
		return tupleOf(row)
	}
	return uval{bits: fieldWidth(v), may: v.callees(), held: v.holds()}
}

// rowOf is what each of some tuples has that are as long as each other: the widths that the parts at the same place
// have in common. It is nil where these are no such tuples.
func rowOf(list []uval) []uval {
	if len(list) == 0 || !haveElements(list, len(list[0].elems)) {
		return nil
	}
	row := make([]uval, len(list[0].elems))
	for i := range row {
		column := make([]uval, len(list))
		for j, v := range list {
			column[j] = v.elems[i]
		}
		row[i] = uval{bits: commonWidth(column...), may: calleesOf(column), held: holdsOf(column...)}
		if inner := rowOf(column); inner != nil {
			row[i] = tupleOf(inner)
		}
	}
	return row
}

// commonWidth is the width that all of some values have, 0 where they have none.
func commonWidth(list ...uval) int {
	if len(list) == 0 {
		return 0
	}
	width := fieldWidth(list[0])
	for _, v := range list[1:] {
		if fieldWidth(v) != width {
			return 0
		}
	}
	return width
}

// haveOwnWidths reports whether values, or the parts of tuples at the same place, differ in their widths.
func haveOwnWidths(list []uval) bool {
	if len(list) > 0 && haveElements(list, len(list[0].elems)) {
		for i := range list[0].elems {
			column := make([]uval, len(list))
			for j, v := range list {
				column[j] = v.elems[i]
			}
			if haveOwnWidths(column) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(list, func(v uval) bool { return fieldWidth(v) != fieldWidth(list[0]) })
}

// isField reports whether e is an int as it was read: what is computed of one has no width of its own.
func isField(e *tree.Expr) bool {
	if e.Type.Kind != types.Int || e.Type.Label != "" {
		return false
	}
	switch e.Op {
	case tree.OpLoad, tree.OpBuiltin, tree.OpSpanSlot, tree.OpElem, tree.OpLocal, tree.OpInline:
		return true // what operators of a kernel half make of ints is of 64 bits
	case tree.OpMin, tree.OpMax:
		first := e.Args[0]
		return !slices.ContainsFunc(e.Args, func(one *tree.Expr) bool {
			return !isField(one) || narrowWidth(one.Type) != narrowWidth(first.Type)
		})
	case tree.OpConvert, tree.OpAssume, tree.OpPresent:
		return e.Part || isField(e.Args[0])
	case tree.OpCond:
		yes, no := e.Args[1], e.Args[2]
		return (isField(yes) || isAbsent(yes)) && (isField(no) || isAbsent(no))
	}
	return false
}

// isFieldAt is isField of element i of a tuple, which is there or absent as a whole.
func isFieldAt(e *tree.Expr, i int) bool {
	switch e.Op {
	case tree.OpTuple:
		return isField(e.Args[i])
	case tree.OpSpanSlot, tree.OpElem, tree.OpLocal, tree.OpInline:
		return e.Type.Elems[i].Kind == types.Int && e.Type.Elems[i].Label == ""
	case tree.OpConvert, tree.OpAssume, tree.OpPresent:
		return isFieldAt(e.Args[0], i)
	case tree.OpCond:
		yes, no := e.Args[1], e.Args[2]
		return (isAbsent(yes) || isFieldAt(yes, i)) && (isAbsent(no) || isFieldAt(no, i))
	}
	return false
}

// isAbsent reports whether e is None or FAULT, which a field is where it cannot be read.
func isAbsent(e *tree.Expr) bool {
	if e.Op == tree.OpConvert {
		return isAbsent(e.Args[0])
	}
	return e.Op == tree.OpConst && e.Type.Kind == types.None
}

// finishWidths tells the user half and the records what the walks have found out. Places that have the same widths in
// all records share a number.
func (p *projection) finishWidths() {
	numbers := map[string]int{}
	for _, w := range p.widths {
		list := make([]int, len(p.sends))
		for i, s := range p.sends {
			list[i] = s.widths[w.at]
		}
		if !slices.ContainsFunc(list, func(bits int) bool { return bits != 0 }) {
			continue
		}
		key := fmt.Sprint(list)
		number, ok := numbers[key]
		if !ok {
			number = len(numbers)
			numbers[key] = number
			for i, s := range p.sends {
				s.shown = append(s.shown, list[i])
			}
		}
		w.at.half.Widths[w.at.site] = number
		if w.in != nil {
			w.at.half.Nested[w.in] = true
		}
	}
}
