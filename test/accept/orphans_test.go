package accept

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// orphans has spans in which one of the eight ends of a known thread is that of a start.
const orphans = `
def key(e):
    return e.tid

def never(e):
    return record(x = 1) if e.pid == 0 else None

START, END = "tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_getpgid"
probe(span(START, END), lambda e: print("pair", e.comm), name = "threads")
probe(span(START, END, key = key), lambda e: print("pair", e.comm), name = "keys")
probe(span(event((START, never)), END), lambda e: print("never"), name = "chosen")
probe(span("tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_read"), lambda e: None, name = "reads")
calls = ["clone", "clone3", "fork", "vfork"]
forks = span(["tracepoint:syscalls:sys_enter_{clone,clone3,fork,vfork}"],
             ["tracepoint:syscalls:sys_exit_{clone,clone3,fork,vfork}"])
probe(forks, lambda e: None, name = "forks")
`

// orphanWork makes eight ends, the fourth of which has a start, after a read that began before.
func orphanWork(t *testing.T) []string {
	t.Helper()
	number := func(name string) string {
		sc, ok := kernel.SyscallByName(name)
		if !ok {
			t.Fatalf("no system call %s", name)
		}
		return strconv.Itoa(sc.Nr)
	}
	end := number("getpgid") + ",0"
	return slices.Concat([]string{"raw"}, slices.Repeat([]string{end}, 3), []string{number("getppid")},
		slices.Repeat([]string{end}, 5))
}

var orphanLine = regexp.MustCompile(`(?m)(\d+) ends? of (\w+) had no start`)

// checkOrphans: the first end of a thread may be that of a call that began before the tracing.
func checkOrphans(t *testing.T, e ended) {
	t.Helper()
	got := map[string]string{}
	for _, m := range orphanLine.FindAllStringSubmatch(e.stderr, -1) {
		got[m[2]] = m[1]
	}
	if want := map[string]string{"threads": "6", "keys": "7"}; fmt.Sprint(got) != fmt.Sprint(want) &&
		e.skipped(t) == 0 {
		t.Errorf("ends without a start: got %v, want %v; stderr: %s", got, want, excerpt(e.stderr))
	}
	if n := strings.Count(e.stdout, "pair wl-raw\n"); n != 2 && e.skipped(t) == 0 {
		t.Errorf("%d pairs; stdout: %s", n, excerpt(e.stdout))
	}
}

// Ends without a start are reported in a run with -c as in one with -p; what a child's return from fork ends, and what
// began before the tracing, is not among them.
func TestEndsWithoutStart(t *testing.T) {
	needTracing(t)
	workload := exec.Command(program(t, "workload"), append([]string{"-report", filepath.Join(t.TempDir(), "report")},
		orphanWork(t)...)...)
	text := script(t, orphans+attached)
	t.Run("command", func(t *testing.T) {
		checkOrphans(t, startrace(t, text, "-c", strings.Join(workload.Args, " ")).ok(t))
	})
	t.Run("shell", func(t *testing.T) { // with children
		checkOrphans(t, startrace(t, text, "-c", fmt.Sprintf("sh -c '(true); (true); %s; (true)'",
			strings.Join(workload.Args, " "))).ok(t))
	})
	t.Run("process", func(t *testing.T) {
		watched, in := readied(t, exec.Command(workload.Path, append([]string{"-wait"}, workload.Args[1:]...)...))
		r := start(t, text, "-p", fmt.Sprint(watched.Process.Pid))
		r.await(t, "attached")
		goOn(t, watched, in)
		checkOrphans(t, r.interrupt(t).ok(t))
	})
}

// In a run without a target the starts of startrace itself are no events, and their ends no losses.
func TestEndsOfTracer(t *testing.T) {
	needGuest(t)
	r := start(t, script(t, `
n = count()
own = span("tracepoint:syscalls:sys_enter_epoll_pwait", "tracepoint:syscalls:sys_exit_epoll_pwait",
           key = lambda e: e.tid)
probe(own, lambda e: n[e.pid].add(), name = "keys")
probe(span("tracepoint:syscalls:sys_enter_epoll_pwait", "tracepoint:syscalls:sys_exit_epoll_pwait"),
      lambda e: n[e.pid].add(), name = "threads")
every("10ms", lambda: None)
after("1s", lambda: print("attached"))
at_exit(lambda: [printf("pid %d.\n", pid) for pid, calls in n.items()])
`))
	r.await(t, "attached")
	e := r.interrupt(t).ok(t)
	if strings.Contains(e.stdout, fmt.Sprintf("pid %d.", r.cmd.Process.Pid)) {
		t.Errorf("the tracer is in its own spans: %s", e.stdout)
	}
	for _, m := range orphanLine.FindAllStringSubmatch(e.stderr, -1) {
		if n, _ := strconv.Atoi(m[1]); n > 5 && e.skipped(t) == 0 { // what waited when the tracing began
			t.Errorf("%s", m[0])
		}
	}
}
