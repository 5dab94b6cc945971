package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/plan"
)

// The programs that keep the table of processes that -c and -p with -f trace: forks and ends of children; the message
// that -f needs the kernel's types.

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
	fork, forking, forked := u.followedFork(pos)
	parent := fork.num(fork.attributes().attr(exprVal(forking), "tgid", pos), pos)
	child := fork.num(fork.attributes().attr(exprVal(forked), "tgid", pos), pos)
	fork.require(cond{expr: u.follow.has(convert(parent, types.U32), pos)}, pos)
	fork.emit(&tree.Stmt{Op: tree.STableSet, Int: int64(u.follow.id), Pos: pos,
		Exprs: []*tree.Expr{convert(child, types.U32), convert(intExpr(1, pos), types.U64)}})

	// sched_process_free(p) comes when a dead task has been waited for, so what it does on its way after
	// sched_process_exit is seen too: it closes its files and sockets, and signals its parent (kernel/exit.c). The
	// leader of a process is the last to go; one whose number an exec took over has that of the other thread. The
	// number itself is free a grace period earlier: too short for all numbers to come round.
	free, freed := u.followedFree(pos)
	tid := free.num(free.attributes().attr(exprVal(freed), "pid", pos), pos)
	gone := free.num(free.attributes().attr(exprVal(freed), "tgid", pos), pos)
	free.require(cond{expr: operation(tree.OpEq, types.Boolean, tid, gone, pos)}, pos)
	free.emit(&tree.Stmt{Op: tree.STableRemove, Int: int64(u.follow.id), Exprs: []*tree.Expr{convert(gone, types.U32)},
		Pos: pos})
}

// The functions of the kernel in which a fork is at the moment of sched_process_fork, in the parent, and what calls
// sched_process_free (kernel/sched/core.c, kernel/exit.c): a kernel that preempts the programs of raw tracepoints skips
// them for other tasks meanwhile, and a child would not be followed. It preempts none of kprobes.
const (
	forkFunction = "wake_up_new_task"        // (struct task_struct *child)
	freeFunction = "delayed_put_task_struct" // (struct rcu_head *), that of the task
)

// followedFork makes the program that sees a fork, which runs in the parent.
func (u *unit) followedFork(pos plan.Pos) (b *body, parent, child *tree.Expr) {
	if u.missesTasks(forkFunction) {
		b = u.followProgram(tree.FollowFork, inFunction(forkFunction))
		word := b.argWords().wordAt(abi.Of(runtime.GOARCH).Word(0), tree.Kernel, pos)
		return b, b.task(pos), b.argWords().asTask(word, pos)
	}
	// TP_PROTO(struct task_struct *parent, struct task_struct *child) since 2.6.
	b = u.followProgram(tree.FollowFork, tree.RawTracepoint{Name: "sched_process_fork"})
	return b, b.argWords().taskArg(0, pos), b.argWords().taskArg(1, pos)
}

// followedFree makes the program that sees the last of a task, and gives that.
func (u *unit) followedFree(pos plan.Pos) (*body, *tree.Expr) {
	if rcu, err := u.btf(pos).OffsetOf("task_struct", "rcu"); err == nil && u.missesTasks(freeFunction) {
		b := u.followProgram(tree.FollowExit, inFunction(freeFunction))
		head := b.argWords().wordAt(abi.Of(runtime.GOARCH).Word(0), tree.Kernel, pos)
		return b, b.argWords().asTask(operation(tree.OpSub, types.U64, head, intExpr(int64(rcu), pos), pos), pos)
	}
	b := u.followProgram(tree.FollowExit, tree.RawTracepoint{Name: "sched_process_free"})
	return b, b.argWords().taskArg(0, pos)
}

// missesTasks reports whether the kernel can skip programs of raw tracepoints and lets the function be probed instead.
func (u *unit) missesTasks(function string) bool {
	return u.facts.MissesCalls() && u.facts.Features().Kprobe && u.facts.TryFunction(function) == nil
}

func inFunction(name string) tree.Way {
	return &tree.Functions{Mech: tree.AttachKprobe, Places: []tree.Place{{Func: name}}}
}

func (u *unit) followProgram(name string, at tree.Way) *body {
	prog := &tree.Program{Name: u.programName(-1, name), Probe: -1, Attach: tree.Attach{Way: at}}
	b := newBody(&probe{u: u, p: &plan.Probe{ID: -1}}, prog)
	u.res.Tree.Programs = append(u.res.Tree.Programs, prog)
	return b
}
