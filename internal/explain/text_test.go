package explain

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/paragraph"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/golden"
)

// TestText compares the whole report of a unit that is made by hand, so that
// it is the same on every machine. The unit holds what is rare: many points,
// keys of several parts, a group, a clock on each CPU, a choice.
func TestText(t *testing.T) {
	unit, err := bpfgen.Generate(sampleTree(), bpfgen.Options{Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	fixInstructions(unit)
	r := New(&Input{
		Script: "sample.star", Plan: samplePlan(), Result: sampleResult(unit), Unit: unit, CPUs: 4, PossibleCPUs: 4,
		Callbacks: []Callback{{"every 1s", "tick", "sample.star:9:1"}}, Note: "1 stands for nobody.",
		Source: func(string, int) string { return "n[e.comm].add()" }, Stages: Stages{Asm: true},
	})
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/sample.txt", b.String())
	for i, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 125 || n > paragraph.Width+4 && !strings.Contains(line, ";") {
			t.Errorf("line %d has %d characters: %s", i+1, n, line)
		}
	}
}

// fixInstructions gives the programs a few instructions of their own, so that
// the text does not change with each improvement of the compiler.
func fixInstructions(u *bpfgen.Unit) {
	for name, p := range u.Spec.Programs {
		p.Instructions = asm.Instructions{
			asm.LoadMapPtr(asm.R1, 0).WithReference("c0"),
			asm.FnMapLookupElem.Call(),
			jumpBy(asm.JEq.Imm(asm.R0, 0, ""), 1),
			asm.FnKtimeGetNs.Call(),
			asm.Return(),
		}
		u.Lines[name] = []bpfgen.Line{{Insn: 0, Pos: at(2, 1)}, {Insn: 3, Pos: at(2, 11)}}
	}
}

func at(line, col int32) plan.Pos {
	name := "sample.star"
	return syntax.MakePosition(&name, line, col)
}

func builtin(name string, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Str: name, Type: t, Pos: at(2, 1)}
}

func sampleContainers() []*plan.Container {
	return []*plan.Container{
		{Kind: plan.Group, Name: "g", By: []string{"comm", "pid"}, Pos: at(1, 5), Members: []plan.GroupMember{
			{Name: "reads", Agg: &plan.Container{Kind: plan.Count, Unit: 1}},
			{Name: "size", Agg: &plan.Container{Kind: plan.Hist, Unit: 1}},
		}},
		{ID: 1, Kind: plan.Table, Name: "last", LRU: true, Size: 100, Pos: at(2, 5)},
	}
}

func sampleTree() *tree.Unit {
	comm, pid := builtin("comm", types.Comm), builtin("pid", types.U32)
	one := &tree.Expr{Op: tree.OpConst, Int: 1, Type: types.I64}
	key := &tree.Expr{Op: tree.OpTuple, Type: types.TupleOf(types.Comm, types.U32), Args: []*tree.Expr{comm, pid}}
	c := sampleContainers()
	send := &tree.Stmt{Op: tree.SSend, Exprs: []*tree.Expr{pid, comm}, Pos: at(3, 1)}
	body := func(stmts ...*tree.Stmt) *tree.Block { return &tree.Block{Stmts: stmts} }
	return &tree.Unit{
		Containers: []*tree.Container{
			{Container: c[0], Key: key.Type},
			{Container: c[1], Key: types.U32, Value: types.U64.OrNone()},
		},
		Records: []*wire.Record{layout.Record(0, 1, []string{"pid", "comm"}, []types.Type{types.U32, types.Comm})},
		Programs: []*tree.Program{
			{Name: "p0_profile", Attach: tree.Attach{Way: tree.Clock{EveryCPU: true, Freq: 999}},
				Body: body(&tree.Stmt{Op: tree.SAggAdd, Str: "reads", Exprs: []*tree.Expr{one, one, key},
					Pos: at(2, 11)})},
			{Name: "p1_exec", Probe: 1, Attach: tree.Attach{Way: tree.Tracepoint{Group: "sched",
				Name: "sched_process_exec"}}, Body: body(send)},
			{Name: "p2_functions", Probe: 2, Attach: tree.Attach{Way: &tree.Functions{Mech: tree.AttachKprobe,
				Places: samplePlaces()}},
				Body: body(&tree.Stmt{Op: tree.STableSet, Int: 1,
					Exprs: []*tree.Expr{pid, builtin("time", types.U64)}})},
		},
	}
}

func samplePlaces() (out []tree.Place) {
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		out = append(out, tree.Place{Func: name})
	}
	return out
}

func samplePlan() *plan.Plan {
	return &plan.Plan{Containers: sampleContainers(), Probes: []*plan.Probe{
		{ID: 0, Name: "profile:999hz", Pos: at(3, 1)},
		{ID: 1, Name: "t:sched:sched_process_exec", Pos: at(4, 1)},
		{ID: 2, Name: "kprobe:?", Pos: at(5, 1)},
	}}
}

func sampleResult(unit *bpfgen.Unit) *infer.Result {
	refs := sampleContainers()
	counts := &plan.Func{Name: "lambda", Pos: at(3, 40), Names: map[string]plan.Value{
		"g": plan.Ref{Container: refs[0]}, "limit": plan.MakeInt(4096),
		"names": plan.List{plan.String("a"), plan.None{}}, "True": plan.Bool(true),
		"helper": &plan.Func{Name: "helper", Pos: at(7, 1), Names: map[string]plan.Value{"far": plan.Bool(false)}},
	}}
	prints := &plan.Func{Name: "out", Pos: at(4, 40), Names: map[string]plan.Value{"limit": plan.MakeInt(4096)}}
	return &infer.Result{
		Tree: unit.Tree, Follow: -1, Cgroups: -1, Halves: map[int]*plan.UserHalf{1: {Fn: prints}},
		Names: map[int][]string{
			0: {"profile:999hz"}, 1: {"tracepoint:sched:sched_process_exec"},
			2: {"kprobe:a", "kprobe:b", "kprobe:c", "kprobe:d", "kprobe:e", "kprobe:f", "kprobe:g", "kprobe:h",
				"kprobe:i", "kprobe:j"},
		},
		Choices: []points.Choice{{Probe: 1, Chosen: []string{"tracepoint:sched:sched_process_exec"},
			Refused: []string{"this kernel has no tracepoint sched:exec"}, Rest: 2}},
		Placed: []infer.Placement{
			{Probe: 0, Role: "kernel", Fn: counts, Side: "kernel"},
			{Probe: 1, Role: "handler", Fn: prints, Side: "user",
				Why: "sample.star:4:50: print runs in user space only", Sends: []string{"pid", "comm"}},
		},
	}
}
