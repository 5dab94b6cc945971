package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// number is the first group of a pattern in a text, as a number.
func number(t testing.TB, text, pattern string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing like %s in %s", pattern, excerpt(text))
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// linesWith are the lines that contain a text.
func linesWith(text, part string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			out = append(out, strings.TrimRight(line, "\n"))
		}
	}
	return out
}

func TestOpensnoop(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"opensnoop", "-n", "wl-op"}, "opens", "300", "3", dir)
	if !strings.HasPrefix(e.stdout, "PID     COMM               FD ERR PATH\n") {
		t.Errorf("header %q", excerpt(e.stdout))
	}
	rows := linesWith(e.stdout, dir+"/")
	failed := 0
	row := regexp.MustCompile(fmt.Sprintf(`^%-7d %-16s +(-?\d+) +(\d+) %s/(missing|file)-`, d.PID, d.Comm, dir))
	for _, line := range rows {
		m := row.FindStringSubmatch(line)
		if m == nil || (m[3] == "missing") != (m[1] == "-1" && m[2] == "2") {
			t.Fatalf("got row %q", line)
		}
		if m[3] == "missing" {
			failed++
		}
	}
	checkAccount(t, e, len(rows), d.Calls)
	checkAccount(t, e, failed, d.Failed)
	if others := linesWith(e.stdout, "/proc"); len(others) > 0 {
		t.Errorf("opens of another program than was asked for: %q", others)
	}
}

// The flags by name, and the whole path of what the program calls by another.
func TestOpensnoopFull(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	e := startrace(t, "opensnoop", "--flags", "--full", "-T", "-c", fmt.Sprintf(`sh -c "cd %s; : >./made"`, dir)).ok(t)
	e.has(t, `(?m)^TIME +PID +COMM +FD ERR FLAGS +PATH$`)
	e.has(t, `(?m)^\d\d:\d\d:\d\d +\d+ +sh +\d+ +0 O_WRONLY\|O_CREAT\|O_TRUNC(\|O_\w+)* +`+regexp.QuoteMeta(dir)+
		`/made$`)
}

func TestOpensnoopFailed(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"opensnoop", "-x"}, "opens", "300", "3", dir)
	if rows := linesWith(e.stdout, dir+"/file"); len(rows) > 0 {
		t.Errorf("got an open that did not fail: %q", rows[0])
	}
	checkAccount(t, e, len(linesWith(e.stdout, dir+"/missing")), d.Failed)
}

func TestFailedopensTool(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"failedopens"}, "opens", "300", "3", dir)
	rows := linesWith(e.stdout, dir+"/missing")
	checkAccount(t, e, len(rows), d.Failed)
	if want := fmt.Sprintf("%-16s %-7d %-12s %s/missing-", d.Comm, d.PID, "ENOENT", dir); !strings.HasPrefix(rows[0],
		want) {
		t.Errorf("got %q, want %q…", rows[0], want)
	}
}

// Programs with their arguments; one that is not there is shown by the name of who tried.
func TestExecsnoop(t *testing.T) {
	needTracing(t)
	e := startrace(t, "execsnoop", "-c", `sh -c "`+program(t,
		"workload")+` -report /dev/null 'getppid' 1; /nonexistent/program 'a b' c; true"`).ok(t)
	if !strings.HasPrefix(e.stdout, "PCOMM            PID     PPID    RET ARGS\n") {
		t.Errorf("header %q", excerpt(e.stdout))
	}
	shell := number(t, e.stdout, `(?m)^\S+ +(\d+) +\d+ +0 sh -c `)
	for _, pattern := range []string{
		`(?m)^workload +\d+ +%d +0 \S+/workload -report /dev/null getppid 1$`,
		`(?m)^\S+ +\d+ +%d +-2 /nonexistent/program a b c$`,
	} {
		e.has(t, fmt.Sprintf(pattern, shell))
	}
}

