package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

func TestUnitString(t *testing.T) {
	file := "a.star"
	pos := syntax.MakePosition(&file, 3, 4)
	pid := &Expr{Op: OpBuiltin, Type: types.U32, Str: "pid"}
	inline := &Expr{Op: OpInline, Type: types.I64, Int: 0, Body: &Block{Stmts: []*Stmt{
		{Op: SReturn, Int: 0, Exprs: []*Expr{{Op: OpConst, Type: types.I64, Int: -1}}},
	}}}
	u := &Unit{
		StrMax: 256,
		Containers: []*Container{
			nil,
			{Container: &plan.Container{ID: 1, Kind: plan.Table, Name: "t"}, Key: types.U32, Value: types.I64},
		},
		Programs: []*Program{{
			Name: "p0", Attach: Attach{Way: Tracepoint{Group: "sched", Name: "sched_switch"}},
			Locals: []Local{{"x", types.U32}},
			Body: &Block{Stmts: []*Stmt{
				{Op: SAssign, Int: 0, Exprs: []*Expr{pid}, Pos: pos},
				{
					Op: SIf, Exprs: []*Expr{{Op: OpGt, Type: types.Boolean,
						Args: []*Expr{{Op: OpLocal, Type: types.U32}, inline}}},
					Then: &Block{Stmts: []*Stmt{{Op: STableUpdate, Int: 1, Str: "+", Exprs: []*Expr{pid, inline}}}},
					Else: &Block{Stmts: []*Stmt{{Op: SStop}}},
				},
			}},
		}},
	}
	want := `unit target pid=0 self=0 strmax=256
container c1 table "t" key u32 value s64
program "p0" probe 0 tracepoint sched:sched_switch
  local $0 x u32
    assign $0 (builtin:u32 pid) @3:4
    if (gt:bool $0:u32 (inline:s64 0))
        inline 0
          return 0 -1:s64
      tableupdate c1 + (builtin:u32 pid) (inline:s64 0)
          inline 0
            return 0 -1:s64
    else
      stop
`
	if d := cmp.Diff(want, u.String()); d != "" {
		t.Error(d)
	}
}
