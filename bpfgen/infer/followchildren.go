package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// followSeveral adds the table of the processes that are traced.
func (u *unit) followSeveral() {
	u.follow = &followedProcs{u.followID}
	t := u.cont(&plan.Container{ID: u.follow.id, Kind: plan.Table, Name: "followed"})
	t.key, t.val = types.U32, types.U64
	if u.plan.Target.Follow {
		u.followChildren()
	}
}

// followChildren adds the two programs that keep the table. Both tell no
// difference between threads and processes where none is needed: the thread
// group of a new thread is in the table already.
func (u *unit) followChildren() {
	if _, err := u.facts.BTF(); err != nil {
		wrong(u.plan.Probes[0].Pos, "to follow the children of a command (-c) or a process (-f) takes the kernel's "+
			"types: %v; trace a running process with -p, without -f", err)
	}
	pos := plan.Pos{}
	// TP_PROTO(struct task_struct *parent, struct task_struct *child) since 2.6.
	fork := u.followProgram(tree.FollowFork, "sched_process_fork")
	parent := fork.num(fork.attributes().attr(exprVal(fork.argWords().taskArg(0, pos)), "tgid", pos), pos)
	child := fork.num(fork.attributes().attr(exprVal(fork.argWords().taskArg(1, pos)), "tgid", pos), pos)
	fork.require(cond{expr: u.follow.has(convert(parent, types.U32), pos)}, pos)
	fork.emit(&tree.Stmt{Op: tree.STableSet, Int: int64(u.follow.id), Pos: pos,
		Exprs: []*tree.Expr{convert(child, types.U32), convert(intExpr(1, pos), types.U64)}})

	// sched_process_free(p) comes when a dead task has been waited for, so what it does on its way after
	// sched_process_exit is seen too: it closes its files and sockets, and signals its parent (kernel/exit.c). The
	// leader of a process is the last to go; one whose number an exec took over has that of the other thread. The
	// number itself is free a grace period earlier: too short for all numbers to come round.
	free := u.followProgram(tree.FollowExit, "sched_process_free")
	tid := free.num(free.attributes().attr(exprVal(free.argWords().taskArg(0, pos)), "pid", pos), pos)
	gone := free.num(free.attributes().attr(exprVal(free.argWords().taskArg(0, pos)), "tgid", pos), pos)
	free.require(cond{expr: operation(tree.OpEq, types.Boolean, tid, gone, pos)}, pos)
	free.emit(&tree.Stmt{Op: tree.STableRemove, Int: int64(u.follow.id), Exprs: []*tree.Expr{convert(gone, types.U32)},
		Pos: pos})
}

func (u *unit) followProgram(name, point string) *body {
	prog := &tree.Program{Name: u.programName(-1, name), Probe: -1,
		Attach: tree.Attach{Way: tree.RawTracepoint{Name: point}}}
	b := newBody(&probe{u: u, p: &plan.Probe{ID: -1}}, prog)
	u.res.Tree.Programs = append(u.res.Tree.Programs, prog)
	return b
}