// A call that fails is shown by the file that it tried: a shell tries a name in many folders.
func TestExecsnoopTried(t *testing.T) {
	needTracing(t)
	e := startrace(t, "execsnoop", "-x", "--quote", "-c", `env PATH=/nonexistent/a:/nonexistent/b wl-none "a  b" "" c`)
	e.wantRows(t, "PCOMM PID PPID RET ARGS", `\S+ \d+ \d+ -2 "/nonexistent/a/wl-none" "a b" "" "c"`,
		`\S+ \d+ \d+ -2 "/nonexistent/b/wl-none" "a b" "" "c"`)
}

// Only what could not be started, and the user's number.
func TestExecsnoopFailed(t *testing.T) {
	needTracing(t)
	e := startrace(t, "execsnoop", "-x", "-U", "-c", `sh -c "/nonexistent/program a; true"`).ok(t)
	e.wantRows(t, "UID PCOMM PID PPID RET ARGS", `0 \S+ \d+ \d+ -2 /nonexistent/program a`)
}

// The most frequent calls, by name and by program, and only those that fail.
func TestSyscount(t *testing.T) {
	const calls = 20_000
	e, _ := tool(t, []string{"syscount", "-T", "3", "-i", "1h"}, "getppid", strconv.Itoa(calls), "4")
	checkAccount(t, e, number(t, e.stdout, `(?m)^getppid +(\d+) +\d+$`), calls)
	if rows := strings.Count(e.stdout, "\n"); rows != 2+3 {
		t.Errorf("%d lines, want a header and 3 rows: %s", rows, e.stdout)
	}

	e, d := tool(t, []string{"syscount", "-P", "-i", "1h"}, "getppid", strconv.Itoa(calls), "4")
	if n := number(t, e.stdout, fmt.Sprintf(`(?m)^%d +wl-getppid +(\d+) `, d.PID)); n+e.lost(t) < calls {
		t.Errorf("%d calls by program, want at least %d", n, calls)
	}

	e, d = tool(t, []string{"syscount", "-x", "-i", "1h"}, "opens", "300", "2", t.TempDir())
	if n := number(t, e.stdout, `(?m)^openat +(\d+) `); n+e.lost(t) < d.Failed || n > d.Failed+50 {
		t.Errorf("%d failed opens, want %d and those of the start", n, d.Failed)
	}
}

// Calls that never return have no result: a filter that asks for it does not hold for them.
func TestFailedOfAll(t *testing.T) {
	const text = `
failed = count()
probe("syscall:*", lambda e: failed[e.func].add(), where = lambda e: e.ret < 0 and e.comm == "wl-opens")
at_exit(lambda: [printf("%s: %d\n", name, n) for name, n in failed.items()])
`
	e, d := traced(t, text, nil, "opens", "300", "2", t.TempDir())
	checkAccount(t, e, number(t, e.stdout, `(?m)^openat: (\d+)$`), d.Failed)
}

// The parts of an interval sum to the whole.
func TestSyscountIntervals(t *testing.T) {
	const calls = 200_000
	e, _ := tool(t, []string{"syscount", "-i", "20ms", "--format", "json"}, "getppid", strconv.Itoa(calls), "4")
	seen, parts := 0, 0
	for _, line := range linesWith(e.stdout, `"key":["getppid"]`) {
		seen += number(t, line, `"count":(\d+)`)
		parts++
	}
	if parts < 2 {
		t.Errorf("%d parts in %s", parts, excerpt(e.stdout))
	}
	checkAccount(t, e, seen, calls)
}

// fewestWaits is how often threads that share a CPU wait in a second at least: as often as there are threads. How much
// oftener depends on the scheduler and on how fast the machine is.
const fewestWaits = 3

// Three threads on one CPU: two of them wait at any time, so together they wait twice as long as they run.
func TestSlowprocsTool(t *testing.T) {
	e, d := tool(t, []string{"slowprocs", "--threshold", "1ms"}, "spin", "3", "1s")
	if !strings.HasPrefix(e.stdout, "slowprocs") {
		t.Errorf("no banner: %s", excerpt(e.stdout))
	}
	if waits := bars(t, e.stdout, fmt.Sprintf("slowprocs[wl-spin, %d] (ms):", d.PID)); waits < fewestWaits {
		t.Errorf("%d waits of three threads on one CPU for a second\n%s", waits, excerpt(e.stdout))
	}
}

