package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// expr evaluates e in the current block.
func (b *builder) expr(e *tree.Expr) val {
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
		return intVal(e.Type, b.add(b.ctx(), e.Int))
	case tree.OpSpanSlot:
		return b.spanSlot(e)
	case tree.OpPresent:
		return b.present(e)
	case tree.OpAssume:
		return b.assume(b.expr(e.Args[0]), e.Type)
	case tree.OpConvert:
		return b.convert(b.expr(e.Args[0]), e.Type)
	case tree.OpCond:
		return b.condExpr(e)
	case tree.OpStrLen:
		return intVal(e.Type, b.strLen(b.expr(e.Args[0]).s))
	case tree.OpTuple, tree.OpRecord:
		return b.tuple(e)
	case tree.OpElem:
		return b.expr(e.Args[0]).elems[e.Int]
	case tree.OpUnreadable:
		v := intVal(e.Type, b.konst(0))
		v.tag = b.konst(wire.TagUnreadable)
		return v
	case tree.OpInline:
		return b.inlineExpr(e)
	case tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpTableHas, tree.OpCellGet:
		return b.containerExpr(e)
	case tree.OpSignal:
		rc := b.extend(b.call(helperSendSignal, b.expr(e.Args[0]).x), 32, true)
		return intVal(e.Type, b.cmp(ir.EQ, rc, b.konst(0)))
	}
	if e.Type.Kind == types.Bool {
		return b.truth(e)
	}
	b.fail("expression %s", e.Op)
	return val{}
}

func (b *builder) constExpr(e *tree.Expr) val {
	switch {
	case e.Type.Kind == types.None && e.Type.MayFault:
		return val{t: e.Type, tag: b.konst(wire.TagFault)}
	case e.Type.Kind == types.None || e.Type.Kind == types.Bot:
		return val{t: e.Type}
	case isText(e.Type.Kind):
		s := e.Str
		return val{t: e.Type, s: &str{konst: &s, room: len(pad(s))}}
	}
	if x := b.given[e]; x != nil {
		return intVal(e.Type, x)
	}
	return intVal(e.Type, b.konst(e.Int))
}

// local reads a variable. One that no way has set is the compiler's mistake
// only where it is reached.
func (b *builder) local(e *tree.Expr) val {
	if x := b.behind(e); x != e {
		return b.expr(x)
	}
	v := b.variable(e.Int)
	if v.t.Kind != types.Bot {
		return v
	}
	if b.reached[b.cur] {
		b.fail("variable $%d %s is not set", e.Int, b.prog.Locals[e.Int].Name)
	}
	return b.absent(e.Type, wire.TagNone)
}

func (b *builder) tuple(e *tree.Expr) val {
	v := val{t: e.Type}
	for i, a := range e.Args {
		v.elems = append(v.elems, b.convert(b.expr(a), e.Type.Elems[i]))
	}
	return v
}

// readKey tells reads apart: those of the same thing share a key.
func (b *builder) readKey(e *tree.Expr) any {
	switch {
	case e.Op == tree.OpBuiltin:
		return e.Str
	case b.stable(e):
		return e.String()
	}
	return e
}

// read evaluates what is read of the event, once in each place from which it
// is seen: builtins by name, reads by their expression.
func (b *builder) read(e *tree.Expr) val {
	key := b.readKey(e)
	if v, ok := b.cache.Get(key); ok {
		if e.Op == tree.OpBuiltin {
			v.t = e.Type
		}
		return v
	}
	var v val
	switch e.Op {
	case tree.OpBuiltin:
		v = b.builtin(e)
	case tree.OpLoad:
		v = b.loadExpr(e)
	case tree.OpListLen:
		v = b.listLen(e)
	case tree.OpSyscallName:
		v = b.expr(e.Args[0])
		v.t, v.x = e.Type, b.nameNumber(v.x)
	case tree.OpStrList, tree.OpJoin:
		v = b.strList(e)
	case tree.OpPath:
		v = b.path(e)
	case tree.OpStack:
		v = b.callStack(e)
	default:
		v = b.strExpr(e)
	}
	b.remember(key, v)
	return v
}
