package accept

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The one-liner: system calls by program, printed by itself at the end.
func TestOneLiner(t *testing.T) {
	needTracing(t)
	const n = 10_000
	e := startrace(t, "-e", "n = count()", "-e", `probe("t:raw_syscalls:sys_enter", lambda e: n[e.comm].add())`,
		"-c", fmt.Sprintf("%s getppid %d", program(t, "workload"), n)).ok(t)
	m := regexp.MustCompile(`wl-getppid\W+(\d+)`).FindStringSubmatch(e.stdout)
	if m == nil {
		t.Fatalf("no line for wl-getppid in %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
	counted, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	if counted+e.lost(t) < n {
		t.Errorf("counted %d of at least %d calls\nstderr: %s", counted, n, excerpt(e.stderr))
	}
}

// Failed opens, one line each.
func TestFailedOpens(t *testing.T) {
	const text = `
probe("syscall:open{,at,at2}", lambda e: printf("%-16s %-7d %-12s %s\n", e.comm, e.pid, errno(e.ret), e.args.filename),
      where = lambda e: e.ret < 0)
`
	dir := t.TempDir()
	e, d := traced(t, text, nil, "opens", "300", "3", dir)
	failed := 0
	for line := range strings.Lines(e.stdout) {
		if !strings.Contains(line, dir+"/") {
			continue
		}
		failed++
		want := fmt.Sprintf("%-16s %-7d %-12s %s/missing-", d.Comm, d.PID, "ENOENT", dir)
		if !strings.HasPrefix(line, want) {
			t.Fatalf("got line %q, want %q…", line, want)
		}
	}
	checkAccount(t, e, failed, d.Failed)
}

// System calls counted by name.
func TestCallsByName(t *testing.T) {
	const text = `
calls = count()
probe("syscall:*", lambda e: calls[e.func].add(), where = lambda e: e.comm == "wl-reads")
at_exit(lambda: [printf("%s: %d\n", name, n) for name, n in calls.items()])
`
	e, d := traced(t, text, nil, "reads", "1000", "1,64,4096")
	m := regexp.MustCompile(`(?m)^read: (\d+)$`).FindStringSubmatch(e.stdout)
	if m == nil {
		t.Fatalf("no line for read in %s", excerpt(e.stdout))
	}
	counted, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, e, counted, d.Calls)
}

// Read sizes as a histogram by program, printed by itself at the end: buckets [1, 2), [64, 128), [4K, 8K).
func TestReadSizes(t *testing.T) {
	const text = `
sizes = hist()
probe("syscall:read", lambda e: sizes[e.comm].add(e.ret), where = lambda e: e.ret > 0)
`
	e, d := traced(t, text, nil, "reads", "999", "1,64,4096")
	_, after, found := strings.Cut(e.stdout, d.Comm)
	if !found {
		t.Fatalf("no histogram of %s in %s", d.Comm, excerpt(e.stdout))
	}
	buckets := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\s*\[(\w+)[^)\]\n]*[)\]]\s+(\d+) `).FindAllStringSubmatch(after, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := buckets[m[1]]; twice {
			break // the next program's histogram
		}
		buckets[m[1]] = n
	}
	seen := 0
	for _, lowest := range []string{"1", "64", "4K"} {
		if buckets[lowest] > 333 {
			t.Errorf("bucket from %s has %d, want 333", lowest, buckets[lowest])
		}
		seen += buckets[lowest]
	}
	checkAccount(t, e, seen, 999)
}

// slowprocs written flat: threads that were ready and waited for a CPU.
const slowprocs = `
queued = table()
waits = hist(unit = MSEC)

def enqueue(e):
    queued[e.args.p.pid] = e.time

def switch(e):
    since = queued.pop(e.args.next.pid)
    if e.args.prev.pid != 0:
        queued[e.args.prev.pid] = e.time
    if since != None and e.time - since >= 2 * MSEC:
        waits[e.args.next.comm, e.args.next.tgid].add(e.time - since)

probe("rawtracepoint:sched_wakeup{,_new}", kernel = enqueue)
probe("rawtracepoint:sched_switch", kernel = switch)
`

func TestSlowprocs(t *testing.T) {
	needGuest(t)
	needTracing(t)
	spin := exec.Command(program(t, "workload"), "spin", "3", "8s")
	if err := spin.Start(); err != nil {
		t.Fatal(err)
	}
	defer spin.Wait()
	defer spin.Process.Kill()
	e := startrace(t, script(t, slowprocs), "--duration", "4s").ok(t)
	if want := "wl-spin"; !strings.Contains(e.stdout, want) ||
		!strings.Contains(e.stdout, strconv.Itoa(spin.Process.Pid)) {
		t.Errorf("no histogram of %s, %d\nstdout: %s\nstderr: %s", want, spin.Process.Pid, excerpt(e.stdout),
			excerpt(e.stderr))
	}
}
