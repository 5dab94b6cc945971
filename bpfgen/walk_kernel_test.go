package bpfgen

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// Programs for kernels without bpf_loop take stacks of programs by a function that the verifier follows once, not in
// each round of the walk: one such stack was 430,000 of the million instructions that it follows at most.
func TestVerifierFollowsStepOnce(t *testing.T) {
	need.Loading(t)
	o := For(kernel.Version{Major: 5, Minor: 10})
	o.RingSize = 1 << 16
	stack := func(frames int64) *tree.Expr {
		return &tree.Expr{Op: tree.OpStack, Str: tree.User, Int: frames, Type: types.Type{Kind: types.Stack}}
	}
	three := []*tree.Expr{stack(wire.MaxStack), stack(3), stack(1)}
	p := program(nil, stmt(tree.SSend, 0, three...))
	p.Attach.Way = &tree.Functions{Mech: tree.AttachUprobe}
	unit, err := Generate(&tree.Unit{StackFrames: wire.MaxStack, UserStacks: true, Programs: []*tree.Program{p},
		Records: []*wire.Record{layout.Record(0, 0, []string{"all", "some", "one"},
			[]types.Type{three[0].Type, three[1].Type, three[2].Type})}}, o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ebpf.NewCollection(unit.Spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	info, err := c.Programs["p0"].Info()
	if err != nil {
		t.Fatal(err)
	}
	const most = 60_000
	n, known := info.VerifiedInstructions()
	t.Logf("the verifier followed %d instructions", n)
	if known && n > most {
		t.Errorf("the verifier followed %d instructions for three stacks, want at most %d", n, most)
	}
}
