package bpfgen

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
)

// ofCPU is how code of amd64 adds the place of a CPU's own memory to a register: so it begins where the program has a
// stack for each CPU (emit_private_frame_ptr, arch/x86/net/bpf_jit_comp.c).
var ofCPU = []byte("\x65\x4c\x03")

// No program of a probe in a user program has a stack that it shares with other tasks.
func TestOwnStackOfTask(t *testing.T) {
	v := runningKernel(t)
	if runtime.GOARCH != "amd64" || !v.AtLeast(6, 13) {
		t.Skip("needs Linux 6.13 on amd64, where programs can have stacks of their own")
	}
	shared := 0
	for _, kind := range tree.AttachKinds() {
		if !kind.InUser() {
			continue
		}
		for name, build := range deepUnits(kind) {
			shared += bytes.Count(jited(t, build(), Options{}), ofCPU)
			if bytes.Contains(jited(t, build(), For(v)), ofCPU) {
				t.Errorf("a program of kind %d has a stack for each CPU: %s", kind, name)
			}
		}
	}
	if shared == 0 {
		t.Error("no program had a stack for each CPU: the test shows nothing")
	}
}

// Programs begin so on kernels that may have such stacks, in user programs only, and only if their stack is large.
func TestTaskStackWhere(t *testing.T) {
	for _, kind := range []tree.AttachKind{tree.AttachUprobe, tree.AttachUretprobe, tree.AttachKprobe} {
		for name, build := range deepUnits(kind) {
			for _, v := range []kernel.Version{{Major: 6, Minor: 1}, {Major: 6, Minor: 12}} {
				u := build()
				o := For(v)
				o.Arch = "arm64"
				unit, err := Generate(u, o)
				if err != nil {
					t.Fatal(err)
				}
				begins := false
				for i, ins := range unit.Spec.Programs["p0"].Instructions {
					begins = begins || i == 2 && ins.IsBuiltinCall() && ins.Constant == 12
				}
				if want := kind.InUser() && v.Minor == 12 && name == "send"; begins != want {
					t.Errorf("kind %d, %s on 6.%d: a tail call is %v", kind, name, v.Minor, begins)
				}
			}
		}
	}
}

// deepUnits are units whose programs are of a kind, by how they take their stack.
func deepUnits(kind tree.AttachKind) map[string]func() *tree.Unit {
	with := func(u *tree.Unit) *tree.Unit {
		for _, p := range u.Programs {
			p.Attach.Way = &tree.Functions{Mech: kind}
		}
		return u
	}
	text := func() *tree.Unit {
		comm, pid := builtin("comm", types.Comm), builtin("pid", types.U32)
		rec := layout.Record(0, 0, []string{"pid", "comm", "again", "third"},
			[]types.Type{pid.Type, comm.Type, comm.Type, comm.Type})
		return &tree.Unit{Records: []*wire.Record{rec},
			Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, pid, comm, comm, comm))}}
	}
	return map[string]func() *tree.Unit{
		"small": func() *tree.Unit { return with(commonUnits()["count"]) },
		"key":   func() *tree.Unit { return with(commonUnits()["hist_comm"]) },
		"send":  func() *tree.Unit { return with(text()) },
	}
}

// jited is the machine code that the kernel has made of a unit's first program.
func jited(t *testing.T, u *tree.Unit, o Options) []byte {
	t.Helper()
	c, _ := load(t, u, o)
	info, err := c.Programs["p0"].Info()
	if err != nil {
		t.Fatal(err)
	}
	code, ok := info.JitedInsns()
	if !ok {
		t.Skip("needs a kernel that gives machine code away")
	}
	return code
}
