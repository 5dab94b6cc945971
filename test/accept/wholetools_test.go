package accept

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Calls of the file system by kind, of which the workload's are known.
func TestVfsstat(t *testing.T) {
	needKernelFunctions(t)
	const reads = 999
	e, _ := tool(t, []string{"vfsstat", "-i", "1h"}, "reads", strconv.Itoa(reads), "64")
	e.wantRows(t, "READ WRITE FSYNC OPEN CREATE UNLINK MKDIR RMDIR", `\d+ \d+ \d+ \d+ \d+ \d+ \d+ \d+`)
	row := strings.Fields(e.stdout)[8:]
	if n, _ := strconv.Atoi(row[0]); n+e.lost(t) < reads || n > reads+200 { // and those of its start
		t.Errorf("%d reads, want %d and a few", n, reads)
	}
	dir := t.TempDir()
	flushes := fmt.Sprintf(`sh -c "for i in 1 2 3; do dd if=/dev/zero of=%s/g bs=1 count=1 conv=fsync; done"`, dir)
	e = startrace(t, "vfsstat", "-i", "1h", "-c", flushes).ok(t)
	e.has(t, `(?m)^ +\d+ +\d+ +3 +\d+ +\d+ +0 +0 +0$`)
	e = startrace(t, "vfsstat", "-i", "1h", "-c",
		fmt.Sprintf(`sh -c "for i in 1 2 3; do mkdir %s/d; rmdir %s/d; echo >%s/f; rm %s/f; done"`, dir, dir, dir,
			dir)).ok(t)
	e.has(t, `(?m)^ +\d+ +\d+ +0 +\d+ +3 +3 +3 +3$`)
}

// Files that were made and deleted under the trace, with what lay between.
func TestFilelife(t *testing.T) {
	needKernelFunctions(t)
	file := filepath.Join(t.TempDir(), "short")
	command := fmt.Sprintf(`sh -c "for i in 1 2 3; do echo >%s; sleep 0.2; rm %s; done"`, file, file)
	e := startrace(t, "filelife", "-c", command).ok(t)
	row := `\d+ (?:rm|busybox|sh) sh (\d+\.\d{3}) \S*/short`
	e.wantRows(t, "PID COMM MAKER AGE_S FILE", row, row, row)
	for _, m := range regexp.MustCompile(`(?m)(\d+\.\d{3}) \S*/short$`).FindAllStringSubmatch(e.stdout, -1) {
		if age, err := strconv.ParseFloat(m[1], 64); err != nil || age < 0.2 {
			t.Errorf("it lived for %s s, want at least 0.2", m[1])
		}
	}
	if e = startrace(t, "filelife", "--max", "100ms", "-c", command).ok(t); strings.Count(e.stdout, "\n") > 1 {
		t.Errorf("files that lived longer: %s", e.stdout)
	}
}

// A file ends with its last name, whatever names it had before; and so does one into whose place another one is put.
func TestFilelifeNames(t *testing.T) {
	needKernelFunctions(t)
	command := fmt.Sprintf(`sh -c "cd %s; echo >one; ln one two; echo >three; mv three four; echo >five; `+
		`rm one; sleep 0.2; rm two four; echo >six; mv six five; rm five"`, t.TempDir())
	e := startrace(t, "filelife", "-c", command).ok(t)
	old, young := `(0\.[2-9]|[1-9]\d*\.)\d+`, `\d+\.\d+`
	row := func(by, age, name string) string { return `\d+ (?:` + by + `|busybox|sh) sh ` + age + ` \S*/` + name }
	e.wantRows(t, "PID COMM MAKER AGE_S FILE", row("rm", old, "two"), row("rm", old, "four"), row("mv", old, "five"),
		row("rm", young, "five"))
}

// Memory runs out in a cgroup: who asked for it and who was killed are the same.
func TestOomkill(t *testing.T) {
	needKernelFunctions(t)
	procs := memoryLimit(t, 32<<20)
	e := startrace(t, "oomkill", "-c", fmt.Sprintf(`sh -c "echo \$\$ >%s; %s -report /dev/null faults 50000; true"`,
		procs, program(t, "workload"))).ok(t)
	e.wantRows(t, "PID COMM VICTIM VCOMM RSS_KB LIMIT_KB REASON", `(\d+) \S+ \d+ \S+ \d+ 32768 limit of a cgroup`)
	row := strings.Fields(e.stdout)
	if len(row) < 12 || row[7] != row[9] {
		t.Errorf("the victim is another than who asked: %s", e.stdout)
	}
	// It has what is allowed but for the memory of the kernel's own, and the pages of its program that others have
	// asked for.
	if kb := number(t, row[11], `(\d+)`); kb < 24<<10 || kb > 40<<10 {
		t.Errorf("the victim has %d KB of %d", kb, 32<<10)
	}
}

// memoryLimit makes a cgroup of so much memory and gives the file that takes its processes.
func memoryLimit(t *testing.T, bytes int) (procs string) {
	t.Helper()
	root := t.TempDir()
	limit := "memory.max"
	if out, err := exec.Command("mount", "-t", "cgroup2", "none", root).CombinedOutput(); err != nil {
		t.Skipf("needs cgroup2 (CONFIG_CGROUPS): %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", root).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
		t.Skipf("needs the memory controller of cgroup2 (CONFIG_MEMCG): %v", err)
	}
	group := filepath.Join(root, "small")
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(group) })
	if err := os.WriteFile(filepath.Join(group, limit), []byte(strconv.Itoa(bytes)), 0); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(group, "cgroup.procs")
}

