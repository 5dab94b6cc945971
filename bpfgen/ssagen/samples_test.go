package ssagen

import (
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

func builtinExpr(name string, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Type: t, Str: name}
}

func konstExpr(n int64) *tree.Expr { return &tree.Expr{Op: tree.OpConst, Type: types.I64, Int: n} }

func ctxWord(n int64, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpLoad, Type: t, Str: tree.Ctx, Int: 8 * n,
		Args: []*tree.Expr{{Op: tree.OpCtx, Type: types.U64}}}
}

func keyedTree(kind plan.ContainerKind, key types.Type) *tree.Container {
	c := &tree.Container{Container: &plan.Container{Kind: kind, Unit: 1}, Key: key}
	c.Agg = layout.Agg(c.Container)
	if key.Kind != types.None {
		c.KeyLayout = layout.Fixed(key)
	}
	return c
}

func rawProgram(stmts ...*tree.Stmt) *tree.Program {
	return &tree.Program{
		Name: "p0", Attach: tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}},
		Body: &tree.Block{Stmts: stmts},
	}
}

// samples are units by hand, from the simplest on.
func samples() []sample {
	comm, pid := builtinExpr("comm", types.Comm), builtinExpr("pid", types.U32)
	name := &tree.Expr{
		Op: tree.OpStr, Type: types.StrOf(64).OrFault(), Str: tree.User,
		Args: []*tree.Expr{ctxWord(0, types.U64)},
	}
	fields := []*tree.Expr{pid, comm, name}
	record := layout.Record(0, 0, []string{"pid", "comm", "name"}, []types.Type{pid.Type, comm.Type, name.Type})
	return []sample{
		{"count_comm", &tree.Unit{
			Containers: []*tree.Container{keyedTree(plan.Count, types.Comm)},
			Programs: []*tree.Program{rawProgram(&tree.Stmt{
				Op: tree.SAggAdd, Exprs: []*tree.Expr{konstExpr(1), konstExpr(1), comm},
			})},
		}},
		{"send", &tree.Unit{
			Target:   plan.Target{Self: 4242},
			Records:  []*wire.Record{record},
			Programs: []*tree.Program{rawProgram(&tree.Stmt{Op: tree.SSend, Exprs: fields})},
		}},
		{"hist_pid", &tree.Unit{
			Containers: []*tree.Container{keyedTree(plan.Hist, types.TupleOf(types.U32, types.Comm))},
			Programs: []*tree.Program{rawProgram(&tree.Stmt{
				Op: tree.SIf,
				Exprs: []*tree.Expr{{Op: tree.OpGt, Type: types.Boolean, Args: []*tree.Expr{
					ctxWord(1, types.I64), konstExpr(0),
				}}},
				Then: &tree.Block{Stmts: []*tree.Stmt{{
					Op: tree.SAggAdd, Exprs: []*tree.Expr{ctxWord(1, types.I64), konstExpr(1), {
						Op: tree.OpTuple, Type: types.TupleOf(types.U32, types.Comm), Args: []*tree.Expr{pid, comm},
					}},
				}}},
			})},
		}},
	}
}
