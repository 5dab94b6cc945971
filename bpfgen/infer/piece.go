package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// mem(p, n) and cstr(p, n): memory and strings of a length that the script says, and their limits (`maxMem`, `maxStr`).
// A length is a constant, or it is computed at the event. Of a computed one no byte is read behind the end that it
// tells.

// callMem is mem(address, n).
func callMem(b *body, args []arg, pos plan.Pos) val {
	args = placed(args, "mem(address, n)", pos)
	a := want(args, 2, 2, "mem(address, n)", pos)
	n, known := a[1].constInt()
	if known && (n < 1 || n > maxMem) || a[1].c != nil && !known && !fold.IsFault(a[1].c) {
		wrong(args[1].pos, "mem takes a number of bytes from 1 to %d, or one that is computed at the event", maxMem)
	}
	for _, x := range a {
		if fold.IsFault(x.c) {
			return x
		}
	}
	p := pieceAt(b, firstElement(b, a[0], pos), pos)
	if known {
		return objVal(&memObj{memPlace: p, n: int(n)})
	}
	length := lengthIn(b, p.from, a[1], "mem", args[1].pos)
	return objVal(&memObj{p, min(mostOf(length), maxMem), length})
}

// pieceAt is where mem reads: at an address, or where a value lies.
func pieceAt(b *body, v val, pos plan.Pos) memPlace {
	at := b
	if v.start != nil {
		at, v.start = v.start, nil
	}
	switch o := v.obj.(type) {
	case *structObj:
		return o.memPlace
	case *arrayObj:
		return o.memPlace
	case *countedArray:
		return o.memPlace
	}
	if s, ok := textPlace(v, at); ok {
		return s
	}
	return memPlace{at.readable(v, pos), 0, tree.Auto, at}
}

// firstElement is the address of the first element of what is a list of a program, since the struct that leads to the
// elements is nothing that a script sees of it; v where that is none.
func firstElement(b *body, v val, pos plan.Pos) val {
	_, counted := v.obj.(*countedArray)
	t, ok := b.attributes().listTypeOf(v, pos)
	if !ok || counted {
		return v
	}
	if t.bits {
		wrong(pos, "%s", t.noValue())
	}
	where, _ := listPlace(v)
	return b.attributes().inPlace(where, func(at *body) val {
		l, _ := at.attributes().listOf(v, pos)
		return exprVal(l.first)
	})
}

// maxMem bounds mem(): a record's bytes have a length of 13 bits.
const maxMem = 4096

// lengthIn is a length that is computed at the event, in the program that reads. name is the builtin that is called.
func lengthIn(b, reads *body, n val, name string, pos plan.Pos) *tree.Expr {
	if reads != nil && reads != b {
		n = alsoAtStart(b, n, reads)
	}
	if reads != nil && reads != b && n.start != reads {
		refuse(pos, "%s reads at the start of the call here, and this length is known at its end: take the address "+
			"from e.args, which is read at the end, or the length from e.start", name)
	}
	if reads == nil {
		reads = b
	}
	e := reads.numOrFault(n, pos)
	if e.Type.Kind != types.Int || e.Type.Label != "" {
		wrong(pos, "%s takes a number of bytes, got %s", name, n.describe())
	}
	return e
}

// mostOf is how much a length can be as it is written: min(n, 64) is 64 at most. So the value takes no more room.
func mostOf(n *tree.Expr) int {
	const unknown = 1 << 16
	switch {
	case n.Op == tree.OpMin || n.Op == tree.OpAnd:
		most := unknown
		for _, a := range n.Args {
			if a.Op == tree.OpConst && a.Int >= 0 {
				most = min(most, int(min(max(a.Int, 1), unknown)))
			}
		}
		return most
	case n.Op == tree.OpConvert && n.Args[0].Type.Kind == types.Int && n.Type.Bits >= n.Args[0].Type.Bits:
		return mostOf(n.Args[0])
	case n.Type.Bits == 8:
		return 255
	}
	return unknown
}

