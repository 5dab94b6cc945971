package accept

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// forks pairs the start of each process with its end, by its number, and prints a line for each pair and how many
// starts and ends there were.
const forks = `
counts = group(starts = count(), ends = count())

probe("tracepoint:sched:sched_process_fork", lambda e: counts.starts.add())
probe("rawtracepoint:sched_process_exit", lambda e: counts.ends.add())
life = span("tracepoint:sched:sched_process_fork", "rawtracepoint:sched_process_exit",
            key = (lambda e: e.args.child_pid, lambda e: e.args.p.pid), size = 4096)
probe(life, lambda e: printf("pair %d %d %s %d\n", e.start.args.child_pid, e.args.p.pid, e.start.args.parent_comm,
                             e.duration))
`

var pairLine = regexp.MustCompile(`(?m)^pair (\d+) (\d+) (\S+) (\d+)$`)

// Each process is paired once, with its own start.
func TestKeyedSpans(t *testing.T) {
	n := scaled(300)
	e, d := traced(t, forks, nil, "exits", strconv.Itoa(n))
	seen := map[string]int{}
	for _, m := range pairLine.FindAllStringSubmatch(e.stdout, -1) {
		if m[1] != m[2] {
			t.Errorf("the start of %s with the end of %s", m[1], m[2])
		}
		if m[4] == "0" {
			t.Errorf("process %s took no time", m[1])
		}
		seen[m[1]]++
	}
	missing := 0
	for _, pid := range d.TIDs {
		switch seen[strconv.Itoa(pid)] {
		case 0:
			missing++
		case 1:
		default:
			t.Errorf("process %d is paired %d times", pid, seen[strconv.Itoa(pid)])
		}
	}
	checkAccount(t, e, n-missing, n+1) // the command itself began before the tracing: its end has no start
}

// again has two starts for each process: when it is made, and when it executes its program.
const again = `
life = span(["tracepoint:sched:sched_process_fork", "tracepoint:sched:sched_process_exec"],
            "rawtracepoint:sched_process_exit",
            key = (lambda e: e.args.child_pid if hasattr(e.args, "child_pid") else e.args.pid, lambda e: e.args.p.pid),
            again = %q, size = 4096)
probe(life, lambda e: printf("pair %%d %%s\n", e.args.p.pid, e.start.probe))
`

var againLine = regexp.MustCompile(`(?m)^pair (\d+) (\S+)$`)

var neverEnded = regexp.MustCompile(`(\d+) calls of .* (?:never ended|did not return)`)

// Of two starts the one wins that the script wants, and the other is reported.
func TestKeyedSpansAgain(t *testing.T) {
	n := scaled(100)
	for which, point := range map[string]string{"first": "fork", "last": "exec"} {
		e, d := traced(t, fmt.Sprintf(again, which), nil, "exits", strconv.Itoa(n))
		starts := map[string]string{}
		for _, m := range againLine.FindAllStringSubmatch(e.stdout, -1) {
			starts[m[1]] = m[2]
		}
		missing := 0
		for _, pid := range d.TIDs {
			switch start := starts[strconv.Itoa(pid)]; {
			case start == "":
				missing++
			case !strings.HasSuffix(start, "sched_process_"+point):
				t.Errorf("again = %q: process %d began at %s", which, pid, start)
			}
		}
		replaced := 0
		if m := neverEnded.FindStringSubmatch(e.stderr); m != nil {
			replaced, _ = strconv.Atoi(m[1])
		}
		if (missing > 0 || replaced < n) && e.skipped(t) == 0 {
			t.Errorf("again = %q: of %d processes %d were not seen, %d starts replaced\nstderr: %s", which, n, missing,
				replaced, excerpt(e.stderr))
		}
	}
}

// A name that the start of the call could not read, because its page was not in memory, is read at the end.
//
// > A string argument that could not be read there is read again at the end.
func TestColdNames(t *testing.T) {
	n := scaled(1000)
	e, d := traced(t, `probe("syscall:openat", lambda e: print("open", e.start.args.filename), `+
		`where = lambda e: e.comm == "wl-cold")`, nil, "cold", strconv.Itoa(n))
	seen := 0
	for i := range d.Calls {
		if strings.Contains(e.stdout, fmt.Sprintf("open /nonexistent/cold/%d\n", i)) {
			seen++
		}
	}
	if strings.Contains(e.stdout, "<fault>") {
		t.Errorf("a name could not be read: %s", excerpt(e.stdout))
	}
	checkAccount(t, e, seen, n)
}

var execLine = regexp.MustCompile(`(?m)^exec (\S+) (\d+) (\S+) (-?\d+) (\d+) (\d+) (\d+)$`)

