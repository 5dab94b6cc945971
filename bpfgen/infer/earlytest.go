package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
)

// The test of -p and -c stands before the functions of an event() where that is possible.
//
// The function of an event runs for each event at its points, and what it takes costs: a stack of a process that is not
// traced, walked and kept, is room that those of the traced one do not have. So the process is tested before the
// function runs, unless the test wants its result (a pid of the event's own) or the function notes something of all
// processes, in a table or a cell, that other events look up:
//
//	def sample(e): return record(user = e.ustack())          the test comes first
//	def woken(e):  return record(pid = e.args.pid)           the test is of that pid
//	def opened(e): files[e.tid] = e.args.fd                  the test comes behind it
//
// Which it is the walk of the function tells. Where it turns out that the test must come behind, another round follows.

// occurs walks the functions of the events on the way from a point to the probe, behind the test of the process if that
// may be so; nil: the event never happens.
func (pr *probe) occurs(b *body, ev *event, t *points.Target) *event {
	if len(t.Arms) == 0 || ev.startEv != nil || pr.testsLate() {
		return pr.armed(b, ev, t)
	}
	pr.targetTest(b, ev)
	tested := *ev
	tested.tested, tested.setOwnPid = true, pr.testLate
	block, from := b.block, len(b.block.Stmts)
	out := pr.armed(b, &tested, t)
	if changesContainers(block.Stmts[from:]) {
		pr.testLate()
	}
	return out
}

// testsLate reports whether the process is tested behind the functions of events.
func (pr *probe) testsLate() bool { return pr.u.ownPid.At(spanUse{probe: pr.p.ID}) }

// testLate notes that it must be, for the next round.
func (pr *probe) testLate() {
	if !pr.testsLate() {
		pr.u.ownPid.Set(spanUse{probe: pr.p.ID}, true)
		pr.u.changed = true
	}
}

// changesContainers reports whether statements change a table or a cell. No event can look up what aggregations have.
func changesContainers(list []*tree.Stmt) (changes bool) {
	tree.WalkBlock(&tree.Block{Stmts: list}, func(s *tree.Stmt) {
		changes = changes || slices.Contains(changeOps, s.Op)
	}, func(e *tree.Expr) { changes = changes || e.Op == tree.OpTablePop })
	return changes
}

var changeOps = []tree.StmtOp{tree.STableSet, tree.STableUpdate, tree.STableRemove, tree.SCellSet, tree.SCellAdd}
