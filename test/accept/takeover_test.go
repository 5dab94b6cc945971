package accept

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// While a program makes calls at full rate on two threads, the probe of them is replaced at the prompt twice: each call
// is counted once.
//
// > The new probe takes over at one moment where it stands at the same points: each event is seen by one of the two.
func TestTakeOver(t *testing.T) {
	needTracing(t)
	workload := program(t, "workload")
	for point, calls := range takenOver(t, workload) {
		said, calls := replaceTwice(t, point, calls)
		if strings.Contains(said.stderr, "neither") {
			t.Errorf("%s: %s", point, said.stderr)
		}
		checkAccount(t, said, number(t, said.stdout, `(?m)^seen (\d+)$`), calls)
	}
}

// Where the new probe cannot take over at one moment, the prompt says what is seen by neither.
//
// > Elsewhere, as at `rawtracepoint:`, hooks, watchpoints and spans of functions, the old one is taken off before the
// > new one is attached, and a message says for how long no events were seen.
// > A system call that goes on for longer than the change is seen by neither, and a message says how many there were.
func TestNotTakenOver(t *testing.T) {
	needTracing(t)
	e, _ := replaceTwice(t, "rawtracepoint:sys_enter", 1000000)
	number(t, e.stderr, `(?m)^startrace: neither the old nor the new probe saw the events of (\d+) ms$`)

	probe := `p = probe("syscall:{nanosleep,clock_nanosleep}", lambda e: print("ended"))`
	e = typed(t, "sleep 777", []string{probe, "go()", `x = [wait("5ms") for i in range(2000) if len(p.items()) == 0]`,
		probe, "exit()"})
	number(t, e.stderr, `(?m)^startrace: neither the old nor the new probe saw the end of (1) call$`)
}

// A probe whose place was taken goes on where the chunk of the new one fails.
//
// > If a probe of the chunk cannot be attached, the old ones go on.
func TestTakeOverUndone(t *testing.T) {
	needTracing(t)
	const calls = 1000
	e := typed(t, fmt.Sprintf("%s -report /dev/null getppid %d 1", program(t, "workload"), calls), []string{
		"a, b = count(), count()", probeOf("tracepoint:syscalls:sys_enter_getppid", "a"),
		probeOf("tracepoint:syscalls:sys_enter_getppid", "b") + `; probe("profile:1000000hz", lambda e: None)`, "go()",
		"wait()", `print(a.value, b.value)`})
	if want := fmt.Sprintf("%d 0\n", calls); e.stdout != want || !strings.Contains(e.stderr, "samples per second") {
		t.Errorf("got %q, want %q\nstderr: %s", e.stdout, want, e.stderr)
	}
}

// takenOver are points that the workload comes to as often as it makes calls, and how many it shall make at first.
func takenOver(t *testing.T, workload string) map[string]int {
	const many, fewer = 500000, 200000
	points := map[string]int{"tracepoint:syscalls:sys_enter_{getppid,getuid}": many, "syscall:getppid": many,
		"uprobe:" + workload + ":*.RawSyscallNoError*": fewer}
	if kernelFunctions(t) {
		for _, kind := range []string{"kprobe", "fentry", "fexit"} {
			points[kind+":"+syscallFunction("getppid")] = fewer
		}
	}
	return points
}

// replaceTwice counts the events of a point by three probes, each in the place of the one before once that has seen
// some. It gives the number of calls of the workload too: where it had ended before the second probe, more are made.
func replaceTwice(t *testing.T, point string, calls int) (said ended, made int) {
	t.Helper()
	const some = `x = [wait("5ms") for i in range(400) if %s.value == 0]`
	lines := []string{"a, b, c = count(), count(), count()", probeOf(point, "a"), "go()", fmt.Sprintf(some, "a"),
		probeOf(point, "b"), fmt.Sprintf(some, "b"), probeOf(point, "c"), fmt.Sprintf(some, "c"), "wait()",
		`print("seen", a.value + b.value + c.value)`, `print("both", a.value > 0, b.value + c.value > 0)`}
	for range 4 {
		said = typed(t, fmt.Sprintf("%s -report /dev/null getppid %d 2", program(t, "workload"), calls), lines).ok(t)
		if strings.Contains(said.stdout, "both True True") {
			return said, calls
		}
		calls *= 4
	}
	t.Errorf("%s: the workload ended before it was probed anew:\n%s%s", point, said.stdout, said.stderr)
	return said, calls
}

// typed runs the prompt with a command and these lines.
func typed(t *testing.T, command string, lines []string) ended {
	t.Helper()
	cmd := exec.Command(program(t, "startrace"), "-c", command)
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ended{stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
}

// probeOf declares the probe p, by which a count gets the events of a point.
func probeOf(point, count string) string {
	return fmt.Sprintf("p = probe(%q, where = lambda e: e.comm == \"wl-getppid\", kernel = lambda e: %s.add())",
		point, count)
}