// The execve of a thread that is not the leader begins with one number of the thread and ends with another.
//
// > A thread that executes a program without being the leader of its process gets another number, and its open spans
// > follow it.
func TestExecOfThread(t *testing.T) {
	n := scaled(100)
	e, d := traced(t, `
probe("syscall:execve{,at}", where = lambda e: e.start.comm == "wl-execs",
      handler = lambda e: printf("exec %s %d %s %d %d %d %d\n", e.func, e.pid,
                                 " ".join(e.start.args.argv).replace(" ", ","), e.ret, e.start.tid, e.start.pid, e.tid))
`, nil, "execs", strconv.Itoa(n))
	seen := map[string][]string{}
	for _, m := range execLine.FindAllStringSubmatch(e.stdout, -1) {
		seen[m[2]] = append(seen[m[2]], m[0])
		if m[4] != "0" || m[5] == m[6] || m[6] != m[2] || m[7] != m[2] {
			t.Errorf("%s: want the result 0, by another thread of the process at the start, and by its leader "+
				"at the end", m[0])
		}
	}
	paired := 0
	for i, pid := range d.TIDs {
		lines := seen[strconv.Itoa(pid)]
		if len(lines) > 1 {
			t.Errorf("process %d: %q", pid, lines)
		}
		paired += len(lines)
		call := []string{"execve", "execveat"}[i%2]
		if want := fmt.Sprintf("exec %s %d wl-after,-exit-as,%d 0 ", call, pid, i%256); len(lines) == 1 &&
			!strings.HasPrefix(lines[0], want) {
			t.Errorf("got %q, want it to begin with %q", lines[0], want)
		}
	}
	checkAccount(t, e, paired, n)
}

// Spans by thread whose end is where a thread gets another number, or where its entry is forgotten: the one comes
// before the end, the other after it.
func TestThreadSpansAtExecAndExit(t *testing.T) {
	const lives = `
life = span("tracepoint:sched:sched_process_exec", %q)
probe(life, lambda e: printf("pair %%d %%d\n", e.start.pid, e.pid), where = lambda e: e.comm == "wl-exits")
`
	const executions = `
call = span(["tracepoint:syscalls:sys_enter_execve", "tracepoint:syscalls:sys_enter_execveat"], %q)
probe(call, lambda e: printf("pair %%d %%d\n", e.start.pid, e.pid if e.start.tid != e.tid else 0),
      where = lambda e: e.start.comm == "wl-execs")
`
	for _, c := range []struct{ script, end, work string }{
		{lives, "rawtracepoint:sched_process_exit", "exits"},
		{lives, "tracepoint:sched:sched_process_exit", "exits"},
		{executions, "rawtracepoint:sched_process_exec", "execs"},
		{executions, "tracepoint:sched:sched_process_exec", "execs"},
	} {
		n := scaled(200)
		e, d := traced(t, fmt.Sprintf(c.script, c.end), nil, c.work, strconv.Itoa(n))
		pairs := strings.Count(e.stdout, "pair ")
		for _, pid := range d.TIDs {
			if seen := strings.Count(e.stdout, fmt.Sprintf("pair %d %d\n", pid, pid)); seen > 1 || seen == 0 &&
				e.skipped(t) == 0 {
				t.Errorf("%s: process %d is paired %d times", c.end, pid, seen)
			}
		}
		if pairs > n {
			t.Errorf("%s: %d pairs of %d processes", c.end, pairs, n)
		}
		checkAccount(t, e, pairs, n)
	}
}

// The child's return from the call that made it is no end without a start, and takes nobody else's.
//
// > The child's return from fork or clone is no end.
func TestForkReturnsTwice(t *testing.T) {
	n := scaled(200)
	e, d := traced(t, `
probe("syscall:{clone,clone3,fork,vfork}", lambda e: printf("made %d by %d\n", e.ret, e.start.pid))
`, nil, "exits", strconv.Itoa(n))
	for _, pid := range d.TIDs {
		if seen := strings.Count(e.stdout, fmt.Sprintf("made %d by %d\n", pid, d.PID)); seen > 1 || seen == 0 &&
			e.skipped(t) == 0 {
			t.Errorf("process %d was made %d times", pid, seen)
		}
	}
	if strings.Contains(e.stdout, "made 0 by") {
		t.Errorf("a child's return: %s", excerpt(e.stdout))
	}
	missed := e.skipped(t) > 0 // then a pair lacks its other half
	if !missed && (strings.Contains(e.stderr, "had no start") || strings.Contains(e.stderr, "never ended")) {
		t.Errorf("losses: %s", excerpt(e.stderr))
	}
}

// What is a constant of a start point, or only some of them have, is that of the one by which the span began.
func TestStartPointsApart(t *testing.T) {
	n := scaled(100)
	for which, want := range map[string]string{"first": "fork its", "last": "exec None"} {
		e, d := traced(t, fmt.Sprintf(`
begun = event(("tracepoint:sched:sched_process_fork", lambda e: record(kind = "fork", who = e.args.child_pid)),
              ("tracepoint:sched:sched_process_exec", lambda e: record(kind = "exec", who = e.args.pid)))
life = span(begun, "rawtracepoint:sched_process_exit", key = (lambda e: e.who, lambda e: e.args.p.pid), again = %q,
            size = 4096)
probe(life, lambda e: print("pair", e.args.p.pid, e.start.kind,
                            "its" if e.start.args.child_pid == e.args.p.pid else e.start.args.child_pid))
`, which), nil, "exits", strconv.Itoa(n))
		seen := 0
		for _, pid := range d.TIDs {
			line := fmt.Sprintf("pair %d %s\n", pid, want)
			switch strings.Count(e.stdout, line) {
			case 1:
				seen++
			case 0:
				if strings.Contains(e.stdout, fmt.Sprintf("pair %d ", pid)) && e.skipped(t) == 0 {
					t.Errorf("again = %q: process %d has another start than %q", which, pid, want)
				}
			default:
				t.Errorf("again = %q: process %d is paired more than once", which, pid)
			}
		}
		if seen < n && e.skipped(t) == 0 {
			t.Errorf("again = %q: %d of %d processes\nstdout: %s", which, seen, n, excerpt(e.stdout))
		}
	}
}
