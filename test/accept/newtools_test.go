package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// wantRows compares the rows of a table, below its header, which is given as words, with patterns in order; each is the
// whole row, with any number of blanks where it has one.
func (e ended) wantRows(t *testing.T, header string, patterns ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(e.stdout, "\n"), "\n")
	if got := strings.Join(strings.Fields(lines[0]), " "); got != header {
		t.Errorf("the header is %q, want %q", got, header)
	}
	rows := lines[1:]
	for i := range max(len(rows), len(patterns)) {
		switch {
		case i >= len(rows):
			t.Errorf("no row %d, want %s", i, patterns[i])
		case i >= len(patterns):
			t.Errorf("row %d is too many: %s", i, rows[i])
		case !regexp.MustCompile(`^ *` + strings.ReplaceAll(patterns[i], " ", " +") + ` *$`).MatchString(rows[i]):
			t.Errorf("row %d is %q, want %s", i, rows[i], patterns[i])
		}
	}
	if t.Failed() {
		t.Logf("stdout: %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
}

// Each process that ends has a row, children of the command too, with its status and its parent.
func TestExitsnoop(t *testing.T) {
	n := scaled(300)
	e, d := tool(t, []string{"exitsnoop"}, "exits", strconv.Itoa(n))
	if !strings.HasPrefix(e.stdout, "PCOMM            PID     PPID        AGE_S EXIT\n") {
		t.Errorf("header %q", excerpt(e.stdout))
	}
	for i, pid := range d.TIDs {
		how := "0"
		if i%256 > 0 {
			how = fmt.Sprintf("code %d", i%256)
		}
		if n := rowsLike(e, fmt.Sprintf(`\S+ %d %d \d+\.\d{3} %s`, pid, d.PID, how)); n != 1 && e.lost(t) == 0 {
			t.Errorf("%d rows of process %d, which ended with %s", n, pid, how)
		}
	}
	e, d = tool(t, []string{"exitsnoop", "-x"}, "exits", strconv.Itoa(n))
	good := (n + 255) / 256 // the first, the 257th …
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`\S+ \d+ %d \d+\.\d{3} code \d+`, d.PID)), d.Calls-good)
}

// A signal that ends a process is named.
func TestExitsnoopSignal(t *testing.T) {
	needTracing(t)
	e := startrace(t, "exitsnoop", "-x", "-c", `sh -c "sh -c 'kill -9 \$\$'; true"`).ok(t)
	e.wantRows(t, "PCOMM PID PPID AGE_S EXIT", `sh \d+ \d+ \d+\.\d+ signal 9 \(SIGKILL\)`)
}

// signalling sends itself nothing, a signal that it ignores, and one to a process that there cannot be.
const signalling = `sh -c "trap '' USR1; kill -0 $$; kill -USR1 $$; kill -9 4194303; true"`

func TestKillsnoop(t *testing.T) {
	needTracing(t)
	test, sent, gone := `(\d+) sh 0 \d+ 0`, `(\d+) sh SIGUSR1 \d+ 0`, `(\d+) sh SIGKILL 4194303 ESRCH`
	for _, tt := range []struct {
		flags []string
		want  []string
	}{{nil, []string{test, sent, gone}}, {[]string{"-x"}, []string{gone}}, {[]string{"-s", "10"}, []string{sent}},
		{[]string{"--target", "4194303"}, []string{gone}}} {
		e := startrace(t, append(append([]string{"killsnoop"}, tt.flags...), "-c", signalling)...).ok(t)
		e.wantRows(t, "PID COMM SIG TPID RESULT", tt.want...)
		pid := number(t, e.stdout, `(?m)^(\d+) +sh`)
		if tt.flags == nil {
			e.has(t, fmt.Sprintf(`(?m)^%d +sh +SIGUSR1 +%d 0$`, pid, pid))
		}
	}
}

