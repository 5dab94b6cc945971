package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e.file(fd), path(x), an index of mem(p, n), and the numbers of a task in its pid namespace (e.nspid, e.nstid).

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
	a := named(args, 1, 1, "e.file(fd)", pos)
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
	files := trusted(b.attributes().attr(exprVal(b.task(pos)), "files", pos))
	fdt := b.bind("", trusted(b.attributes().attr(files, "fdt", pos)), pos)
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
	entry := load(memPlace{at, 0, tree.Kernel, b.body}, t, pos)
	none := convert(constExpr(plan.None{}, pos), entry.Type.OrNone())
	return op(tree.OpCond, entry.Type.OrNone(), inside, convert(entry, entry.Type.OrNone()), none)
}

// trusted is v, a pointer that only the kernel sets, as one to memory of the kernel: no program asks at run time whose
// it is.
func trusted(v val) val {
	if v.expr != nil && v.expr.Type.Kind == types.Ptr {
		e := *v.expr
		e.Type.Trusted = true
		v.expr = &e
	}
	return v
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
	a := named(args, 1, 1, "path(file)", pos)
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
	t, err := kernel.Outline(btf, id)
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
	read := func(args ...*tree.Expr) *tree.Expr {
		args = append([]*tree.Expr{asAddress(m.addr, pos)}, args...)
		return &tree.Expr{Op: tree.OpMem, Type: t, Int: m.off, Str: m.space, Args: args, Pos: pos}
	}
	if m.length == nil {
		return read()
	}
	return ofLength(m.length, pos, func(n *tree.Expr) *tree.Expr { return read(n) })
}

// at is m[i], one byte: of a computed length FAULT where m is not so long.
func (m *memObj) at(i val, pos plan.Pos) *tree.Expr {
	n, ok := i.constInt()
	switch {
	case !ok && m.length != nil:
		refuse(pos, "mem(…, n) takes a constant index in a kernel half")
	case !ok:
		refuse(pos, "mem(…, %d) takes a constant index in a kernel half, from 0 to %d", m.n, m.n-1)
	case n >= int64(m.n) || n < -int64(m.n):
		wrong(pos, "an index of mem(…, %d) is from 0 to %d, or from -1 to %d", m.n, m.n-1, -m.n)
	}
	place := m.memPlace
	if m.length == nil {
		if n < 0 {
			n += int64(m.n) // from the end
		}
		place.off += n
		return load(place, types.IntOf(8, false), pos)
	}
	return orFault(m.length, pos, func(length *tree.Expr) *tree.Expr {
		least := n + 1
		if n < 0 {
			least = -n
			more := operation(tree.OpGt, types.Boolean, length, intExpr(int64(m.n), pos), pos)
			most := conditional(more, as(intExpr(int64(m.n), pos), types.U64, pos), as(length, types.U64, pos), pos)
			place.addr = operation(tree.OpAdd, types.U64, asAddress(place.addr, pos), most, pos)
		}
		place.off += n
		short := operation(tree.OpLt, types.Boolean, length, intExpr(least, pos), pos)
		return chooseFault(short, load(place, types.IntOf(8, false), pos), pos)
	})
}

// ofLength is what f reads of a length without a sign; FAULT where the length is negative, or FAULT.
func ofLength(n *tree.Expr, pos plan.Pos, f func(*tree.Expr) *tree.Expr) *tree.Expr {
	return orFault(n, pos, func(n *tree.Expr) *tree.Expr {
		out := f(as(n, types.U64, pos))
		if nonNegative(n) {
			return out
		}
		return chooseFault(operation(tree.OpLt, types.Boolean, n, intExpr(0, pos), pos), out, pos)
	})
}

// A process that an event names by its number is found in the kernel's own table of numbers, the IDR of the initial
// pid namespace (find_pid_ns, kernel/pid.c). It is a tree of nodes (struct xa_node), of which each tells by six bits of
// the number where to go on. An address of a node has 2 in its lowest bits (xa_is_node, include/linux/xarray.h), what
// the tree leads to has 0 there:
//
//	head → node(shift 6) → node(shift 0) → struct pid → tasks[PIDTYPE_TGID].first → task_struct
//
// The programs run under RCU, so what they find is not freed meanwhile. A read that fails gives 0, and so does the
// next one from there.

// tasks finds tasks, and what the kernel knows of them by numbers.
type tasks struct{ *body }

// pidLevels is how many nodes are on the way to the highest number: PID_MAX_LIMIT is 2^22 (include/linux/threads.h).
const pidLevels = 4

// pidtypeTGID is the number of the list of a process' tasks (PIDTYPE_TGID, include/linux/pid_types.h).
const pidtypeTGID = 1

// taskOf is the task_struct of the leader of a process, by its number; it may be a fault or None.
func (b tasks) taskOf(pid *tree.Expr, pos plan.Pos) *tree.Expr {
	pid = b.assign("pid", convert(pid, types.U64))
	ns := b.initialNamespace(pos)
	entry := b.assign("entry", b.word(ns, b.offset(pos, "pid_namespace", "idr", "idr_rt", "xa_head"), pos))
	for range pidLevels {
		entry = b.assign("entry", b.nextNode(entry, pid, pos))
	}
	tasks := b.offset(pos, "pid", "tasks") + pidtypeTGID*b.sizeOf("hlist_head", pos)
	first := b.assign("first", b.word(entry, tasks, pos))
	link := b.offset(pos, "task_struct", "pid_links") + pidtypeTGID*b.sizeOf("hlist_node", pos)
	found := plus(asAddress(first, pos), -link, pos)
	found.Type = b.task(pos).Type
	return b.assign("task", found)
}

