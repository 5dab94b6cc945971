package bpfgen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Programs at tracepoints that do the same share their instructions, which are those that each of them would have
// alone. Programs of other probes, with other constants or records, and at raw tracepoints have their own.
func TestSameCode(t *testing.T) {
	send := func(record int64) *tree.Program {
		return program(nil, stmt(tree.SSend, record, builtin("pid", types.U32)))
	}
	add := func(n *tree.Expr) *tree.Program { return program(nil, stmt(tree.SAggAdd, 0, n, konst(1))) }
	local := func(ty types.Type, from *tree.Expr) *tree.Program {
		return program([]types.Type{ty}, stmt(tree.SAssign, 0, from),
			stmt(tree.SAggAdd, 0, op(tree.OpConvert, types.I64, &tree.Expr{Op: tree.OpLocal, Type: ty}), konst(1)))
	}
	other := add(konst(1))
	other.Probe = 1
	raw := []*tree.Program{add(konst(1)), add(konst(1))}
	list := []struct {
		*tree.Program
		code string
	}{
		{add(konst(1)), ""}, {add(konst(1)), "p0"}, {add(konst(2)), ""}, {add(konst(1)), "p0"}, {other, ""},
		{send(0), ""}, {send(0), "p5"}, {send(1), ""},
		{add(arg(1, types.I64)), ""}, {add(arg(2, types.I64)), ""}, {add(arg(2, types.I64)), "p9"},
		{local(types.U32, builtin("pid", types.U32)), ""}, {local(types.U32, builtin("pid", types.U32)), "p11"},
		{local(types.U64, op(tree.OpConvert, types.U64, builtin("pid", types.U32))), ""},
		{raw[0], ""}, {raw[1], ""},
	}
	unit := func(programs ...*tree.Program) *tree.Unit {
		n := container(plan.Count, types.NoneT, types.Type{})
		u := &tree.Unit{Containers: []*tree.Container{n}, Programs: programs}
		for i := range 2 {
			u.Records = append(u.Records, layout.Record(i, 0, []string{"pid"}, []types.Type{types.U32}))
		}
		return u
	}
	var all []*tree.Program
	for i, p := range list {
		if p.Name = fmt.Sprintf("p%d", i); p.Program != raw[0] && p.Program != raw[1] {
			p.Attach.Way = tree.Tracepoint{Group: "sched", Name: fmt.Sprint("point", i)}
		}
		all = append(all, p.Program)
	}
	o := Options{Arch: "amd64"}
	together, err := Generate(unit(all...), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		if p.Code != p.code {
			t.Errorf("p%d has the code of %q, want %q", i, p.Code, p.code)
		}
		if p.Code == "" {
			continue
		}
		if together.Spec.Programs[p.Name] != nil {
			t.Errorf("p%d has code of its own, too", i)
		}
		alone := *p.Program
		alone.Code = ""
		one, err := Generate(unit(&alone), o)
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := strings.Cut(fmt.Sprint(one.Spec.Programs[p.Name].Instructions), "\n")
		if _, got, _ := strings.Cut(fmt.Sprint(together.Spec.Programs[p.Code].Instructions), "\n"); got != want {
			t.Errorf("p%d would have:\n%s\nand has:\n%s", i, want, got)
		}
	}
}