// Three programs on one CPU: a histogram for each, though -c names only the shell that starts them. (S1-16, S1-25)
//
// > The test is of `e.pid`, as an event's own fields have it.
// > So `-p` works for `slow()`, whose events happen while another thread runs.
func TestSlowprocsPrograms(t *testing.T) {
	needTracing(t)
	spin := program(t, "workload") + " -report /dev/null spin 1 400ms"
	e := startrace(t, "slowprocs", "--threshold", "1ms", "-c",
		fmt.Sprintf(`sh -c "%s & %s & %s; wait"`, spin, spin, spin)).ok(t)
	titles := regexp.MustCompile(`(?m)^slowprocs\[wl-spin, \d+\] \(ms\):$`).FindAllString(e.stdout, -1)
	if len(titles) != 3 {
		t.Fatalf("%d histograms of three programs\n%s\nstderr: %s", len(titles), excerpt(e.stdout), excerpt(e.stderr))
	}
	for _, title := range titles {
		if waits := bars(t, e.stdout, title); waits < 1 {
			t.Errorf("%s no wait of a program beside two others on one CPU", title)
		}
	}
}

// The processes of one name together have one histogram, however many there are: the table does not grow with them.
func TestSlowprocsByComm(t *testing.T) {
	needTracing(t)
	spin := program(t, "workload") + " -report /dev/null spin 1 400ms"
	e := startrace(t, "slowprocs", "--by", "comm", "--threshold", "1ms", "-c",
		fmt.Sprintf(`sh -c "%s & %s & %s; wait"`, spin, spin, spin)).ok(t)
	if waits := bars(t, e.stdout, "slowprocs[wl-spin] (ms):"); waits < 3 {
		t.Errorf("%d waits of three programs on one CPU\n%s", waits, excerpt(e.stdout))
	}
	if regexp.MustCompile(`slowprocs\[[^\]]*, `).MatchString(e.stdout) {
		t.Errorf("a histogram for each process: %s", excerpt(e.stdout))
	}
}

// The whole system, with the threshold of the article.
//
// > Without a flag startrace traces all processes.
func TestSlowprocsSystem(t *testing.T) {
	needGuest(t)
	needTracing(t)
	spin := exec.Command(program(t, "workload"), "spin", "4", "20s")
	if err := spin.Start(); err != nil {
		t.Fatal(err)
	}
	defer spin.Wait()
	defer spin.Process.Kill()
	e := startrace(t, "slowprocs", "--threshold", "5ms", "--duration", "4s").ok(t)
	if waits := bars(t, e.stdout, fmt.Sprintf("slowprocs[wl-spin, %d] (ms):", spin.Process.Pid)); waits < fewestWaits {
		t.Errorf("%d waits of four threads on one CPU for 4 seconds\n%s\nstderr: %s", waits, excerpt(e.stdout),
			excerpt(e.stderr))
	}
	if strings.Contains(e.stdout, "swapper") {
		t.Errorf("the idle task waited: %s", excerpt(e.stdout))
	}
}