// initialNamespace is that of the first number that the current task has: numbers[0] of its struct pid.
func (b tasks) initialNamespace(pos plan.Pos) *tree.Expr {
	own := b.assign("numbers", b.word(b.task(pos), b.offset(pos, "task_struct", "thread_pid"), pos))
	return b.assign("ns", b.word(own, b.offset(pos, "pid", "numbers")+b.offset(pos, "upid", "ns"), pos))
}

// nextNode is what an entry of the tree leads to: the next one on the way to a number, or itself where it is no node.
func (b tasks) nextNode(entry, pid *tree.Expr, pos plan.Pos) *tree.Expr {
	base := asAddress(entry, pos)
	const node = 2 // in the lowest two bits
	is := operation(tree.OpEq, types.Boolean, operation(tree.OpAnd, types.U64, base, intExpr(3, pos), pos),
		intExpr(node, pos), pos)
	at := memPlace{plus(base, -node, pos), b.offset(pos, "xa_node", "shift"), tree.Kernel, b.body}
	shift := asAddress(load(at, types.IntOf(8, false), pos), pos)
	shift = operation(tree.OpAnd, types.U64, shift, intExpr(63, pos), pos)
	slot := operation(tree.OpAnd, types.U64, operation(tree.OpShr, types.U64, pid, shift, pos),
		intExpr(int64(b.slots(pos)-1), pos), pos)
	off := operation(tree.OpShl, types.U64, slot, intExpr(3, pos), pos)
	next := b.word(operation(tree.OpAdd, types.U64, base, off, pos), b.offset(pos, "xa_node", "slots")-node, pos)
	return conditional(is, asAddress(next, pos), base, pos)
}

// slots is how many entries a node has (XA_CHUNK_SIZE).
func (b tasks) slots(pos plan.Pos) int {
	btf := b.u.btf(pos)
	id, ok := btf.Named(kernel.KindStruct, "xa_node")
	if !ok {
		wrong(pos, "the kernel's types have no struct xa_node")
	}
	f, err := btf.Field(id, "slots")
	if err != nil {
		wrong(pos, "%v", err)
	}
	t, err := btf.Type(btf.Skip(f.Type))
	if err != nil || t.Kind != kernel.KindArray || t.Len == 0 || t.Len&(t.Len-1) != 0 {
		wrong(pos, "this kernel's struct xa_node is not one that startrace knows")
	}
	return int(t.Len)
}

// ancestor is the number of the cgroup of a level among those that a cgroup is in. Kernels before 6.1 keep the numbers,
// later ones the cgroups (struct cgroup, include/linux/cgroup-defs.h).
func (b tasks) ancestor(group *tree.Expr, level int, pos plan.Pos) *tree.Expr {
	at := int64(level) * 8
	if b.u.hasFields("cgroup", "ancestor_ids") {
		return b.word(group, b.offset(pos, "cgroup", "ancestor_ids")+at, pos)
	}
	of := b.word(group, b.offset(pos, "cgroup", "ancestors")+at, pos)
	folder := b.word(of, b.offset(pos, "cgroup", "kn"), pos)
	return b.word(folder, b.offset(pos, "kernfs_node", "id"), pos)
}

// follow is a field of a field … of a struct of the kernel.
func (b tasks) follow(p *tree.Expr, pos plan.Pos, names ...string) *tree.Expr {
	v := exprVal(p)
	for _, n := range names {
		v = b.attributes().attr(v, n, pos)
	}
	return b.rv(v, pos)
}

// word is 64 bits of the kernel's memory.
func (b tasks) word(at *tree.Expr, off int64, pos plan.Pos) *tree.Expr {
	return load(memPlace{at, off, tree.Kernel, b.body}, types.U64, pos)
}

// offset is the place of a field of a struct of this kernel, in bytes.
func (b tasks) offset(pos plan.Pos, tag string, names ...string) int64 {
	at, err := b.u.btf(pos).OffsetOf(tag, names...)
	if err != nil {
		wrong(pos, "the process that an event names cannot be looked at: %v", err)
	}
	return int64(at)
}

// sizeOf is the size of a struct of this kernel.
func (b tasks) sizeOf(tag string, pos plan.Pos) int64 {
	btf := b.u.btf(pos)
	id, ok := btf.Named(kernel.KindStruct, tag)
	if !ok {
		wrong(pos, "the kernel's types have no struct %s", tag)
	}
	size, err := btf.Size(id)
	if err != nil {
		wrong(pos, "%v", err)
	}
	return int64(size)
}

// numberInside is the number that a task has in its own pid namespace: the last of those in its struct pid, which has
// one for each namespace from the initial one down (include/linux/pid.h). A task that has been waited for has none.
func (b tasks) numberInside(task val, pos plan.Pos) val {
	own := b.rv(b.attributes().attr(task, "thread_pid", pos), pos)
	level := convert(assume(b.follow(own, pos, "level")), types.U64)
	last := operation(tree.OpMul, types.U64, level, intExpr(b.sizeOf("upid", pos), pos), pos)
	at := operation(tree.OpAdd, types.U64, asAddress(own, pos), last, pos)
	off := b.offset(pos, "pid", "numbers") + b.offset(pos, "upid", "nr")
	return exprVal(load(memPlace{at, off, tree.Kernel, b.body}, types.IntOf(32, true), pos))
}

// processInside is the same of the process that a task belongs to.
func (b tasks) processInside(task val, pos plan.Pos) val {
	return b.numberInside(b.attributes().attr(task, "group_leader", pos), pos)
}