// Each call that sends a signal, with whom it is for: also where a descriptor of a process says that.
func TestKillsnoopCalls(t *testing.T) {
	e, d := tool(t, []string{"killsnoop", "-s", "0"}, "signals")
	self := d.FDs["selves"] / 2 // the process, and the thread
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%d wl-signals 0 %d 0`, d.PID, d.PID)), 5+self)
	// tkill names no process.
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%d wl-signals 0 %d 0`, d.PID, d.TIDs[0])), 1+self)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%d wl-signals 0 - EBADF`, d.PID)), d.Failed)
	checkAccount(t, e, strings.Count(e.stdout, "\n")-1, d.Calls)
}

// A signal is chosen by its name as by its number.
func TestSignalByName(t *testing.T) {
	needTracing(t)
	const command = `sh -c "sleep 9 & kill -0 $!; kill -9 $!; true"`
	for _, sig := range []string{"9", "KILL", "sigkill"} {
		e := startrace(t, "-q", "killsnoop", "-s", sig, "-c", command).ok(t)
		if lines := linesWith(e.stdout, "sh "); e.skipped(t) == 0 &&
			(len(lines) != 1 || !strings.Contains(lines[0], " SIGKILL ")) {
			t.Errorf("killsnoop -s %s: %q", sig, lines)
		}
	}
}

func TestSigsnoop(t *testing.T) {
	needTracing(t)
	e := startrace(t, "sigsnoop", "-s", "10", "-c", signalling).ok(t)
	e.wantRows(t, "PID COMM SIG TPID TTID TCOMM BY RESULT", `\d+ sh SIGUSR1 \d+ \d+ sh program ignored`)
	// What the kernel sends is its own, also where a program sees the code of a user.
	e = startrace(t, "sigsnoop", "-s", "13", "-c", `sh -c "(trap - PIPE; yes) | true"`).ok(t)
	e.has(t, `(?m)^\d+ +\S+ +SIGPIPE +\d+ +\d+ +\S+ +kernel +(delivered|ignored)$`)
	e = startrace(t, "sigsnoop", "-s", "17", "-c", `sh -c "sh -c 'exit 3'; true"`).ok(t)
	e.has(t, `(?m)^\d+ +sh +SIGCHLD +\d+ +\d+ +sh +(kernel|program) +(delivered|ignored)$`)
}

func TestStatsnoop(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	command := fmt.Sprintf(`sh -c "test -e %s; test -e %s/gone; true"`, dir, dir)
	e := startrace(t, "statsnoop", "-c", command).ok(t)
	e.has(t, `(?m)^\d+ +sh +(new)?f?stat(at|x)? +0 `+regexp.QuoteMeta(dir)+`$`)
	e.has(t, `(?m)^\d+ +sh +(new)?f?stat(at|x)? +2 `+regexp.QuoteMeta(dir)+`/gone$`)
	e = startrace(t, "statsnoop", "-x", "-n", "sh", "-c", command).ok(t)
	if rows := linesWith(e.stdout, dir); len(rows) != 1 || !strings.HasSuffix(rows[0], dir+"/gone") {
		t.Errorf("want one call that failed: %q", rows)
	}
	e = startrace(t, "statsnoop", "-x", "-n", "sh", "-c", `sh -c "test -e ''; true"`).ok(t) // of no file
	e.has(t, `(?m)^\d+ +sh +(new)?f?stat(at|x)? +2 *$`)
}

// A descriptor without a name, an empty one or NULL, is shown by its path.
func TestStatsnoopDescriptor(t *testing.T) {
	needTracing(t)
	name := filepath.Join(t.TempDir(), "asked")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	call, ok := kernel.SyscallByName("newfstatat")
	if !ok {
		t.Fatal("no system call newfstatat")
	}
	r := start(t, script(t, `
