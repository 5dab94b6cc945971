package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The evaluation of an expression of the tree: constants, variables, tuples, reads that are kept.

// eval evaluates e in the current block.
func (b exprs) eval(e *tree.Expr) val {
	defer b.at(e.Pos)()
	if v, ok := b.arith(e); ok {
		return v
	}
	switch e.Op {
	case tree.OpConst:
		return b.constExpr(e)
	case tree.OpLocal:
		return b.local(e)
	case tree.OpBuiltin, tree.OpLoad, tree.OpStr, tree.OpMem, tree.OpStrList, tree.OpJoin, tree.OpListLen,
		tree.OpSyscallName, tree.OpPath, tree.OpStack:
		return b.read(e)
	case tree.OpCtx:
		return intVal(e.Type, b.Add(b.ctx(), e.Int))
	case tree.OpSpanSlot:
		return spans{b.code}.spanSlot(e)
	case tree.OpPresent:
		return b.present(e)
	case tree.OpSigned:
		return b.withSign(e)
	case tree.OpAssume:
		return b.assume(b.expr(e.Args[0]), e.Type)
	case tree.OpConvert:
		return b.convert(b.expr(e.Args[0]), e.Type)
	case tree.OpCond:
		return b.condExpr(e)
	case tree.OpChars:
		return texts{b.code}.chars(e)
	case tree.OpNameText:
		return texts{b.code}.nameText(e)
	case tree.OpStrLen:
		return intVal(e.Type, b.strLen(b.expr(e.Args[0]).s))
	case tree.OpByteAt:
		return intVal(e.Type, texts{b.code}.byteAt(b.expr(e.Args[0]).s, e.Int))
	case tree.OpTuple, tree.OpRecord:
		return b.tuple(e)
	case tree.OpElem:
		return b.expr(e.Args[0]).elems[e.Int]
	case tree.OpUnreadable:
		v := intVal(e.Type, b.Const(0))
		v.tag = b.Const(map[int64]int64{0: wire.TagUnreadable, tree.Lost: wire.TagLost,
			tree.Unshown: wire.TagUnshown}[e.Int])
		return v
	case tree.OpInline:
		return b.tree.inline(e)
	case tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpTableHas, tree.OpCellGet:
		return tables{b.code}.containerExpr(e)
	case tree.OpSignal:
		rc := b.Extend(b.Call(helperSendSignal, b.expr(e.Args[0]).x), 32, true)
		return intVal(e.Type, b.Cmp(ir.EQ, rc, b.Const(0)))
	}
	if e.Type.Kind == types.Bool {
		return b.truth(e)
	}
	b.fail("expression %s", e.Op)
	return val{}
}

func (b exprs) constExpr(e *tree.Expr) val {
	switch {
	case e.Type.Kind == types.None && e.Type.MayFault:
		return val{t: e.Type, tag: b.Const(wire.TagFault)}
	case e.Type.Kind == types.None || e.Type.Kind == types.Bot:
		return val{t: e.Type}
	case isText(e.Type.Kind):
		s := e.Str
		return val{t: e.Type, s: &str{konst: &s, room: len(pad(s))}}
	}
	if x := b.given[e]; x != nil {
		return intVal(e.Type, x)
	}
	return intVal(e.Type, b.Const(e.Int))
}

// local reads a variable. One that no way has set is the compiler's mistake
// only where it is reached.
func (b exprs) local(e *tree.Expr) val {
	if x := (late{b.code}).behind(e); x != e {
		return b.expr(x)
	}
	v := b.variable(e.Int)
	if v.t.Kind != types.Bot {
		return v
	}
	if b.Reached() {
		b.fail("variable $%d %s is not set", e.Int, b.prog.Locals[e.Int].Name)
	}
	return b.absent(e.Type, wire.TagNone)
}

func (b exprs) tuple(e *tree.Expr) val {
	v := val{t: e.Type}
	for i, a := range e.Args {
		v.elems = append(v.elems, b.convert(b.expr(a), e.Type.Elems[i]))
	}
	return v
}

// read evaluates what is read of the event, once in each place from which it
// is seen: builtins by name, reads by their expression.
func (b exprs) read(e *tree.Expr) val {
	key := late{b.code}.readKey(e)
	if v, ok := b.cache.Get(key); ok {
		if e.Op == tree.OpBuiltin {
			v.t = e.Type
		}
		return v
	}
	var v val
	switch e.Op {
	case tree.OpBuiltin:
		v = builtins{b.code}.builtin(e)
	case tree.OpLoad:
		v = reads{b.code}.loadExpr(e)
	case tree.OpListLen:
		v = lists(b).listLen(e)
	case tree.OpSyscallName:
		v = b.expr(e.Args[0])
		v.t, v.x = e.Type, calls{b.code}.nameNumber(v.x)
	case tree.OpStrList, tree.OpJoin:
		v = lists(b).strList(e)
	case tree.OpPath:
		v = paths(b).path(e)
	case tree.OpStack:
		v = stacks(b).callStack(e)
	default:
		v = texts{b.code}.strExpr(e)
	}
	b.remember(key, v)
	return v
}