// What is seen of put-off handlers is no more than the kernel counts meanwhile.
func TestSoftirqs(t *testing.T) {
	needGuest(t)
	needTracing(t)
	before := softirqs(t)
	e := startrace(t, "softirqs", "--duration", "2s").ok(t)
	after := softirqs(t)
	if !strings.HasPrefix(e.stdout, "time:\n") || !strings.Contains(e.stderr,
		"Tracing handlers of interrupts for 2s\n") {
		t.Errorf("got %s", excerpt(e.stdout))
	}
	seen := 0
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+) +(\d+) +\d`).FindAllStringSubmatch(e.stdout, -1) {
		n, _ := strconv.Atoi(m[2])
		if made := after[m[1]] - before[m[1]]; n > made {
			t.Errorf("%d runs of %s, the kernel counts %d", n, m[1], made)
		}
		seen += n
	}
	if seen == 0 {
		t.Errorf("no handler ran in 3 seconds: %s\nstderr: %s", e.stdout, excerpt(e.stderr))
	}
}

// softirqs are the runs of each put-off handler since boot, on all CPUs.
func softirqs(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			if n, err := strconv.Atoi(word); err == nil {
				runs[strings.TrimSuffix(words[0], ":")] += n
			}
		}
	}
	return runs
}

// The console of a guest interrupts when something is written to it.
func TestHardirqs(t *testing.T) {
	needGuest(t)
	needTracing(t)
	r := start(t, script(t,
		"load(\"std/hardirqs.star\", tool = \"main\")\n\ndef main():\n    tool()\n    print(\"begun\")\n"), "--dist")
	r.await(t, "begun")
	time.Sleep(time.Second) // its timer goes on
	console, err := os.OpenFile("/dev/console", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	if _, err := io.WriteString(console, strings.Repeat(" ", 64)+"\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	e := r.end(t).ok(t)
	if !regexp.MustCompile(`(?m)^time\[\S[^\]]*\] \(us\):\n(?:.*\n)*?\[.* [1-9]\d* \|`).MatchString(e.stdout) {
		t.Errorf("no handler ran: %s\nstderr: %s", e.stdout, excerpt(e.stderr))
	}
}

// Of connections that find no room the first segment is sent again, after 1, 3 and 7 seconds.
func TestTcpretrans(t *testing.T) {
	needGuest(t)
	needTracing(t)
	for _, flags := range [][]string{{"--count"}, nil} {
		if flags == nil && testing.Short() {
			break // it waits for 8 seconds
		}
		port, stop := waitingConnections(t)
		e := startrace(t, append([]string{"tcpretrans", "--duration", "8s"}, flags...)...).ok(t)
		stop()
		rows := rowsLike(e, fmt.Sprintf(`127\.0\.0\.1 \d+ 127\.0\.0\.1 %d segment SYN_SENT`, port))
		if flags != nil {
			rows = rowsLike(e, fmt.Sprintf(`127\.0\.0\.1 \d+ 127\.0\.0\.1 %d segment [1-9]\d*`, port))
		}
		if rows < 2 {
			t.Errorf("%v: %d segments of connections without room\nstdout: %s\nstderr: %s", flags, rows,
				excerpt(e.stdout), excerpt(e.stderr))
		}
	}
}

// What is sent again, and why: data that nobody hears, first as a probe for losses; the first segment of a connection
// whose answer is not heard, and that answer.
func TestTcpretransKinds(t *testing.T) {
	needKernelFunctions(t)
	const all = `
n = count()
again = event(("tracepoint:tcp:tcp_retransmit_skb",
               lambda e: record(pid = 0, sport = e.args.sport, dport = e.args.dport)))
probe(again, kernel = lambda e: n[e.sport, e.dport].add())
at_exit(lambda: [print("all", sport, dport, times) for (sport, dport), times in n.take().items()])
`
	e, d := wholeSystem(t, []string{"tcpretrans"}, all, "unheard", "3")
	port := d.FDs["port"]
	to := fmt.Sprintf(`127\.0\.0\.1 \d+ 127\.0\.0\.1 %d`, port)
	probes, again := rowsLike(e, to+" TLP ESTABLISHED"), rowsLike(e, to+" segment (?:ESTABLISHED|SYN_SENT)")
	checkAccount(t, e, probes, d.Calls)
	every := 0
	for _, m := range regexp.MustCompile(fmt.Sprintf(`(?m)^all \d+ %d (\d+)$`, port)).FindAllStringSubmatch(e.stdout,
		-1) {
		every += number(t, m[1], `(\d+)`)
	}
	checkAccount(t, e, probes+again, every)
	first, answers := rowsLike(e, to+" segment SYN_SENT"), rowsLike(e,
		fmt.Sprintf(`127\.0\.0\.1 %d 127\.0\.0\.1 \d+ SYN-ACK SYN_RECV`, port))
	if (first != d.Sizes[0] || answers == 0) && e.lost(t) == 0 {
		t.Errorf("the first segment was sent again %d times, want %d, the answer %d times: %s\nstderr: %s", first,
			d.Sizes[0], answers, e.stdout, excerpt(e.stderr))
	}
}

// waitingConnections runs the workload backlog and gives its port.
func waitingConnections(t *testing.T) (port int, stop func()) {
	t.Helper()
	cmd := exec.Command(program(t, "workload"), "backlog", "6")
	in, line := speaking(t, cmd)
	return number(t, line, `^port (\d+)`), func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