load("std/statsnoop.star", "asked")
probe(asked(), lambda e: print(e.path))
`+attached), "-p", fmt.Sprint(os.Getpid()))
	r.await(t, "attached")
	want := 0
	var buf unix.Stat_t
	for _, empty := range []*byte{new(byte), nil} {
		_, _, errno := unix.Syscall6(uintptr(call.Nr), f.Fd(), uintptr(unsafe.Pointer(empty)),
			uintptr(unsafe.Pointer(&buf)), unix.AT_EMPTY_PATH, 0, 0)
		if errno == 0 { // before 6.11 NULL is no name
			want++
		}
	}
	e := r.interrupt(t).ok(t)
	if rows := linesWith(e.stdout, name); len(rows) != want && e.skipped(t) == 0 {
		t.Errorf("%d rows of %d calls: %s", len(rows), want, excerpt(e.stdout))
	}
}

func TestSyncsnoop(t *testing.T) {
	needTracing(t)
	file := filepath.Join(t.TempDir(), "file")
	command := fmt.Sprintf("dd if=/dev/zero of=%s bs=100 count=1 conv=fsync", file)
	e := startrace(t, "syncsnoop", "-c", command).ok(t)
	e.wantRows(t, "PID COMM CALL MS RET FILE", `\d+ dd fsync \d+\.\d{3} 0 `+regexp.QuoteMeta(file))
	if e = startrace(t, "syncsnoop", "--min", "1h", "-c", command).ok(t); strings.Count(e.stdout, "\n") > 1 {
		t.Errorf("calls of less than an hour: %s", e.stdout)
	}
}

func TestMountsnoop(t *testing.T) {
	needTracing(t)
	need.Program(t, "unshare")
	dir := t.TempDir()
	e := startrace(t, "mountsnoop", "-c",
		fmt.Sprintf(`unshare -m sh -c "mount -t tmpfs -o ro none %s; umount %s; umount %s/gone; true"`, dir, dir,
			dir)).ok(t)
	quoted := regexp.QuoteMeta(dir)
	e.has(t, `(?m)^\d+ +(mount|busybox|sh) +\d+ +mount +0 +tmpfs +RDONLY\S* +"none" on "`+quoted+`"$`)
	e.has(t, `(?m)^\d+ +(umount|busybox|sh) +\d+ +umount +0 +- +0 +"`+quoted+`"$`)
	if strings.Contains(e.stdout, "/gone") { // some versions of umount look first
		e.has(t, `(?m)^\d+ +(umount|busybox|sh) +\d+ +umount +ENOENT +- +\S+ +"`+quoted+`/gone"$`)
	}
	namespaces := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +\S+ +(\d{5,}) `).FindAllStringSubmatch(e.stdout, -1) {
		namespaces[m[1]] = true
	}
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	for ns := range namespaces {
		if strings.Contains(own, ns) {
			t.Errorf("%s is the namespace of this process, not of the command", ns)
		}
	}
	if len(namespaces) != 1 {
		t.Errorf("namespaces %v, want one", namespaces)
	}
}

