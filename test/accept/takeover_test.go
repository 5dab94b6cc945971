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
// > The new probe takes over at one moment where it stands at the same points in the same order: each event is seen by
// > one of the two.
// > Several points change hands one after the other.
func TestTakeOver(t *testing.T) {
	needTracing(t)
	workload := program(t, "workload")
	for _, p := range takenOver(t, workload) {
		said, calls := replaceTwice(t, p.points, p.calls)
		if strings.Contains(said.stderr, "neither") {
			t.Errorf("%s: %s", p.points, said.stderr)
		}
		checkAccount(t, said, number(t, said.stdout, `(?m)^seen (\d+)$`), calls*p.each)
	}
}

// Where the new probe cannot take over at one moment, the prompt says what is seen by neither.
//
// > Elsewhere, as at `rawtracepoint:`, hooks, watchpoints, spans of functions and `span()`, the old one is taken off
// > before the new one is attached, and a message says for how long no events were seen.
// > A system call that goes on for longer than the change is seen by neither, and a message says how many there were.
func TestNotTakenOver(t *testing.T) {
	needTracing(t)
	for _, point := range notTakenOver {
		e, calls := replaceTwice(t, point, 1000000)
		number(t, e.stderr, `(?m)^startrace: neither the old nor the new probe saw the events of (\d+) ms$`)
		if seen := number(t, e.stdout, `(?m)^seen (\d+)$`); seen > calls && strings.HasPrefix(point, "span") {
			t.Errorf("%s: %d calls were seen %d times", point, calls, seen)
		}
	}

	probe := `p = probe("syscall:{nanosleep,clock_nanosleep}", lambda e: print("ended"))`
	e := typed(t, "sleep 777", []string{probe, "go()", `x = [wait("5ms") for i in range(2000) if len(p.items()) == 0]`,
		probe, "exit()"})
	number(t, e.stderr, `(?m)^startrace: neither the old nor the new probe saw the end of (1) call$`)
}

// A probe in a list is replaced by nothing but its end.
//
// > A probe that stands in a list or a dict has no variable. So it goes on when that name is set again, until its
// > `.detach()`.
func TestProbesInLists(t *testing.T) {
	needTracing(t)
	const calls = 1000
	in := func(count string) string {
		return strings.Replace(probeOf(`"tracepoint:syscalls:sys_enter_getppid"`, count), "p = ", "ps = [", 1) + "]"
	}
	e := typed(t, fmt.Sprintf("%s -report /dev/null getppid %d 1", program(t, "workload"), calls), []string{
		"a, b, c = count(), count(), count()", in("a"), in("b"), "ps[0].detach()", in("c"), "go()",
		"wait()", `print(a.value, b.value, c.value)`})
	if want := fmt.Sprintf("%d 0 %d\n", calls, calls); e.stdout != want {
		t.Errorf("got %q, want %q\nstderr: %s", e.stdout, want, e.stderr)
	}
}

// A probe that was taken off is attached again.
//
// > Both do the same, and `.enable()` attaches the probe again after either one.
func TestEnableAfterEither(t *testing.T) {
	needTracing(t)
	const calls = 1000
	for _, off := range []string{"p.disable()", "p.detach()"} {
		e := typed(t, fmt.Sprintf("%s -report /dev/null getppid %d 1", program(t, "workload"), calls), []string{
			"n = count()", probeOf(`"tracepoint:syscalls:sys_enter_getppid"`, "n"), off, "p.enable()", "go()", "wait()",
			`print(n.value)`})
		if want := fmt.Sprintf("%d\n", calls); e.stdout != want {
			t.Errorf("%s: got %q, want %q\nstderr: %s", off, e.stdout, want, e.stderr)
		}
	}
}

// A probe whose place was taken goes on where the chunk of the new one fails.
//
// > If a probe of the chunk cannot be attached, the old ones go on.
func TestTakeOverUndone(t *testing.T) {
	needTracing(t)
	const calls = 1000
	e := typed(t, fmt.Sprintf("%s -report /dev/null getppid %d 1", program(t, "workload"), calls), []string{
		"a, b = count(), count()", probeOf(`"tracepoint:syscalls:sys_enter_getppid"`, "a"),
		probeOf(`"tracepoint:syscalls:sys_enter_getppid"`, "b") + `; probe("profile:1000000hz", lambda e: None)`,
		"go()",
		"wait()", `print(a.value, b.value)`})
	if want := fmt.Sprintf("%d 0\n", calls); e.stdout != want || !strings.Contains(e.stderr, "samples per second") {
		t.Errorf("got %q, want %q\nstderr: %s", e.stdout, want, e.stderr)
	}
}

// notTakenOver are points, as a script has them, whose probes do not give way to others at one moment.
var notTakenOver = []string{
	`"rawtracepoint:sys_enter"`,
	`span("tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_getppid")`,
	`span("t:syscalls:sys_enter_getppid", "t:syscalls:sys_exit_getppid", key = lambda e: e.tid)`,
	`event((span("t:syscalls:sys_enter_getppid", "t:syscalls:sys_exit_getppid"),
		lambda e: record(comm = e.comm)))`,
}

// A takenPoint are points, as a script has them, that the workload comes to.
type takenPoint struct {
	points string
	each   int // how often it comes to them in each call that it makes
	calls  int // how many it shall make at first
}

// takenOver are points whose probes give way to others at one moment.
func takenOver(t *testing.T, workload string) []takenPoint {
	const many, fewer = 500000, 200000
	user := fmt.Sprintf("%q", "uprobe:"+workload+":*.RawSyscallNoError*")
	list := []takenPoint{
		{`"tracepoint:syscalls:sys_enter_{getppid,getuid}"`, 1, many}, {`"syscall:getppid"`, 1, many}, {user, 1, fewer},
		{`["syscall:getppid", "tracepoint:syscalls:sys_enter_getppid"]`, 2, fewer},
		{`["tracepoint:syscalls:sys_exit_getppid", "syscall:getppid", ` + user + `]`, 3, fewer},
		{`event((["syscall:getppid", "t:syscalls:sys_exit_getppid"], lambda e: record(comm = e.comm)))`, 2, fewer},
	}
	if kernelFunctions(t) {
		for _, kind := range []string{"kprobe", "fentry", "fexit"} {
			list = append(list, takenPoint{fmt.Sprintf("%q", kind+":"+syscallFunction("getppid")), 1, fewer})
		}
	}
	return list
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
	return fmt.Sprintf("p = probe(%s, where = lambda e: e.comm == \"wl-getppid\", kernel = lambda e: %s.add())",
		point, count)
}
