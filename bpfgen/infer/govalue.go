package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Values of Go that C has nothing like: maps, channels, time.Time, and embedded fields.
//
// Values of Go that C has nothing like. A map, a channel and an interface are records that say what they are, and None
// where they are nil; a time is the ns since 1970. Their parts are read where a script asks for them, as those of the
// pointer or the struct that the value is in memory.

// A goValue is such a value.
type goValue struct {
	kernel.GoType
	// parts is what the value is in memory: of a map and a channel the pointer, of others the struct.
	parts val
	// from is the program that can read it.
	from *body
}

func (o *goValue) what() string {
	switch o.Form {
	case kernel.GoMap:
		return "a map of Go"
	case kernel.GoChannel:
		return "a channel of Go"
	case kernel.GoInterface:
		return "an interface of Go"
	}
	return "a time of Go"
}

// counts reports whether the value has a length.
func (o *goValue) counts() bool { return o.Form == kernel.GoMap || o.Form == kernel.GoChannel }

// notNumber refuses the comparison of what is None where it is nil with a number, as 0, that it is never equal to.
func notNumber(x, y val, pos plan.Pos) {
	if o, ok := x.obj.(*goValue); ok && o.Form != kernel.GoTime && y.obj == nil && y.typ().Kind == types.Int {
		wrong(pos, "%s is no number, and None where it is nil: compare it with None", o.what())
	}
}

// asGo gives a value of a program as what it is in Go; v where that is nothing else, as of a duration, which is an int,
// and of a slice, which is a list as those of other languages (programlist.go).
func (b memory) asGo(v val, id kernel.TypeID, pos plan.Pos) val {
	if is, ok := kernel.GoTypeOf(b.u.btf(pos), id); ok && is.Form != kernel.GoDuration && is.Form != kernel.GoSlice {
		return objVal(&goValue{is, v, b.body})
	}
	return v
}

// inLanguage gives a struct of a program as what it is in its language: a value of Go, or what a class of C++'s library
// stands for.
func (b memory) inLanguage(v val, id kernel.TypeID, pos plan.Pos) val {
	if v = b.asGo(v, id, pos); structOf(v) != 0 {
		return library(b).meant(v, id, pos)
	}
	return v
}

// goMember is a part of a value of Go by its name.
func (b attributes) goMember(o *goValue, name string, pos plan.Pos) val {
	return b.inPlace(memPlace{from: o.from}, func(at *body) val {
		if o.Form == kernel.GoChannel && name == "cap" {
			return exprVal((golang{at}).count(o, "dataqsiz", pos))
		}
		if o.Form == kernel.GoInterface && slices.Contains(partsOfErrors, name) {
			return exprVal((golang{at}).interfacePart(o, name, pos))
		}
		return at.attributes().attr(o.parts, name, pos)
	})
}

// whole is a value of Go as a whole.
func (b golang) whole(o *goValue, pos plan.Pos) val {
	return b.attributes().inPlace(memPlace{from: o.from}, func(at *body) val {
		switch o.Form {
		case kernel.GoInterface:
			return (golang{at}).interfaceValue(o, pos)
		case kernel.GoTime:
			return exprVal((golang{at}).unixTime(o, pos))
		}
		return (golang{at}).lengthsValue(o, pos)
	})
}

// orNone is v as a value where that may be None or FAULT though v is an object.
func (b golang) orNone(v val, pos plan.Pos) val {
	if o, ok := v.obj.(*goValue); ok {
		return b.whole(o, pos)
	}
	if _, ok := v.obj.(*heldList); ok {
		v, _ = b.attributes().listValue(v, pos)
	}
	return v
}

// noElements refuses what asks for the elements of a map or a channel: nobody reads them.
func noElements(v val, pos plan.Pos) {
	if o, ok := v.obj.(*goValue); ok {
		hint := "its parts have names"
		if o.counts() {
			hint = "what is in it is not read, and len(…) is how many there are"
		}
		wrong(pos, "%s has no elements here: %s", o.what(), hint)
	}
}

// golang reads values of Go in one program.
type golang struct{ *body }

// part is a member of what the value is in memory, as a tree.
func (b golang) part(x val, name string, pos plan.Pos) *tree.Expr {
	return b.rv(b.attributes().attr(x, name, pos), pos)
}

// isNull is whether a word is 0.
func isNull(word *tree.Expr, pos plan.Pos) *tree.Expr {
	return operation(tree.OpEq, types.Boolean, as(word, types.U64, pos), intExpr(0, pos), pos)
}

// unlessNil is what f gives where a word is not null, else none; FAULT where the word is that.
func unlessNil(word, none *tree.Expr, pos plan.Pos, f func() *tree.Expr) *tree.Expr {
	if word.Op == tree.OpUnreadable {
		return word
	}
	return orFault(word, pos, func(there *tree.Expr) *tree.Expr {
		e := f()
		t := e.Type
		if none.Type.Kind == types.None {
			t.MayNone = true
		}
		ways := []*tree.Expr{isNull(there, pos), as(none, t, pos), as(e, t, pos)}
		return &tree.Expr{Op: tree.OpCond, Type: t, Args: ways, Pos: pos}
	})
}

// counts are the members of the runtime's structs that say how many elements there are: of maps since Go 1.24, of those
// before, and of channels.
var counts = []string{"used", "count", "qcount"}