// A mount that is made step by step is one line, with what it became; each step that fails is one, too, also
// where what it is given is nowhere.
func TestMountsnoopSteps(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"mountsnoop"}, "mounts", dir)
	const who = `%d wl-mounts \d+ `
	at := regexp.QuoteMeta(dir)
	want := []string{
		`mount 0 \S* ?REC\|PRIVATE "" on "/"`,
		`move_mount 0 tmpfs NOSUID(\|NODEV)?\|F_EMPTY_PATH "wl-source" on "` + at + `"`,
		`mount_setattr 0 - NOEXEC\|-NODEV "` + at + `"`,
		`fsconfig 0 tmpfs RDONLY\|REMOUNT "` + at + `"`,
		`umount 0 - DETACH\|NOFOLLOW "` + at + `"`,
		`mount 0 tmpfs NODEV "wl-old" on "` + at + `" \(size=1m\)`,
		`umount 0 - 0 "` + at + `"`,
		`fsopen ENODEV wl-none 0`,
		`fsmount EINVAL tmpfs 0`,
		`fsconfig EINVAL tmpfs 0 \(wl-option\)`,
		`move_mount ENOENT tmpfs RDONLY\|F_EMPTY_PATH "none" on "` + at + `/wl-gone"`,
		`move_mount ENOENT - F_SYMLINKS\|T_AUTOMOUNTS "` + at + `/wl-gone" on "/"`,
		`umount EINVAL - FORCE\|EXPIRE "` + at + `"`,
		`open_tree ENOENT - CLONE\|CLOEXEC\|RECURSIVE "` + at + `/wl-gone"`,
		`fsconfig EINVAL - 0 \(wl-nothing\)`,
		`fsconfig EBUSY tmpfs REMOUNT`,
		`fsopen EFAULT - 0`,
		`fsconfig EBADF - 0`,
		`fsconfig EBADF - REMOUNT`,
		`fsmount EBADF - NOEXEC`,
		`fsmount EINVAL - 0`,
		`move_mount EFAULT - T_SYMLINKS`,
		`fspick EFAULT - REMOUNT\|NO_AUTOMOUNT`,
		`open_tree EFAULT - CLONE`,
		`open_tree_attr E(FAULT|NOSYS) - CLONE`,
	}
	if atLeast(t, 5, 12) {
		want = append(want, `mount_setattr ENOENT - RDONLY "`+at+`/wl-gone"`, `mount_setattr EFAULT - 0`,
			`mount_setattr EINVAL - 0`)
	} else {
		want = slices.DeleteFunc(want, func(row string) bool { return strings.HasPrefix(row, "mount_setattr") })
		want = append(want, slices.Repeat([]string{`mount_setattr ENOSYS - \S+ ?.*`}, 5)...)
	}
	for _, row := range want {
		checkAccount(t, e, min(rowsLike(e, fmt.Sprintf(who, d.PID)+row), 1), 1)
	}
	if n := strings.Count(e.stdout, "\n") - 1; n > len(want) {
		t.Errorf("%d lines of %d mounts and failures:\n%s", n, len(want), e.stdout)
	}
	e, d = tool(t, []string{"mountsnoop", "-x"}, "mounts", dir)
	checkAccount(t, e, rowsLike(e, `\d+ wl-mounts \d+ \w+ E[A-Z]+ .*`), d.Failed)
	checkAccount(t, e, strings.Count(e.stdout, "\n")-1, d.Failed)
}

// A thread has the CPU once between two switches, which the kernel counts too.
func TestCpudist(t *testing.T) {
	e, d := traced(t, `
load("std/cpudist.star", "ran")
runs = count(by = "tid")
switches = table()
probe(ran(), kernel = lambda e: runs[e.tid].add(), where = lambda e: e.comm == "wl-spin")
def last(e):
    switches[e.tid] = e.task.nvcsw + e.task.nivcsw
probe("tracepoint:sched:sched_process_exit", last, where = lambda e: e.comm == "wl-spin")
at_exit(lambda: [printf("tid %d ran %d of %d\n", tid, runs[tid].value, n) for tid, n in switches.items()])
`, nil, "spin", "3", "500ms")
	for _, tid := range d.TIDs {
		ran, switches := number(t, e.stdout, fmt.Sprintf(`(?m)^tid %d ran (\d+) `, tid)),
			number(t, e.stdout, fmt.Sprintf(`(?m)^tid %d ran \d+ of (\d+)$`, tid))
		// It began on a CPU that it got under another name, and is switched away a few times more while it ends.
		if ran < 1 || ran > switches+5 {
			t.Errorf("thread %d had the CPU %d times, the kernel counts %d switches", tid, ran, switches)
		}
	}
	e, d = tool(t, []string{"cpudist", "-P", "-m"}, "spin", "3", "500ms")
	if runs := bars(t, e.stdout, fmt.Sprintf("spent[wl-spin, %d] (ms):", d.PID)); runs < 3 {
		t.Errorf("three threads had the CPU %d times", runs)
	}
	// A sleep is time without a CPU, at least as long as was asked for.
	e = startrace(t, "cpudist", "-O", "-P", "-m", "-c", "sleep 0.3").ok(t)
	spent := regexp.MustCompile(`(?m)^spent\[sleep, \d+\] \(ms\):\n(?:\[.*\n)*?\[(\d+), \d+\) +1 \|`)
	if !spent.MatchString(e.stdout) || !strings.Contains(e.stdout, "[256, 512)") {
		t.Errorf("no wait of 300 ms in %s", e.stdout)
	}
}

