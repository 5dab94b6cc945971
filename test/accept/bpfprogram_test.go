package accept

import (
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// observe runs a program with types at sys_enter until the test ends.
func observe(t *testing.T, name string) {
	t.Helper()
	integer := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	fn := &btf.Func{Name: name, Linkage: btf.GlobalFunc, Type: &btf.FuncProto{
		Return: integer, Params: []btf.FuncParam{{Name: "ctx", Type: &btf.Pointer{Target: &btf.Void{}}}},
	}}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: asm.Instructions{btf.WithFuncMetadata(asm.Mov.Imm(asm.R0, 0), fn), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// Programs of others can be probed by their names: each of their runs is seen.
//
// > `fentry:bpf:PROGRAM` and `fexit:bpf:PROGRAM` see each run of a BPF program that is loaded, with types, when the
// > script starts.
// > `e.args.ctx` is the address of its context.
func TestBPFPrograms(t *testing.T) {
	needKernelFunctions(t)
	observe(t, "observed_by_startrace")
	n := scaled(2000)
	e, _ := traced(t, `
runs = count()
for point in ["fentry:bpf:observed_by_startrace", "fexit:bpf:observed_*", "rawtracepoint:sys_enter"]:
    probe(point, lambda e: runs[e.probe].add(), where = lambda e: e.comm == "wl-getppid")
probe("fentry:bpf:observed_by_startrace", lambda e: runs["context"].add(),
      where = lambda e: e.comm == "wl-getppid" and e.args.ctx != 0)
at_exit(lambda: [print("runs", p, v) for p, v in runs.items()])
`, nil, "getppid", strconv.Itoa(n), "1")
	calls := number(t, e.stdout, `(?m)^runs rawtracepoint:sys_enter (\d+)$`)
	if calls < n {
		t.Errorf("%d system calls, %d were made", calls, n)
	}
	for _, name := range []string{"fentry:bpf:observed_by_startrace", "fexit:bpf:observed_by_startrace", "context"} {
		checkAccount(t, e, number(t, e.stdout, `(?m)^runs `+name+` (\d+)$`), calls)
	}
	for point, want := range map[string]string{
		"fentry:bpf:no_such_program":       "no BPF program that is loaded now matches fentry:bpf:no_such_program",
		"fentry:bpf:observed_by_startrac":  "(did you mean observed_by_startrace?)",
		"fentry:module:observed_something": "no module module is loaded, nor is there one for this kernel",
	} {
		e := startrace(t, "-e", `n = count()`, "-e", `probe("`+point+`", lambda e: n.add())`, "-c", "true")
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: status %d, got %s, want %s", point, e.status, e.stderr, want)
		}
	}
}
