package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// The exit code is that of the command, or tells that startrace itself has failed.
func TestExitCodeOfCommand(t *testing.T) {
	needTracing(t)
	const count = "n = count()\nprobe(\"rawtracepoint:sys_enter\", lambda e: n.add())\n"
	commands := []struct {
		text, command string
		flags         []string
		want          int
	}{
		{count, "true", nil, 0},
		{count, "false", nil, 1},
		{count, "sh -c 'exit 7'", nil, 7},
		{count, "sh -c 'kill -KILL $$'", nil, 128 + 9},
		{count + "at_exit(lambda: exit(3))", "sh -c 'exit 7'", nil, 3},
		{count, "sleep 1000", []string{"--duration", "10ms"}, 0},
		{"probe(\"rawtracepoint:sys_entre\")", "true", nil, 125},
		{count + "at_exit(lambda: fail(\"x\"))", "true", nil, 125},
		{count, "/nonexistent", nil, 125},
	}
	for _, tt := range commands {
		e := startrace(t, append([]string{script(t, tt.text), "-c", tt.command}, tt.flags...)...)
		if e.status != tt.want {
			t.Errorf("%s with -c %q: exit code %d, want %d\n%s", tt.text, tt.command, e.status, tt.want,
				excerpt(e.stderr))
		}
	}
	tried.Many(t, "%d commands", len(commands))
}

// What a command has started ends with it, when the run ends before: the pipe that all of them have is closed.
func TestChildrenOfCommandEnd(t *testing.T) {
	needTracing(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "startrace"), "-q", "-e", "n = count()", "-e",
		`probe("rawtracepoint:sys_enter", lambda e: n.add())`, "-c", "sh -c 'echo $$; sleep 1000 & sleep 1000'")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for buf := make([]byte, 4096); err == nil; { // a process that goes on has the other end
		_, err = r.Read(buf)
	}
	tried.Many(t, "%d children", 2)
}

// What a run has no time for at its end is counted: here the first handler does not end by itself.
func TestLeftAtTheEnd(t *testing.T) {
	const calls = 1000
	needTracing(t)
	report := filepath.Join(t.TempDir(), "report.json")
	text := script(t, `
seen = []

def handle(e):
    seen.append(e.pid)
    for i in range(1 << 60):
        pass

probe("tracepoint:syscalls:sys_enter_getppid", lambda e: handle(e), where = lambda e: e.comm == "wl-getppid")
at_exit(lambda: print(len(seen)))
`)
	e := startrace(t, text, "--drain", "50ms", "-c",
		fmt.Sprintf("%s -report %s getppid %d", program(t, "workload"), report, calls))
	if e.status != 125 || e.stdout != "1\n" || !strings.Contains(e.stderr, "did not end by itself") {
		t.Errorf("exit code %d, %q\n%s", e.status, e.stdout, excerpt(e.stderr))
	}
	tracedBy(t, e, report)
	checkAccount(t, e, 1, calls)
	tried.Many(t, "%d events", calls)
}

var missedCalls = regexp.MustCompile(`(?m)missed (\d+) of \d+ calls:`)

// Timers come between events, however fast these are, and calls that were missed are told: the function of every() is
// called each time, or what is missing is said.
func TestTimersUnderLoad(t *testing.T) {
	needTracing(t)
	const ticks = 10
	e := startrace(t, script(t, fmt.Sprintf(`
n = {}
ticks = []
probe("tracepoint:syscalls:sys_enter_getppid", lambda e: n.update([(e.pid, n.get(e.pid, 0) + 1)]))

def tick(passed):
    ticks.append(passed)
    if len(ticks) == %d:
        exit()

every("100ms", tick)
at_exit(lambda: print(len(ticks), sum(ticks)))
`, ticks)), "-c", program(t, "workload")+" getppid 1000000000 2").ok(t)
	words := strings.Fields(e.stdout)
	if len(words) != 2 || words[0] != fmt.Sprint(ticks+1) { // the last is that of the end
		t.Fatalf("got %q\n%s", e.stdout, excerpt(e.stderr))
	}
	passed, err := strconv.ParseInt(words[1], 10, 64)
	missed := e.sum(t, missedCalls)
	if least := time.Duration(ticks+missed) * 100 * time.Millisecond; err != nil || time.Duration(passed) < least {
		t.Errorf("%d calls in %v, %d missed, %v", ticks, time.Duration(passed), missed, err)
	}
	tried.Many(t, "%d calls", ticks)
}