// bars sums the counts of the histogram under a title.
func bars(t *testing.T, text, title string) (total int) {
	t.Helper()
	_, after, found := strings.Cut(text, title+"\n")
	if !found {
		t.Fatalf("no histogram %q in %s", title, excerpt(text))
	}
	for line := range strings.Lines(after) {
		m := regexp.MustCompile(`^\[[^\])]*[\])] +(\d+) \|`).FindStringSubmatch(line)
		if m == nil {
			break
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

// The event of slowprocs with a handler and a filter of another script.
func TestSlowModule(t *testing.T) {
	const text = `
load("std/slowprocs.star", "slow")
probe(slow(2 * MSEC), lambda e: printf("%s %d %d %d\n", e.comm, e.pid, e.tid, e.waited),
      where = lambda e: e.comm == "wl-spin")
`
	e, d := traced(t, text, nil, "spin", "3", "1s")
	lines := linesWith(e.stdout, "wl-spin ")
	if len(lines) < fewestWaits {
		t.Errorf("%d waits of three threads on one CPU for a second; stderr: %s", len(lines), excerpt(e.stderr))
	}
	threads := map[int]bool{}
	for _, tid := range d.TIDs {
		threads[tid] = true
	}
	for _, line := range lines {
		var pid, tid, waited int
		if _, err := fmt.Sscanf(line, "wl-spin %d %d %d", &pid, &tid, &waited); err != nil || pid != d.PID ||
			!threads[tid] || waited < 2e6 || waited > 60e9 {
			t.Fatalf("line %q: want process %d, one of the threads %v and a wait above 2 ms; %v", line, d.PID, d.TIDs,
				err)
		}
	}
}

func TestLate(t *testing.T) {
	e, d := tool(t, []string{"late", "--name", "wl-spin", "--threshold", "2ms"}, "spin", "3", "1s")
	row := regexp.MustCompile(fmt.Sprintf(`^\d\d:\d\d:\d\d wl-spin\[%d\] waited (\d+)\.\d ms$`, d.PID))
	lines := linesWith(e.stdout, " waited ")
	for _, line := range lines {
		if m := row.FindStringSubmatch(line); m == nil || number(t, line, `waited (\d+)`) < 2 {
			t.Fatalf("got line %q, want %s of at least 2 ms", line, row)
		}
	}
	if len(lines) < fewestWaits {
		t.Errorf("%d waits of three threads on one CPU for a second", len(lines))
	}
}

func TestRunqlat(t *testing.T) {
	e, _ := tool(t, []string{"runqlat"}, "spin", "3", "1s")
	if waits := bars(t, e.stdout, "wait (us):"); waits < fewestWaits {
		t.Errorf("%d waits of three threads on one CPU for a second\n%s", waits, excerpt(e.stdout))
	}
	e, d := tool(t, []string{"runqlat", "-m", "-P"}, "spin", "3", "1s")
	if waits := bars(t, e.stdout, fmt.Sprintf("wait[%d] (ms):", d.PID)); waits < fewestWaits {
		t.Errorf("%d waits of three threads on one CPU for a second\n%s", waits, excerpt(e.stdout))
	}
}

// Samples of a program that does nothing but calls of the kernel, by function. (S2-08)
func TestHotkernel(t *testing.T) {
	e, _ := tool(t, []string{"hotkernel"}, "reads", strconv.Itoa(scaled(1_000_000)), "4096")
	samples, share, seen := 0, 0.0, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-zA-Z_][\w.]*) +(\d+) +(\d+\.\d)%$`).FindAllStringSubmatch(e.stdout,
		-1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		percent, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		samples, share = samples+n, share+percent
		if seen[m[1]] { // addresses with one name are one key
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	if rounded := 0.05*float64(len(seen)) + 0.01; samples < 10 || share < 100-rounded ||
		share > 100+rounded { // each has one decimal
		t.Errorf("%d samples, %.1f%% in all\n%s\nstderr: %s", samples, share, excerpt(e.stdout), excerpt(e.stderr))
	}
}

// Reads and writes of each file, by its name.
func TestFiletop(t *testing.T) {
	const reads = 999
	e, d := tool(t, []string{"filetop", "-i", "1h"}, "reads", strconv.Itoa(reads), "1,64,4096")
	row := regexp.MustCompile(fmt.Sprintf(`(?m)^ *%d +wl-reads +zero +\S+ +\d+ +(\d+) +0 +(\d+) +0 +\d+$`,
		d.PID)).FindStringSubmatch(e.stdout)
	if row == nil {
		t.Fatalf("no row of the reads in %s", excerpt(e.stdout))
	}
	checkAccount(t, e, number(t, row[0], ` zero +\S+ +\d+ +(\d+)`), reads)
	if bytes := number(t, row[0], ` zero +\S+ +\d+ +\d+ +0 +(\d+)`); bytes != d.Bytes && e.lost(t) == 0 {
		t.Errorf("%d bytes, want %d", bytes, d.Bytes)
	}

	e, d = tool(t, []string{"filetop", "-i", "1h"}, "files", t.TempDir())
	for _, want := range []string{`deep file +\S+ +\d+ +0 +2 +0 +12 +12`, `memfd:wl-mem +\S+ +\d+ +0 +1 +0 +9 +9`} {
		e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-files +%s$`, d.PID, want))
	}
}