// Of three threads on one CPU two wait at any time but the end.
func TestRunqlen(t *testing.T) {
	e, _ := tool(t, []string{"runqlen", "-F", "999"}, "spin", "3", "1s")
	if !strings.HasPrefix(e.stdout, "waiting:\n") || !strings.Contains(e.stderr,
		"Sampling the length of run queues until the command ends\n") {
		t.Errorf("got %s", excerpt(e.stdout))
	}
	long := 0
	for _, m := range regexp.MustCompile(`(?m)^\[(\d+)\] +(\d+) \|`).FindAllStringSubmatch(e.stdout, -1) {
		if length, _ := strconv.Atoi(m[1]); length >= 2 {
			n, _ := strconv.Atoi(m[2])
			long += n
		}
	}
	if all := bars(t, e.stdout, "waiting:"); long == 0 || long > all {
		t.Errorf("%d of %d samples have two threads waiting: %s", long, all, e.stdout)
	}
	e, _ = tool(t, []string{"runqlen", "-O"}, "spin", "3", "1s")
	e.has(t, `(?m)^ all +(\d\d|100)\.\d\d%$`)
}

// What sleeps is blocked as long as it sleeps, until its timer wakes it.
func TestWakeuptime(t *testing.T) {
	needTracing(t)
	e := startrace(t, "wakeuptime", "--names-only", "--min", "100ms", "-c", "sleep 0.3").ok(t)
	blockedBySleep(t, number(t, e.stdout, `(?m)^sleep +\S.* (\d+)$`))
	e = startrace(t, "wakeuptime", "--min", "100ms", "--format", "folded", "-c", "sleep 0.3").ok(t)
	e.has(t, `(?m)^sleep;.*hrtimer_wakeup;.*try_to_wake_up.* \d{6,}$`)
}

// Each slow call of a regular file has a line; devices have none.
func TestFileslower(t *testing.T) {
	needTracing(t)
	file := filepath.Join(t.TempDir(), "file")
	command := fmt.Sprintf("dd if=/dev/zero of=%s bs=700 count=30", file)
	e := startrace(t, "fileslower", "--min", "0ms", "-c", command).ok(t)
	row := regexp.MustCompile(`^dd +\d+ +write +700 +\d+\.\d\d (\S+) +` + regexp.QuoteMeta(file) + `$`)
	rows := linesWith(e.stdout, file)
	for _, line := range rows {
		if !row.MatchString(line) {
			t.Fatalf("got %q, want %s", line, row)
		}
	}
	checkAccount(t, e, len(rows), 30)
	if zero := linesWith(e.stdout, "/dev/zero"); len(zero) > 0 {
		t.Errorf("a device: %s", zero[0])
	}
	if len(rows) > 0 {
		fs := row.FindStringSubmatch(rows[0])[1]
		e = startrace(t, "fileslower", "--min", "0ms", "--fs", fs, "-c", command).ok(t)
		checkAccount(t, e, len(linesWith(e.stdout, file)), 30)
	}
	for _, flags := range [][]string{{"--min", "1h"}, {"--min", "0ms", "--fs", "nofs"}} {
		e = startrace(t, append(append([]string{"fileslower"}, flags...), "-c", command)...).ok(t)
		if strings.Count(e.stdout, "\n") > 1 {
			t.Errorf("%v: %s", flags, e.stdout)
		}
	}
}