// length is len(x) of a map or a channel: 0 of one that is nil.
func (b golang) length(o *goValue, pos plan.Pos) *tree.Expr {
	btf := b.u.btf(pos)
	to := b.rv(o.parts, pos).Type.BTF
	for _, name := range counts {
		if kernel.HasField(btf, to, name) {
			return b.count(o, name, pos)
		}
	}
	refuse(pos, "how many elements a %s has is not known: its program's Go keeps them in another way", o.Name)
	return nil
}

// count is a number of the struct that a map or a channel leads to: 0 of one that is nil.
func (b golang) count(o *goValue, name string, pos plan.Pos) *tree.Expr {
	return unlessNil(b.rv(o.parts, pos), intExpr(0, pos), pos, func() *tree.Expr {
		n := b.part(o.parts, name, pos)
		return as(n, orFaultAs(types.I64, n), pos)
	})
}

// orFaultAs is t, FAULT where e may be that.
func orFaultAs(t types.Type, e *tree.Expr) types.Type {
	t.MayFault = e.Type.MayFault
	return t
}

// lengthsValue is a map or a channel as a value: what it is, and how many elements it has; None of one that is nil.
func (b golang) lengthsValue(o *goValue, pos plan.Pos) val {
	word := b.rv(o.parts, pos)
	out := val{comp: true, names: []string{"map", "len"}, elems: []val{strVal(o.Name), exprVal(b.length(o, pos))}}
	if o.Form == kernel.GoChannel {
		out.names = []string{"chan", "len", "cap"}
		out.elems = append(out.elems, exprVal(b.count(o, "dataqsiz", pos)))
	}
	return exprVal(unlessNil(word, constExpr(plan.None{}, pos), pos, func() *tree.Expr { return b.rv(out, pos) }))
}

// How Go keeps a time (time/time.go): with the highest bit of wall the bits below are 33 of the seconds since 1885 and
// 30 of ns, and ext is of another clock; without it ext is the seconds since the year 1.
const (
	goHasMonotonic   = 63
	goSecondsAt      = 30
	goSecondsMask    = 1<<33 - 1
	goNanosecondMask = 1<<30 - 1
	goUnixFromYear1  = -62135596800
	goUnixFrom1885   = -2682288000
	// goMostSeconds is as far from 1970 as ns of 64 bits reach.
	goMostSeconds = 9223372035
)

// unixTime is a time as ns since 1970: None of the zero time, which nobody has set, and FAULT of one that no such
// number reaches, before 1678 or after 2261.
func (b golang) unixTime(o *goValue, pos plan.Pos) *tree.Expr {
	wall, ext := b.part(o.parts, "wall", pos), b.part(o.parts, "ext", pos)
	if wall.Op == tree.OpUnreadable {
		return wall
	}
	return orFault(wall, pos, func(wall *tree.Expr) *tree.Expr {
		return orFault(ext, pos, func(ext *tree.Expr) *tree.Expr { return unixTime(wall, ext, pos) })
	})
}

func unixTime(wall, ext *tree.Expr, pos plan.Pos) *tree.Expr {
	wall, ext = as(wall, types.U64, pos), as(ext, types.I64, pos)
	number := func(op tree.Op, t types.Type, x *tree.Expr, n int64) *tree.Expr {
		return operation(op, t, x, intExpr(n, pos), pos)
	}
	bits := number(tree.OpAnd, types.U64, number(tree.OpShr, types.U64, wall, goSecondsAt), goSecondsMask)
	since1885 := number(tree.OpAdd, types.I64, as(bits, types.I64, pos), goUnixFrom1885)
	monotonic := number(tree.OpNe, types.Boolean, number(tree.OpShr, types.U64, wall, goHasMonotonic), 0)
	seconds := conditional(monotonic, since1885, number(tree.OpAdd, types.I64, ext, goUnixFromYear1), pos)
	rest := as(number(tree.OpAnd, types.U64, wall, goNanosecondMask), types.I64, pos)
	ns := operation(tree.OpAdd, types.I64, number(tree.OpMul, types.I64, seconds, 1e9), rest, pos)
	far := logic(tree.OpLOr, number(tree.OpGt, types.Boolean, seconds, goMostSeconds),
		number(tree.OpLt, types.Boolean, seconds, -goMostSeconds), pos)
	zero := operation(tree.OpOr, types.U64, wall, as(ext, types.U64, pos), pos)
	unset := number(tree.OpEq, types.Boolean, zero, 0)
	return orNone(not(unset, pos), chooseFault(far, ns, pos), pos)
}

// promoted is a field of a struct that is embedded in one of Go, by its name alone; missing is that the struct itself
// has none of that name.
func (b memory) promoted(x val, id kernel.TypeID, name string, missing error, pos plan.Pos) (val, bool) {
	if missing == nil {
		return val{}, false
	}
	way, err := kernel.Promoted(b.u.btf(pos), id, name)
	if way == nil && err == nil {
		way, err = kernel.Promoted(b.u.btf(pos), id, kernel.TrimEscape(name))
	}
	if err != nil {
		wrong(pos, "%v", err)
	}
	for _, name := range way {
		x = b.attributes().attr(x, name, pos)
	}
	return x, way != nil
}

// written is the width of an int that is shown as a text of Go, 0 of others.
func (b golang) written(v val) int {
	if o, ok := v.obj.(*goValue); ok && o.Form == kernel.GoTime {
		return wire.WidthTime
	}
	if v.expr != nil && b.u.durations[v.expr] {
		return wire.WidthDuration
	}
	return 0
}