// A line for each call, and the path of each kind of file. (S1-06, S1-13, S1-26)
func TestFatrace(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fatrace"}, "files", dir)
	inner := regexp.QuoteMeta(dir) + "/inner"
	checkLines(t, e, d, dir, []string{
		fmt.Sprintf(`openat: %s flags %x mode 0 = %d`, inner, unix.O_DIRECTORY, d.FDs["folder"]),
		fmt.Sprintf(`openat: \[at fd %d\]deep file flags c2 mode 640 = %d`, d.FDs["folder"], d.FDs["file"]),
		fmt.Sprintf(`write fd %d size 5 %s/deep file`, d.FDs["file"], inner),
		fmt.Sprintf(`write fd %d size 7 %s/deep file \(deleted\)`, d.FDs["file"], inner),
		fmt.Sprintf(`write fd %d size 3 pipe:\[\d+\]`, d.FDs["pipe"]),
		fmt.Sprintf(`write fd %d size 9 /memfd:wl-mem \(deleted\)`, d.FDs["memory"]),
		fmt.Sprintf(`write fd %d size 4 socket:\[\d+\]`, d.FDs["socket"]),
		`read fd \d+ size 16 pipe:\[\d+\]`,
	})
}

// The lines of the real fatrace: whole paths of files, nothing of pipes and sockets. (S1-10, S1-11)
func TestFatraceClassic(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fatrace", "--classic"}, "files", dir)
	inner := regexp.QuoteMeta(dir) + "/inner"
	checkLines(t, e, d, dir, []string{
		`RO ` + inner, `\+ ` + inner, `CRWO ` + inner + `/deep file`, `W ` + inner + `/deep file`,
		`D ` + inner, `W ` + inner + `/deep file \(deleted\)`, `CW ` + inner + `/deep file \(deleted\)`, `C ` + inner,
	})
	if workload := program(t, "workload"); len(linesWith(e.stdout, "): RO "+workload)) != 1 {
		t.Errorf("want one line of the program that was started, %s:\n%s", workload, excerpt(e.stdout))
	}
}

// Files that a process has when it ends are closed then, each once, also where it has mapped them.
func TestFatraceLeft(t *testing.T) {
	path := traceable(t, "leaves")
	dir := t.TempDir()
	command := fmt.Sprintf(`sh -c "%s %s/mapped %s/open; true"`, path, dir, dir)
	e := startrace(t, "fatrace", "--classic", "-c", command).ok(t)
	for name, want := range map[string]string{"mapped": "CW", "open": "C"} {
		closed := fmt.Sprintf(`(?m)^leaves\(\d+\): %s %s/%s$`, want, regexp.QuoteMeta(dir), name)
		if n := len(regexp.MustCompile(closed).FindAllString(e.stdout, -1)); n != 1 && e.lost(t) == 0 {
			t.Errorf("%d lines like %s in\n%s", n, closed, excerpt(e.stdout))
		}
	}
}