// Losses that a kernel does not count itself are said without being asked for.
func TestUncountedIsSaid(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", "n = count()", "-e", `probe("tracepoint:syscalls:sys_enter_getppid", lambda e: n.add())`,
		"-c", "true").ok(t)
	const words = "this kernel does not count the events that it drops itself"
	if said := strings.Contains(e.stderr, words); said == atLeast(t, 5, 12) {
		t.Errorf("said: %v\n%s", said, e.stderr)
	}
	tried.Many(t, "%d run", 1)
}

// The time of day is followed when it is set.
func TestClockIsSet(t *testing.T) {
	needGuest(t)
	needTracing(t)
	now := time.Now()
	defer func() {
		tv := unix.NsecToTimeval(now.UnixNano())
		if err := unix.Settimeofday(&tv); err != nil {
			t.Error(err)
		}
	}()
	workload := program(t, "workload")
	command := filepath.Join(t.TempDir(), "command")
	text := fmt.Sprintf("#!/bin/sh\n%s getppid 1\ndate -s @3000000000\n%[1]s getppid 1\n", workload)
	if err := os.WriteFile(command, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-q", script(t, `
probe("tracepoint:syscalls:sys_enter_getppid", lambda e: print("year", strftime("%Y", e.time)),
      where = lambda e: e.comm == "wl-getppid")
`), "-c", command).ok(t)
	if got, want := linesWith(e.stdout, "year"), []string{"year " + now.Format("2006"), "year 2065"}; len(got) != 2 ||
		got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %q, want %q", got, want)
	}
	tried.Many(t, "%d time", 1)
}

// A run keeps within 64 MB while events come faster than it handles them, whatever it makes of them.
func TestMemoryAtFullRate(t *testing.T) {
	needTracing(t)
	const budget = 64 << 20
	tools := map[string][]string{
		"aggregation": {"count", "syscall:getppid"},
		"histogram":   {"hist", "syscall:getppid"},
		"lines":       {"trace", "syscall:getppid"},
		"json":        {"trace", "syscall:getppid", "--format", "json"},
		"handler":     {"-e", `probe("t:syscalls:sys_enter_getppid", lambda e: printf("%d %s\n", e.pid, e.comm))`},
		"counter": {"-e", "n = {}", "-e",
			`probe("t:syscalls:sys_enter_getppid", lambda e: n.update([(e.pid, 1)]))`},
	}
	for name, args := range tools {
		out, peak, err := withPeak(t, append(args, "-o", os.DevNull, "--duration", "2s", "-c",
			program(t, "workload")+" getppid 1000000000 2")...)
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, excerpt(string(out)))
		}
		if t.Logf("%s: %d KB", name, peak>>10); peak > budget {
			t.Errorf("%s: %d MB resident, want at most %d", name, peak>>20, budget>>20)
		}
	}
	tried.Many(t, "%d tools", len(tools))
}

// What does not fit is refused with a message and its place, and what had been counted is printed.
func TestMemoryIsRefused(t *testing.T) {
	const budget = 64 << 20
	scripts := map[string]struct{ text, want, stdout string }{
		"dict": {"d = {}\nevery(\"1ms\", lambda: [d.update([(len(d), \"x%d\" % len(d) * 10)]) " +
			"for i in range(10000)])\n" +
			"at_exit(lambda: print(\"kept\"))\n", "the values of the script take more than 20 MB: ", "kept\n"},
		"doubling": {"s = [\"ab\"]\nfor i in range(60):\n    s[0] = s[0] + s[0]\n", ":3:17: this would take ", ""},
		"growing": {"x = []\nfor i in range(1 << 40):\n    x.append(str(i))\n",
			"it was ended: the values of the script take too much memory", ""},
		"callback": {"x = []\nevery(\"1ms\", lambda: [x.append(str(i)) for i in range(100000)])\n" +
			"at_exit(lambda: print(\"kept\"))\n", "the values of the script take more than 20 MB: ", "kept\n"},
		"keys": {"n = quantiles(by = \"k\", size = 1 << 22)\ni = [0]\ndef fill():\n    for _ in range(100000):\n" +
			"        i[0] += 1\n        n[i[0]].add(1)\nevery(\"1ms\", fill)\n" +
			"at_exit(lambda: print(len(n.items()) > 1000))\n", "the values of the script take more than 20 MB: ",
			"True\n"},
		"ending": {"x = []\nevery(\"1ms\", lambda: [x.append(str(i)) for i in range(100000)])\n" +
			"at_exit(lambda: [x.append(str(i)) for i in range(1 << 40)])\nat_exit(lambda: print(\"kept\"))\n",
			"at_exit: ", "kept\n"},
	}
	for name, tt := range scripts {
		e := startrace(t, "--memory", "64M", script(t, tt.text))
		if e.status != 1 || !strings.Contains(e.stderr, tt.want) ||
			e.stdout != tt.stdout || strings.Contains(e.stderr, "goroutine") {
			t.Errorf("%s: exit code %d, %q\n%s", name, e.status, e.stdout, excerpt(e.stderr))
		}
		if t.Logf("%s: %d KB", name, e.rss>>10); e.rss > budget*5/4 {
			t.Errorf("%s: %d MB were resident, with --memory 64M", name, e.rss>>20)
		}
	}
	for _, double := range doublings {
		text := "x = " + double.start + "\nfor i in range(60):\n    x[0] = " + double.more
		e := startrace(t, script(t, text+"\n"))
		refused := strings.Contains(e.stderr, " are the most that are made at once") ||
			strings.Contains(e.stderr, "no longer one is made at once")
		if e.status != 1 || !refused || !strings.Contains(e.stderr, "script.star:3:") {
			t.Errorf("%s: exit code %d, %q\n%s", double, e.status, e.stdout, excerpt(e.stderr))
		}
		if t.Logf("%s: %d KB", double, e.rss>>10); e.rss > 8*budget {
			t.Errorf("%s: %d MB were resident", double, e.rss>>20)
		}
	}
	if e := startrace(t, "/dev/zero"); e.status != 1 || !strings.Contains(e.stderr, "/dev/zero has more than 4 MB") {
		t.Errorf("/dev/zero: exit code %d\n%s", e.status, excerpt(e.stderr))
	}
	tried.Many(t, "%d scripts", len(scripts)+len(doublings)+1)
}

// doublings are what makes more and more, also where no budget is asked for. What they take by then is a part of what
// the machine has.
var doublings = []struct{ start, more string }{
	{`["x"]`, "x[0] + x[0]"}, {`["x"]`, "x[0] * 2"}, {`["x"]`, `"%s%s" % (x[0], x[0])`},
	{`["x"]`, `"{}{}".format(x[0], x[0])`}, {`["x"]`, `"".join([x[0], x[0]])`}, {`["x"]`, `x[0].replace("", x[0][:1])`},
	{`[[1]]`, "x[0] + x[0]"}, {`[[1]]`, "x[0] * 2"}, {`[[1]]`, "[x[0].extend(x[0]), x[0]][1]"}, {`[(1,)]`, "x[0] * 2"},
	{`[b"x"]`, "x[0] + x[0]"}, {`[b"x"]`, "x[0] * 2"}, {`["x"]`, "x[0] + x[0].upper()"},
	{`["x"]`, "sprintf('%s%s', x[0], x[0])"},
}

// Where Go's runtime would not even begin there is a message, and no dump. Where it begins nothing is said: no library
// writes a line of its own.
func TestFewAddresses(t *testing.T) {
	const from, to, step = 500000, 2000000, 50000 // KB
	for limit := from; limit < to; limit += step {
		text := fmt.Sprintf(`ulimit -v %d && exec "$0" -e "print(1 << 40)" -e "exit()"`, limit)
		out, err := exec.Command("sh", "-c", text, program(t, "startrace")).CombinedOutput()
		const refused = "startrace: the limit of addresses (ulimit -v) is below 1400000 KB, "
		fits := err == nil && string(out) == "1099511627776\n"
		if limit < 1400000 {
			fits = err != nil && strings.HasPrefix(string(out), refused) && strings.Count(string(out), "\n") == 1
		}
		if !fits {
			t.Errorf("%d KB: %v\n%s", limit, err, out)
		}
	}
	tried.Many(t, "%d limits", (to-from)/step)
}

// The same of the limit of data (`ulimit -d`). With less than what startrace itself has, of which most is zero, the
// kernel ends it before its first instruction.
func TestLittleData(t *testing.T) {
	limits := []int{45000, 60000, 80000, 100000, 150000, 199999, 200000, 300000, 1000000} // KB
	for _, limit := range limits {
		text := fmt.Sprintf(`ulimit -d %d && exec "$0" -e "print(1 << 40)" -e "exit()"`, limit)
		out, err := exec.Command("sh", "-c", text, program(t, "startrace")).CombinedOutput()
		const refused = "startrace: the limit of data (ulimit -d) is below 200000 KB, "
		fits := err == nil && string(out) == "1099511627776\n"
		if limit < 200000 {
			fits = err != nil && strings.HasPrefix(string(out), refused) && strings.Count(string(out), "\n") == 1
		}
		if !fits {
			t.Errorf("%d KB: %v\n%s", limit, err, out)
		}
	}
	tried.Many(t, "%d limits", len(limits))
}

// Where a user may have too few threads for Go's runtime there is a message, and no dump, at each number. Root has no
// limit, and its runs begin.
func TestFewProcesses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root (CAP_SETUID, as in guests), to become a user without processes")
	}
	var before unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, nil, &before); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prlimit(0, unix.RLIMIT_NPROC, &before, nil); err != nil {
			t.Error(err)
		}
	}()
	runs := 0
	for most := uint64(1); most <= 16; most++ {
		few := unix.Rlimit{Cur: most, Max: before.Max}
		if err := unix.Prlimit(0, unix.RLIMIT_NPROC, &few, nil); err != nil {
			t.Fatal(err)
		}
		e := confined(t, []string{"-uid", "64321"}, "-e", "exit()")
		if e.status != 1 || strings.Contains(e.stderr, "goroutine") ||
			!strings.HasPrefix(e.stderr, "startrace: the limit of processes and threads (ulimit -u, ") {
			t.Errorf("ulimit -u %d: exit code %d\n%s", most, e.status, excerpt(e.stderr))
		}
		startrace(t, "-e", "exit()").ok(t)
		runs += 2
	}
	tried.Many(t, "%d runs", runs)
}

// So it is where the control group may have too few, of which root is not free; where it has enough, runs begin.
func TestFewProcessesOfGroup(t *testing.T) {
	runs := 0
	for _, most := range []int{1, 2, 5, 12, 16, 24} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			procs := limitedBy(t, "pids", cgroupLimit{"cgroup2", "pids.max", fmt.Sprint(most), nil},
				cgroupLimit{"cgroup", "pids.max", fmt.Sprint(most), []string{"-o", "pids"}})
			want := "startrace: the limit of processes and threads (ulimit -u, or pids.max"
			if most > 16 {
				want = "began\n"
			}
			for _, before := range []string{"", `trap "" CHLD; `} { // also where ended children are of no interest
				out, err := exec.Command("sh", "-c", before+`echo $$ >"$0" && exec "$@"`, procs,
					program(t, "startrace"), "-e", `print("began")`).CombinedOutput()
				if !strings.HasPrefix(string(out), want) || strings.Contains(string(out), "goroutine") {
					t.Errorf("%s: %v\n%s", before, err, excerpt(string(out)))
				}
				runs++
			}
		})
	}
	tried.Many(t, "%d runs", runs)
}
