package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A process that an event names by its number is found in the kernel's own table of numbers, the IDR of the initial
// pid namespace (find_pid_ns, kernel/pid.c). It is a tree of nodes (struct xa_node), of which each tells by six bits of
// the number where to go on. An address of a node has 2 in its lowest bits (xa_is_node, include/linux/xarray.h), what
// the tree leads to has 0 there:
//
//	head → node(shift 6) → node(shift 0) → struct pid → tasks[PIDTYPE_TGID].first → task_struct
//
// The programs run under RCU, so what they find is not freed meanwhile. A read that fails gives 0, and so does the
// next one from there.

// tasks finds processes that are not the current one, and reads what the kernel
// keeps of them and of their cgroups.
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
	at := place{plus(base, -node, pos), b.offset(pos, "xa_node", "shift"), tree.Kernel, b.body}
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
	return load(place{at, off, tree.Kernel, b.body}, types.U64, pos)
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
