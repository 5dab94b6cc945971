package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// callEvent calls a method of the event in the program that it belongs to.
func (b inliner) callEvent(m *eventMethod, args []arg, pos plan.Pos) val {
	at := m.ev.b
	if m.name == "ustack" && m.ev.unwound != nil {
		m.ev.unwound()
	}
	if m.name != "file" {
		return m.ev.mine(at.memory().stack(m.name, args, pos))
	}
	for i := range args {
		args[i].v = at.memory().known(b.body, args[i].v, args[i].pos)
	}
	a := want(args, 1, 1, "e.file(fd)", pos)
	return m.ev.mine(exprVal(at.memory().file(a[0], pos)))
}

// known brings an argument to the program where it is needed: what the end of
// a span knows of the start it got from there.
func (b memory) known(from *body, v val, pos plan.Pos) val {
	if v.start == b.body || v.expr == nil {
		v.start = nil
		return v
	}
	if from == b.body {
		return b.here(v)
	}
	if v.start != nil && v.start != from || from.span == nil || from.span.start != b.body {
		wrong(pos, "this is not known at the start")
	}
	return exprVal(from.span.atStart(v.expr, pos))
}

// atStart is an expression of the end as the start computes it: arguments of
// the call are the same there.
func (st *spanState) atStart(e *tree.Expr, pos plan.Pos) *tree.Expr {
	switch e.Op {
	case tree.OpSpanSlot:
		return st.vals[int(e.Int)]
	case tree.OpConst:
		return e
	case tree.OpLoad, tree.OpLocal, tree.OpStr, tree.OpInline, tree.OpBuiltin, tree.OpCtx:
		wrong(pos, "this is known only at the end, and e.start.file is evaluated at the start")
	}
	out := *e
	out.Args = make([]*tree.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = st.atStart(a, pos)
	}
	return &out
}

// file is the struct file of a descriptor of the current task, None where
// there is none: task->files->fdt->fd[fd], as the kernel's files_lookup_fd_raw
// does (include/linux/fdtable.h).
func (b memory) file(fd val, pos plan.Pos) *tree.Expr {
	btf := b.u.btf(pos)
	id, ok := btf.Named(kernel.KindStruct, "file")
	if !ok {
		wrong(pos, "the kernel's types have no struct file")
	}
	fdt := b.bind("", b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "files", pos), "fdt", pos), pos)
	n := b.bind("", exprVal(b.num(fd, pos)), pos).expr
	n = orConst(n, fd, pos)
	most := b.rv(b.attributes().attr(fdt, "max_fds", pos), pos)
	array := b.rv(b.attributes().attr(fdt, "fd", pos), pos)
	op := func(op tree.Op, t types.Type, args ...*tree.Expr) *tree.Expr {
		return &tree.Expr{Op: op, Type: t, Args: args, Pos: pos}
	}
	zero := intExpr(0, pos)
	inside := logic(tree.OpLAnd, op(tree.OpGe, types.Boolean, n, zero), op(tree.OpLt, types.Boolean, n, assume(most)),
		pos)
	at := op(tree.OpAdd, types.U64, asAddress(array, pos), op(tree.OpShl, types.U64, n, intExpr(3, pos)))
	t := types.Type{Kind: types.Ptr, BTF: id, Trusted: true}
	entry := load(place{at, 0, tree.Kernel, b.body}, t, pos)
	none := convert(constExpr(plan.None{}, pos), entry.Type.OrNone())
	return op(tree.OpCond, entry.Type.OrNone(), inside, convert(entry, entry.Type.OrNone()), none)
}

// orConst is n, or the constant that it was made of.
func orConst(n *tree.Expr, v val, pos plan.Pos) *tree.Expr {
	if n == nil {
		return constExpr(v.c, pos)
	}
	return n
}

// callPath is path(x) of a struct file, path or dentry.
func callPath(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, "path(file)", pos)
	v := a[0]
	if v.isNone() || fold.IsFault(v.c) {
		return v
	}
	at := b
	if v.start != nil {
		at = v.start
		v.start = nil
	}
	if s, ok := v.obj.(*structObj); ok && s.from != nil {
		at = s.from
	}
	out := exprVal(at.memory().pathOf(v, pos))
	if at != b {
		out.start = at
	}
	return out
}

func (b memory) pathOf(v val, pos plan.Pos) *tree.Expr {
	btf := b.u.btf(pos)
	id := kernel.TypeID(0)
	var addr *tree.Expr
	if s, ok := v.obj.(*structObj); ok {
		id, addr = s.id, s.value(b.body, pos)
	} else {
		e := b.rv(v, pos)
		if e.Type.Kind != types.Ptr {
			descriptor := ""
			if e.Type.Kind == types.Int {
				descriptor = "; of a descriptor it is path(e.file(fd))"
			}
			wrong(pos, "path takes a struct file, path or dentry, got %s%s", v.describe(), descriptor)
		}
		id, addr = e.Type.BTF, e
	}
	t, err := btf.Type(id)
	if err != nil || t.Name != "file" && t.Name != "path" && t.Name != "dentry" {
		wrong(pos, "path takes a struct file, path or dentry, got a pointer to %s", btf.TypeName(id))
	}
	if b.u.res.Tree.Path == nil {
		if b.u.res.Tree.Path, err = PathOffsets(btf); err != nil {
			wrong(pos, "%v", err)
		}
	}
	out := types.StrOf(b.u.strMax + 1).OrFault()
	out.MayNone = true
	return &tree.Expr{Op: tree.OpPath, Type: out, Str: t.Name, Args: []*tree.Expr{addr}, Pos: pos}
}

func (m *memObj) value(b *body, pos plan.Pos) *tree.Expr { return m.bytes("", pos) }

// bytes reads all of it.
func (m *memObj) bytes(label string, pos plan.Pos) *tree.Expr {
	t := types.Type{Kind: types.Bytes, Cap: m.n, Label: label, MayFault: true}
	return &tree.Expr{Op: tree.OpMem, Type: t, Int: m.off, Str: m.space, Args: []*tree.Expr{asAddress(m.addr, pos)},
		Pos: pos}
}

// callMem is mem(address, n).
func callMem(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 2, 2, "mem(address, n)", pos)
	n, ok := a[1].constInt()
	if !ok || n < 1 || n > maxMem {
		wrong(args[1].pos, "mem takes a constant number of bytes from 1 to %d", maxMem)
	}
	if fold.IsFault(a[0].c) {
		return a[0]
	}
	v, at := a[0], b
	if v.start != nil {
		at, v.start = v.start, nil
	}
	var p place
	if o, ok := v.obj.(*structObj); ok {
		p = o.place
	} else if o, ok := v.obj.(*arrayObj); ok {
		p = o.place
	} else if s, ok := textPlace(v, at); ok {
		p = s
	} else {
		p = place{at.readable(v, pos), 0, tree.Auto, at}
	}
	return objVal(&memObj{p, int(n)})
}

// textPlace is where a string lies that is read of memory: that of a char *.
func textPlace(v val, at *body) (place, bool) {
	e := v.expr
	if e == nil || e.Op != tree.OpStr || e.Str == tree.Ctx || e.Args[0].Op == tree.OpCtx {
		return place{}, false
	}
	return place{e.Args[0], e.Int, e.Str, at}, true
}

// maxMem bounds mem(): a record's bytes have a length of 13 bits.
const maxMem = 4096