// Each call for a file is in the histogram of its kind and file system.
func TestFsdist(t *testing.T) {
	needTracing(t)
	file := filepath.Join(t.TempDir(), "file")
	command := fmt.Sprintf("dd if=/dev/zero of=%s bs=700 count=30 conv=fsync", file)
	e := startrace(t, "fsdist", "-c", fmt.Sprintf(`sh -c "cat %s.gone; %s"`, file, command)).ok(t)
	title := regexp.MustCompile(`(?m)^time\[(\S+), write\] \(us\):$`).FindStringSubmatch(e.stdout)
	if title == nil {
		t.Fatalf("no writes in %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
	checkAccount(t, e, bars(t, e.stdout, title[0]), 30)
	checkAccount(t, e, bars(t, e.stdout, fmt.Sprintf("time[%s, sync] (us):", title[1])), 1)
	if strings.Contains(e.stderr, "ended early") { // the start of the program fails to open some files
		t.Errorf("an open that failed is no error of the tool: %s", excerpt(e.stderr))
	}
	// Of a folder as of a file, and of the whole file system by either.
	flushes := fmt.Sprintf(`sh -c "sync %[1]s; sync -d %[1]s %[2]s; sync -f %[1]s; sync -f %[2]s"`, filepath.Dir(file),
		file)
	e = startrace(t, "fsdist", "-c", flushes).ok(t)
	checkAccount(t, e, bars(t, e.stdout, fmt.Sprintf("time[%s, sync] (us):", title[1])), 5)
	e = startrace(t, "fsdist", "--fs", "nofs", "-c", command).ok(t)
	if strings.Contains(e.stdout, "|") {
		t.Errorf("calls for another file system: %s", excerpt(e.stdout))
	}
}

// A sleep is time off the CPU until its timer wakes it.
func TestOffwaketime(t *testing.T) {
	needTracing(t)
	e := startrace(t, "offwaketime", "--min", "100ms", "--format", "folded", "-c", "sleep 0.3").ok(t)
	blockedBySleep(t, number(t, e.stdout, `(?m)^sleep;.*do_nanosleep.*hrtimer_wakeup.* (\d+)$`))
}

// blockedBySleep checks for how long, in us, "sleep 0.3" was blocked. Its timer runs before the thread has left the
// CPU, from where on it is blocked: it can be preempted between, for 9 ms on a busy guest.
func blockedBySleep(t *testing.T, us int) {
	t.Helper()
	const slept, leaving = 300_000, 50_000
	if us < slept-leaving {
		t.Errorf("blocked for %d us, slept for %d", us, slept)
	}
}

// Programs that write one file wait for its lock, in the function of the file system that wants it.
func TestKlockstat(t *testing.T) {
	needTracing(t)
	if _, err := os.Stat("/sys/kernel/tracing/events/lock/contention_begin"); err != nil {
		t.Skip("needs the tracepoint lock:contention_begin (Linux 5.19)")
	}
	dd := fmt.Sprintf("dd if=/dev/zero of=%s bs=30M count=2 conv=notrunc", filepath.Join(t.TempDir(), "file"))
	command := fmt.Sprintf(`sh -c "%[1]s & %[1]s & %[1]s & %[1]s; wait"`,
		dd) // one holds the lock when its turn is over, the others want it
	e := startrace(t, "klockstat", "-P", "-t", "write", "-c", command).ok(t)
	row := regexp.MustCompile(`(?m)^dd +([1-9]\d*) +(\d+) +\d+\.\d +(\d+) rwsem +\w*write_iter$`).
		FindStringSubmatch(e.stdout)
	if row == nil {
		t.Fatalf("no wait for the lock of the file: %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
	if sum, most := number(t, row[2], `(\d+)`), number(t, row[3], `(\d+)`); sum < most {
		t.Errorf("the longest wait, %d us, is longer than all, %d us", most, sum)
	}
	if testing.Short() {
		return
	}
	e = startrace(t, "klockstat", "-t", "write", "--lock", "rwsem", "--caller", "write_iter", "-c", command).ok(t)
	if rows := linesWith(e.stdout, "rwsem"); len(rows) == 0 || len(rows) != len(linesWith(e.stdout, "write_iter")) {
		t.Errorf("want rows of rwsem in write_iter only: %q", rows)
	}
	e = startrace(t, "klockstat", "-t", "percpu", "-c", "true").ok(t)
	if rows := linesWith(e.stdout, "write_iter"); len(rows) > 0 {
		t.Errorf("a lock of another type: %q", rows)
	}
	for by, row := range map[string]string{"lock": `rwsem *`, "function": `\w*write_iter`,
		"address": `0x[0-9a-f]{16} rwsem +\w*write_iter`} {
		e = startrace(t, "klockstat", "-t", "write", "--by", by, "-c", command).ok(t)
		e.has(t, `(?m)^ +[1-9]\d* +\d+ +\d+\.\d +\d+ `+row+`$`)
	}
	e = startrace(t, "klockstat", "-s", "-c", command).ok(t)
	e.has(t, `(?m)^ +\w*down_write\S*\n +\w*write_iter`) // on 6.1 the slow path has the place of its caller
}

// Who spins for a lock and then sleeps for it has waited once: there are as many waits as ends of waits, and none of
// them is said to be lost.
func TestKlockstatWaits(t *testing.T) {
	needTracing(t)
	if _, err := os.Stat("/sys/kernel/tracing/events/lock/contention_begin"); err != nil {
		t.Skip("needs the tracepoint lock:contention_begin (Linux 5.19)")
	}
	const text = `
load("std/klockstat.star", "waited")
n = group(waits = count(), mutexes = count(), ends = count(), time = total())
def add(e):
    n.waits.add()
    n.time.add(e.duration)
probe(waited(), kernel = add)
probe(waited("mutex"), kernel = lambda e: n.mutexes.add())
probe("tracepoint:lock:contention_end", kernel = lambda e: n.ends.add())
at_exit(lambda: printf("waits %d mutexes %d ends %d time %d\n", n.waits.value, n.mutexes.value, n.ends.value,
                       n.time.value))
`
	const writer = "dd if=/dev/zero bs=16M count=2" // the place in the file is locked as long as a write takes
	e := startrace(t, script(t, text), "-c", fmt.Sprintf(`sh -c "{ %[1]s & %[1]s & %[1]s & %[1]s; wait; } > %[2]s"`,
		writer, filepath.Join(t.TempDir(), "file"))).ok(t)
	waits, ends := number(t, e.stdout, `waits (\d+)`), number(t, e.stdout, `ends (\d+)`)
	checkAccount(t, e, waits, ends)
	if waits == 0 || number(t, e.stdout, `mutexes (\d+)`) == 0 {
		t.Errorf("four writers by one descriptor waited for nothing: %s", e.stdout)
	}
	if found := alarms.FindString(e.stderr); found != "" && e.skipped(t) == 0 {
		t.Errorf("nothing was lost: %s", found)
	}
}

// A file is locked once for each write, for as long as that takes.
func TestKlockstatHold(t *testing.T) {
	needKernelFunctions(t)
	const writes = 30
	dd := fmt.Sprintf("dd if=/dev/zero of=%s bs=64k count=%d conv=notrunc", filepath.Join(t.TempDir(), "file"), writes)
	e := startrace(t, "klockstat", "--hold", "-P", "-t", "write", "-c", dd).ok(t)
	row := regexp.MustCompile(`(?m)^dd +(\d+) +(\d+) +\d+\.\d +(\d+) rwsem +\w*write_iter$`).
		FindStringSubmatch(e.stdout)
	if row == nil {
		t.Fatalf("the lock of the file was not held: %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
	checkAccount(t, e, number(t, row[1], `(\d+)`), writes)
	if sum, most := number(t, row[2], `(\d+)`), number(t, row[3], `(\d+)`); sum < most || most == 0 {
		t.Errorf("the longest hold, %d us, and all, %d us", most, sum)
	}
	e = startrace(t, "klockstat", "--hold", "-t", "mutex", "-c", dd).ok(t)
	if rows := linesWith(e.stdout, "rwsem"); len(rows) > 0 {
		t.Errorf("a lock of another type: %q", rows)
	}
}

// Who asked for which capability, and whether it had it.
func TestCapable(t *testing.T) {
	needTracing(t)
	if _, err := os.Stat("/sys/kernel/tracing/events/capability/cap_capable"); err != nil && !kernelFunctions(t) {
		t.Skip("needs the tracepoint capability:cap_capable (Linux 6.14), or CONFIG_KPROBES")
	}
	e := startrace(t, "capable", "-c", `sh -c "chroot / true"`).ok(t)
	e.has(t, `(?m)^0 +\d+ +chroot +CAP_SYS_CHROOT +yes$`)
	e = startrace(t, "capable", "-U", "-c", `sh -c "chroot / true; chroot / true"`).ok(t)
	e.has(t, `(?m)^chroot +CAP_SYS_CHROOT +yes +2$`)
	e = startrace(t, "capable", "-x", "-c", `sh -c "chroot / true"`).ok(t)
	if rows := linesWith(e.stdout, "CAP_SYS_CHROOT"); len(rows) > 0 {
		t.Errorf("it was granted: %q", rows)
	}
}

// Requests of a disk: one line each, with what was read, and the same by program and by size.
func TestBiosnoop(t *testing.T) {
	disk := loopDevice(t, 4<<20)
	name := strings.TrimPrefix(disk, "/dev/")
	e, d := tool(t, []string{"biosnoop", "-d", name}, "blocks", "200", disk)
	row := regexp.MustCompile(fmt.Sprintf(`^wl-blocks +%d +%s +%s +\d+ +4096 +\d+\.\d{3}$`, d.PID, name, directRead(t)))
	rows := linesWith(e.stdout, name)
	for _, line := range rows {
		if !row.MatchString(line) {
			t.Fatalf("got %q, want %s", line, row)
		}
	}
	checkAccount(t, e, len(rows), d.Calls)

	e, d = tool(t, []string{"biotop", "-i", "1h"}, "blocks", "200", disk)
	line := fmt.Sprintf(`(?m)^ *%d +wl-blocks +%s +%s +(\d+) +(\d+) +\S+$`, d.PID, directRead(t), name)
	if m := regexp.MustCompile(line).FindStringSubmatch(e.stdout); m == nil {
		t.Errorf("nothing like %s in %s", line, e.stdout)
	} else {
		checkAccount(t, e, number(t, m[1], `(\d+)`), d.Calls)
		checkAccount(t, e, number(t, m[2], `(\d+)`)/4096, d.Calls)
	}

	e, d = tool(t, []string{"bitesize"}, "blocks", "200", disk)
	m := regexp.MustCompile(`(?s)bytes\[wl-blocks\]:\n.*?\[4K, 8K\) +(\d+) `).FindStringSubmatch(e.stdout)
	if m == nil {
		t.Errorf("no requests of 4096 bytes: %s", e.stdout)
	} else if n := number(t, m[1], `(\d+)`); n+e.lost(t) < d.Calls {
		t.Errorf("%d requests of 4096 bytes, want %d", n, d.Calls)
	}
}

// Three threads, and one that cannot be made, which no line hides.
func TestThreadsnoop(t *testing.T) {
	path := traceable(t, "heap")
	e := startrace(t, "threadsnoop", "-l", path, "-c", path).ok(t)
	row := `(\d+) \d+ heap 0 worker`
	e.wantRows(t, "PID TID COMM RESULT FUNCTION", row, row, row, `(\d+) \d+ heap EAGAIN worker`)
}