// textPlace is where a string lies that is read of memory: that of a char *.
func textPlace(v val, at *body) (memPlace, bool) {
	e := v.expr
	if e == nil || e.Op != tree.OpStr || e.Str == tree.Ctx || e.Args[0].Op == tree.OpCtx {
		return memPlace{}, false
	}
	return memPlace{e.Args[0], e.Int, e.Str, at}, true
}

// callCstr is cstr(p, n=): the string at an address, or the first n bytes of one.
func callCstr(b *body, args []arg, pos plan.Pos) val {
	args = placed(args, "cstr(address, n)", pos)
	if len(args) == 0 || len(args) > 2 {
		wrong(pos, "cstr(address, n) got %s", format.Count(len(args), "argument"))
	}
	v := firstElement(b, args[0].v, pos)
	if len(args) == 2 && fold.IsFault(args[1].v.c) || fold.IsFault(v.c) {
		return constant(fold.Fault)
	}
	if len(args) == 2 && args[1].v.c == nil {
		return countedText(b, v, args[1], pos)
	}
	room := cstrRoom(b, args)
	switch {
	case v.typ().Kind == types.Str && len(args) == 1:
		return v // a char * is a string by itself
	case v.typ().Kind == types.Str:
		return firstBytes(v, room)
	}
	origin := b
	if v.start != nil && v.start != b {
		origin = v.start
	} else if a, ok := v.obj.(addressed); ok {
		v.expr = addressIn(b, a, pos)
	} else {
		v.expr = b.readable(v, pos)
	}
	e := origin.memory().cstring(memPlace{v.expr, 0, tree.Auto, origin}, room, 0, pos)
	e.Edge = e.Edge || len(args) == 2
	out := exprVal(e)
	if origin != b {
		out.start = origin
	}
	return out
}

// countedText is cstr of a length that is computed at the event: the bytes before the first NUL, and none behind them.
// It is bounded as mem is, so that a handler has room for some of them. Of a char[N] nothing behind the array is read.
func countedText(b *body, v val, n arg, pos plan.Pos) val {
	whole := (*tree.Expr)(nil)
	if v.typ().Kind == types.Str {
		if _, ok := textPlace(v, b); !ok || v.expr.Counted {
			refuse(n.pos, "cstr takes a constant length for what is a string by itself, and neither a "+
				"char * nor a char[N]")
		}
		if len(v.expr.Args) > 1 {
			whole = v.expr.Args[1]
		}
	}
	p := pieceAt(b, v, pos)
	length := lengthIn(b, p.from, n.v, "cstr", n.pos)
	most := min(mostOf(length), maxMem)
	if whole != nil {
		most = min(most, int(whole.Int))
		length = orFault(length, pos, func(n *tree.Expr) *tree.Expr {
			return operation(tree.OpMin, types.I64, as(n, types.I64, pos), as(whole, types.I64, pos), pos)
		})
	}
	room := most + 1
	return b.attributes().inPlace(p, func(at *body) val {
		return exprVal(ofLength(length, pos, func(n *tree.Expr) *tree.Expr {
			e := at.memory().cstring(p, room, 0, pos)
			e.Args, e.Counted, e.Edge = append(e.Args, n), true, false
			return e
		}))
	})
}

// firstBytes is cstr of what is a string by itself: one in memory is read with the room that is asked for, another is
// cut.
func firstBytes(v val, room int) val {
	if s, ok := v.constStr(); ok {
		return strVal(s[:min(len(s), room-1)])
	}
	e := *v.expr
	e.Type.Cap = room
	if e.Op == tree.OpStr {
		e.Edge = len(e.Args) == 1
		v.expr = &e
	} else if room < v.expr.Type.Cap {
		v.expr = convert(v.expr, e.Type)
	}
	return v
}

// cstrRoom is the room that cstr(p, n) gives its string, with the NUL.
func cstrRoom(b *body, args []arg) int {
	if len(args) == 1 {
		return b.u.strMax + 1
	}
	n, ok := args[1].v.constInt()
	if !ok || n < 1 || n > maxStr {
		wrong(args[1].pos, "cstr takes a length of 1 to %d bytes, or one that is computed at the event", maxStr)
	}
	return int(n) + 1
}

// maxStr is the longest string that an event can carry: the length of a
// string in a record has 13 bits.
const maxStr = 8190
