package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The program that counts calls of user functions so deep that the kernel does not see their return (64 on one stack).
//
// The kernel replaces the return addresses of 64 calls on one stack and leaves those further in alone, without a
// word (prepare_uretprobe, kernel/events/uprobes.c). Where only returns are probed nobody else sees these calls
// begin, so a program at the entry, where the kernel has its breakpoint in any case, counts them by the number of
// addresses that are replaced at that moment.

// deepCounter is the suffix of the names of these programs.
const deepCounter = "_deep"

// countDeep adds to the programs at returns of t one that counts the calls of which the kernel does not see the
// return.
func (pr *probe) countDeep(t *points.Target, fs *points.Functions, programs []*funcProgram) {
	if fs.Mech != tree.AttachUretprobe || !pr.u.hasFields("task_struct", "utask") ||
		!pr.u.hasFields("uprobe_task", "depth") {
		return
	}
	at := *fs
	at.Mech = tree.AttachUprobe
	prog := &tree.Program{Name: pr.u.programName(pr.p.ID, cleanName(t.Name)+deepCounter), Probe: pr.p.ID, Beside: true}
	var places []tree.Place
	for _, p := range programs {
		places = append(places, p.prog.Attach.At()...)
	}
	prog.Attach = tree.Attach{Way: at.At(places)}
	b, pos := newBody(pr, prog), t.Pos
	pr.targetTest(b, funcEvent(b, &at, newView(&at, fs.Funcs[0], &[]access{})))
	count := b.inBlock(func() { b.emit(&tree.Stmt{Op: tree.SCount, Int: int64(tree.SiteReturnDeep), Pos: pos}) })
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{b.memory().deep(pos)}, Then: count, Pos: pos})
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, prog)
}

// deep is whether as many return addresses are replaced on this thread's stack as the kernel replaces. A thread
// without struct uprobe_task has none.
func (b memory) deep(pos plan.Pos) *tree.Expr {
	depth := b.rv(b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "utask", pos), "depth", pos), pos)
	full := &tree.Expr{Op: tree.OpGe, Type: types.Boolean,
		Args: []*tree.Expr{assume(depth), constExpr(plan.MakeInt(maxReturnProbes), pos)}, Pos: pos}
	none := &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{depth}, Pos: pos}
	return all(pos, not(none, pos), present(depth, pos), full)
}
