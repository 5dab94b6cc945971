package bpfgen

import (
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/golden"
)

// TestAsm compares the instructions of common programs, so that a change of
// any stage shows what it does to them.
func TestAsm(t *testing.T) {
	for name, u := range commonUnits() {
		t.Run(name, func(t *testing.T) {
			unit, err := Generate(u, Options{Arch: "amd64", Dump: true})
			if err != nil {
				t.Fatal(err)
			}
			got := unit.Dumps["p0"].Tree + "\n" + unit.Dumps["p0"].Asm
			golden.Equal(t, filepath.Join("testdata", name+".txt"), got)
		})
	}
}

func commonUnits() map[string]*tree.Unit {
	comm, pid := builtin("comm", types.Comm), builtin("pid", types.U32)
	name := userString(0, 256)
	rec := layout.Record(0, 0, []string{"pid", "comm", "name"}, []types.Type{pid.Type, comm.Type, name.Type})
	counted := func(kind plan.ContainerKind, key types.Type, add ...*tree.Expr) *tree.Unit {
		return &tree.Unit{
			Containers: []*tree.Container{container(kind, key, types.Type{})},
			Programs:   []*tree.Program{program(nil, stmt(tree.SAggAdd, 0, add...))},
		}
	}
	filter := stmt(tree.SIf, 0, op(tree.OpEq, types.Boolean, comm, text("spin")))
	filter.Then = block(stmt(tree.SAggAdd, 0, konst(1), konst(1)))
	filtered := counted(plan.Count, types.NoneT)
	filtered.Programs = []*tree.Program{program(nil, filter)}
	return map[string]*tree.Unit{
		"count":      counted(plan.Count, types.NoneT, konst(1), konst(1)),
		"count_pid":  counted(plan.Count, types.U32, konst(1), konst(1), pid),
		"count_comm": counted(plan.Count, types.Comm, konst(1), konst(1), comm),
		"hist_comm":  counted(plan.Hist, types.Comm, arg(1, types.I64), konst(1), comm),
		"comm_is":    filtered,
		"send_string": {
			Records: []*wire.Record{rec}, Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, pid, comm, name))},
		},
	}
}
