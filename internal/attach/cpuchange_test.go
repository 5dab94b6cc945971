package attach

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/tried"
)

// A program at a tracepoint goes on when the CPU of its event has gone: only the event is on one CPU. Those of profiles
// and intervals are opened where CPUs are.
//
// > An interval whose CPU goes offline goes on at another one.
func TestEventsOfCPUThatWent(t *testing.T) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Max(cpus)
	file := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/online", last)
	if _, err := os.Stat(file); os.Getenv("STARTRACE_VM") == "" || err != nil || len(cpus) == 1 {
		t.Skip("needs a virtual machine with a CPU that can be taken off: go run ./test/vm -kernel 7.2 -smp 2 has one")
	}
	turn := func(state string) {
		if err := os.WriteFile(file, []byte(state), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer turn("1")
	turn("1")
	at := tree.Tracepoint{Group: "syscalls", Name: "sys_enter_getppid"}
	function := &tree.Functions{Mech: tree.AttachKprobe,
		Places: []tree.Place{{Func: "__" + strings.Replace(runtime.GOARCH, "amd", "x", 1) + "_sys_getppid"}}}
	l := attached(t, unitOf(tree.Attach{Way: at}, tree.Attach{Way: tree.Clock{EveryCPU: true, Freq: 99}},
		tree.Attach{Way: tree.Clock{Freq: 99}}, tree.Attach{Way: function}))
	openOnlyOn(t, l, at, function, last)
	turn("0")
	getppid(100)
	if got := counts(l); got[0] < 100 {
		t.Errorf("the program at the tracepoint ran %d times, want 100", got[0])
	} else if got[3] < 100 {
		t.Errorf("the program at the function ran %d times, want 100", got[3])
	}
	checkFollows(t, l, last, turn)
	tried.Many(t, "%d calls", 100)
}

// openOnlyOn opens the events of a tracepoint (program 0) and a function (program 3) anew, on a CPU.
func openOnlyOn(t *testing.T, l *Loaded, at tree.Tracepoint, f *tree.Functions, cpu int) {
	t.Helper()
	id, err := tracefsID(at.Group, at.Name)
	if err != nil {
		t.Fatal(err)
	}
	traced, probed := l.programs[0], l.programs[3]
	if err := l.releaseAll(slices.Concat(traced.points, probed.points)); err != nil {
		t.Fatal(err)
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
	event, err := openPerf(&attr, cpu, traced.code)
	if err != nil {
		t.Fatal(err)
	}
	traced.points = []spot{{link: event, kind: tracePoint}}
	pmu, err := findPMU(kernelProbes)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := openProbe(pmu, f, &f.Places[0], cpu, probed.code)
	if err != nil {
		t.Fatal(err)
	}
	probed.points = []spot{probe}
}

// checkFollows lets a unit with a profile (probe 1) and an interval (probe 2) follow a CPU that is offline.
func checkFollows(t *testing.T, l *Loaded, cpu int, turn func(state string)) {
	t.Helper()
	on := func(i int) (cpus []int) {
		for _, p := range l.programs[i].points {
			cpus = append(cpus, p.cpu)
		}
		return cpus
	}
	online, err := kernel.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	l.programs[2].points[0].cpu = cpu // as where the interval was on it
	went, err := CPUWent(l, cpu)
	if err != nil || !slices.Equal(went.Probes, []int{1}) || !slices.Equal(went.Moved, []int{2}) ||
		went.NewCPU != online[0] || !slices.Equal(on(1), online) || !slices.Equal(on(2), online[:1]) {
		t.Errorf("went: %+v, %v; events on %v and %v", went, err, on(1), on(2))
	}
	if came, err := CPUCame(l, cpu); err != nil || came.Probes != nil { // it is not there
		t.Errorf("came, but is offline: %+v, %v", came, err)
	}
	turn("1")
	came, err := CPUCame(l, cpu)
	if err != nil || !slices.Equal(came.Probes, []int{1}) || !slices.Equal(on(1), append(online, cpu)) {
		t.Errorf("came: %+v, %v; events on %v", came, err, on(1))
	}
}
