package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
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

// notCompat ends the program in such a call; counted says that it is counted.
func (b *body) notCompat(counted string, pos plan.Pos) {
	mark, ok := compatMarks[runtime.GOARCH]
	if !ok || !b.u.hasFields("task_struct", "thread_info") || !b.u.hasFields("thread_info", mark.field) {
		return
	}
	word := assume(b.rv(b.attr(b.attr(exprVal(b.task(pos)), "thread_info", pos), mark.field, pos), pos))
	bit := &tree.Expr{Op: tree.OpAnd, Type: types.U64, Args: []*tree.Expr{word, constExpr(plan.MakeInt(mark.mask), pos)}, Pos: pos}
	is := &tree.Expr{Op: tree.OpNe, Type: types.Boolean, Args: []*tree.Expr{bit, constExpr(plan.MakeInt(0), pos)}, Pos: pos}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{is}, Pos: pos,
		Then: &tree.Block{Stmts: []*tree.Stmt{{Op: tree.SStop, Str: counted, Pos: pos}}}})
}
