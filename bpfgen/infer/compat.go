package infer

import (
	"runtime"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A call of the kernel's 32-bit interface (int 0x80, AArch32) has a number of another table and other registers. The kernel
// marks the thread while it is in one: TS_COMPAT in thread_info.status (arch/x86/include/asm/thread_info.h); on arm64 a
// 32-bit program's threads have TIF_32BIT in thread_info.flags (arch/arm64/include/asm/thread_info.h).
type compatMark struct {
	field string
	mask  int64
}

var compatMarks = map[string]compatMark{"amd64": {"status", 0x0002}, "arm64": {"flags", 1 << 22}}

// maxCompatTests bounds the numbers that are compared one by one; where there are more, all calls of the interface count.
const maxCompatTests = 40

// isCompat is whether the thread is in a call of the 32-bit interface; nil where that cannot be known.
func (b *body) isCompat(pos plan.Pos) *tree.Expr {
	mark, ok := compatMarks[runtime.GOARCH]
	if !ok || !b.u.hasFields("task_struct", "thread_info") || !b.u.hasFields("thread_info", mark.field) {
		return nil
	}
	word := assume(b.rv(b.attr(b.attr(exprVal(b.task(pos)), "thread_info", pos), mark.field, pos), pos))
	bit := &tree.Expr{Op: tree.OpAnd, Type: types.U64, Args: []*tree.Expr{word, constExpr(plan.MakeInt(mark.mask), pos)}, Pos: pos}
	return &tree.Expr{Op: tree.OpNe, Type: types.Boolean, Args: []*tree.Expr{bit, constExpr(plan.MakeInt(0), pos)}, Pos: pos}
}

// compatNumbers are the numbers that the probed calls have there.
func (t *target) compatNumbers() []int {
	if t.all {
		return kernel.AllCompatNumbers()
	}
	return kernel.CompatNumbers(t.syscalls)
}

// notCompat ends the program in a call of the 32-bit interface, whose number is that of another call. At the start those that
// the probe would show are counted.
func (w *syscallWalk) notCompat(b *body, starts bool) {
	pos := w.pr.p.Pos
	is := b.isCompat(pos)
	if is == nil {
		return
	}
	stop := &tree.Block{Stmts: []*tree.Stmt{{Op: tree.SStop, Pos: pos}}}
	if starts {
		counted := &tree.Block{Stmts: []*tree.Stmt{{Op: tree.SStop, Str: "compat", Pos: pos}}}
		if list := w.t.compatNumbers(); w.t.all || len(list) > maxCompatTests {
			stop = counted
		} else if one := hasNumber(list, pos); one != nil {
			stop.Stmts = append([]*tree.Stmt{{Op: tree.SIf, Exprs: []*tree.Expr{one}, Then: counted, Pos: pos}}, stop.Stmts...)
		}
	}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{is}, Then: stop, Pos: pos})
}

// hasNumber is whether the call has one of the numbers; nil if there are none.
func hasNumber(list []int, pos plan.Pos) (out *tree.Expr) {
	for _, nr := range list {
		args := []*tree.Expr{syscallNr(pos), constExpr(plan.MakeInt(int64(nr)), pos)}
		c := &tree.Expr{Op: tree.OpEq, Type: types.Boolean, Args: args, Pos: pos}
		if out != nil {
			c = logic(tree.OpLOr, out, c, pos)
		}
		out = c
	}
	return out
}

// countCompat makes the variant of the start for numbers that only the 32-bit interface gives to the probed calls.
func (w *syscallWalk) countCompat() {
	b := w.walker(w.enter)
	if b.isCompat(w.pr.p.Pos) == nil {
		return
	}
	native := numbers(w.t.syscalls)
	others := slices.DeleteFunc(w.t.compatNumbers(), func(nr int) bool { return slices.Contains(native, nr) })
	if len(others) == 0 {
		return
	}
	w.pr.targetTest(b, w.event(&variant{args: &syscallArgs{sc: &w.t.syscalls[0]}}, b, nil))
	w.notCompat(b, true)
	w.span.Compat = others
	w.compat = &tree.Variant{Syscalls: others, Body: b.block}
}
