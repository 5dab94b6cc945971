package explain

import (
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Ways to attach in words; that each has some is what TestPoints checks.
func TestWays(t *testing.T) {
	in := &Input{CPUs: 2}
	in.Unit = &bpfgen.Unit{Tree: &tree.Unit{Spans: []*tree.Span{{Syscalls: []int{1, 2}}}}}
	tests := []struct {
		p     tree.Program
		want  string
		times int
	}{
		{tree.Program{Attach: tree.Attach{Way: tree.Clock{EveryCPU: true, Freq: 99}}},
			"a perf event on each of 2 CPUs: its clock, 99 times a second", 2},
		{tree.Program{Attach: tree.Attach{Way: tree.Clock{Period: 1e9}}},
			"a perf event on one CPU: its clock, every 1s", 1},
		{tree.Program{Attach: tree.Attach{Way: tree.SyscallExit{}}},
			"raw tracepoint sys_exit, where each system call ends; goes on for 2 of them", 1},
		{tree.Program{Attach: tree.Attach{Way: &tree.Functions{Mech: tree.AttachUprobe, Binary: "/bin/sh", Process: 7,
			Places: []tree.Place{{Func: "main"}}}}},
			"/bin/sh: main, by a breakpoint in the program (uprobe) of process 7", 1},
		{tree.Program{Attach: tree.Attach{Way: tree.Counter{Name: "page-faults", Period: 100}}},
			"a perf event on each of 2 CPUs: page-faults, at one event in 100", 2},
		{tree.Program{Attach: tree.Attach{Way: tree.Counter{Name: "cs", Period: 1}}},
			"a perf event on each of 2 CPUs: cs, at each event", 2},
		{tree.Program{Attach: tree.Attach{Way: tree.Counter{Name: "cycles", Freq: 99}}},
			"a perf event on each of 2 CPUs: cycles, 99 times a second", 2},
		{tree.Program{Attach: tree.Attach{Way: tree.Watchpoint{Name: "jiffies", Address: 0xff0, Length: 8,
			Access: "rw"}}},
			"a watch of the CPUs on 8 bytes at 0xff0, jiffies (rw)", 2},
		{tree.Program{Tail: true}, "nothing: another program jumps here, because one alone would be too long", 0},
	}
	for _, tt := range tests {
		if got, times := in.attachment(&tt.p); got != tt.want || times != tt.times {
			t.Errorf("%q %d times, want %q %d times", got, times, tt.want, tt.times)
		}
	}
}