// All ways in which names come, change and go, and in which a file gets another length, against what fatrace(8) 0.17
// shows of them: its lines, but that it has O where these have RO and RWO, and the events of one moment in one line.
func TestFatraceNames(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	e, d := tool(t, []string{"fatrace", "--classic"}, "names", dir)
	in := regexp.QuoteMeta(dir)
	checkLines(t, e, d, dir, []string{
		`\+ ` + in, `\+ ` + in, `\+ ` + in + `/sub`, `\+ ` + in, `\+ ` + in + `/sub`, `\+ ` + in, // given
		`W ` + in + `/file`, `RWO ` + in + `/file`, `W ` + in + `/file`, `W ` + in + `/file`, `CW ` + in + `/file`,
		`<> ` + in, `< ` + in, `> ` + in + `/sub`, // renamed
		`< ` + in, `> ` + in + `/sub`, `< ` + in + `/sub`, `> ` + in, // exchanged
		`RO ` + in + `/sub`, `R ` + in + `/sub`, `R ` + in + `/sub`, `C ` + in + `/sub`, // listed
		`D ` + in + `/sub`, `D ` + in + `/sub`, `D ` + in + `/sub`, `D ` + in, `D ` + in, `D ` + in,
	})
}

// checkLines compares the lines of the workload's thread with patterns, in order. Where the kernel has skipped
// events some may be missing. The thread may be the last of its process that ends: what it closes then, of files
// outside of dir, as that of the program, is not asked for.
func checkLines(t *testing.T, e ended, d done, dir string, want []string) {
	t.Helper()
	head := fmt.Sprintf("%s(%d)", d.Comm, d.PID)
	got := slices.DeleteFunc(linesWith(e.stdout, head), func(line string) bool {
		return strings.HasPrefix(line, head+": C ") && !strings.Contains(line, dir)
	})
	lost := e.skipped(t) > 0
	rest := got
	for _, pattern := range want {
		re := regexp.MustCompile("^" + regexp.QuoteMeta(head) + ":? " + pattern + "$")
		switch {
		case len(rest) > 0 && re.MatchString(rest[0]):
			rest = rest[1:]
		case !lost:
			t.Fatalf("want %s in line %d of\n%s\nstderr: %s", re, len(got)-len(rest), strings.Join(got, "\n"),
				excerpt(e.stderr))
		}
	}
	if len(rest) > 0 {
		t.Errorf("not expected: %s in\n%s", rest[0], strings.Join(got, "\n"))
	}
}

// has fails the test unless there is a line as the pattern says, or it may be an event that the kernel skipped.
func (e ended) has(t *testing.T, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(e.stdout) && e.skipped(t) == 0 {
		t.Errorf("nothing like %s in\n%s\nstderr: %s", pattern, excerpt(e.stdout), excerpt(e.stderr))
	}
}

// The commands of the article that fatrace is shown with, by a shell. (S1-06, S1-10, S1-11)
func TestFatraceShell(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	motd := filepath.Join(dir, "motd")
	if err := os.WriteFile(motd, []byte("welcome\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf(`sh -c "cd %s; head motd; rm -f somefile; echo hello > somefile; echo >> somefile"`, dir)
	somefile := regexp.QuoteMeta(filepath.Join(dir, "somefile"))
	e := startrace(t, "fatrace", "-c", command).ok(t)
	for _, pattern := range []string{
		`(?m)^\w+\(\d+\) openat: motd flags 0 mode 0 = \d+$`,
		`(?m)^\w+\(\d+\) read fd \d+ size \d+ ` + regexp.QuoteMeta(motd) + `$`,
		`(?m)^\w+\(\d+\) openat: somefile flags 241 mode 666 = \d+$`,
		`(?m)^\w+\(\d+\) write fd 1 size 6 ` + somefile + `$`,
	} {
		e.has(t, pattern)
	}
	e = startrace(t, "fatrace", "--classic", "-c", command).ok(t)
	for _, pattern := range []string{
		`(?m)^\w+\(\d+\): RO ` + regexp.QuoteMeta(motd) + `$`,
		`(?m)^\w+\(\d+\): R ` + regexp.QuoteMeta(motd) + `$`,
		`(?m)^\w+\(\d+\): CWO ` + somefile + `\n(.*\n)+\w+\(\d+\): WO ` + somefile + `$`, // created, found
	} {
		e.has(t, pattern)
	}
	if lines := linesWith(e.stdout, "unknown"); len(lines) > 0 {
		t.Errorf("a process without a name: %s", lines[0])
	}
}
