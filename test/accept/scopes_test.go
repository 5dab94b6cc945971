package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// countCalls prints how many calls each process made, and which other events it had by what they say.
const countCalls = `
n = count()
probe("syscall:getppid", lambda e: n[e.pid].add())
` + attached + `
at_exit(lambda: [printf("%d: %d\n", pid, calls) for pid, calls in n.items()])
`

// runScope runs a script in a scope while workloads make their calls; which of them it sees is told by want. The run
// ends by itself where the scope has an end.
func runScope(t *testing.T, text string, flags []string, ends bool, want map[string]int, workloads ...scopeWork) ended {
	t.Helper()
	r := start(t, append([]string{script(t, text)}, flags...)...)
	r.await(t, "attached")
	for _, w := range workloads {
		goOn(t, w.cmd, w.in)
	}
	var e ended
	if ends {
		e = r.end(t).ok(t)
	} else {
		e = r.interrupt(t).ok(t)
	}
	for _, w := range workloads {
		line := fmt.Sprintf("%d: %d\n", w.cmd.Process.Pid, want[w.name])
		if seen := strings.Contains(e.stdout, fmt.Sprintf("%d: ", w.cmd.Process.Pid)); seen != (want[w.name] > 0) ||
			seen && e.skipped(t) == 0 && !strings.Contains(e.stdout, line) {
			t.Errorf("%s (%d): got %q, want %d calls; stderr: %s", w.name, w.cmd.Process.Pid, e.stdout, want[w.name],
				e.stderr)
		}
	}
	if lost := e.lost(t); lost != 0 && e.skipped(t) == 0 {
		t.Errorf("lost: %s", e.stderr)
	}
	return e
}

// A scopeWork is a workload that makes some calls once it is told to.
type scopeWork struct {
	name string
	cmd  *exec.Cmd
	in   interface{ Write([]byte) (int, error) }
}

func newWork(t *testing.T, name string, calls int) scopeWork {
	t.Helper()
	return newWorkOf(t, name, calls, nil)
}

// newWorkOf is newWork of another user.
func newWorkOf(t *testing.T, name string, calls int, of *syscall.SysProcAttr) scopeWork {
	t.Helper()
	cmd := exec.Command(program(t, "workload"), "-wait", "-report", os.DevNull, "getppid", fmt.Sprint(calls))
	cmd.SysProcAttr = of
	_, in := readied(t, cmd)
	return scopeWork{name, cmd, in}
}

// Several -p are one set, by commas or by several flags; the run ends with the last of them.
//
// > Several are a set, `-p A,B` or `-p A -p B`, which is one look-up in each program.
// > The run ends when the last process of `-p` has ended, and with `-f` when those that they started have ended, too.
func TestSeveralProcesses(t *testing.T) {
	needTracing(t)
	for _, form := range []string{"-p %d,%d", "-p %d -p %d"} {
		a, b, other := newWork(t, "a", 100), newWork(t, "b", 50), newWork(t, "other", 25)
		flags := strings.Fields(fmt.Sprintf(form, a.cmd.Process.Pid, b.cmd.Process.Pid))
		e := runScope(t, countCalls, flags, true, map[string]int{"a": 100, "b": 50}, other, a, b)
		if !strings.Contains(e.stderr, "All 2 processes have ended") {
			t.Errorf("%s: the run does not say why it ends: %s", form, e.stderr)
		}
	}
	tried.Many(t, "%d calls, twice", 100+50+25)
}

// The function of an event that runs for all processes is told which of them are traced, and startrace itself is none.
//
// > `e.traced` says of any event whether its process is among those that are traced, of which startrace itself
// > never is. A function that runs for all can so keep nothing of the other ones.
func TestTracedIsTold(t *testing.T) {
	needTracing(t)
	a, other := newWork(t, "a", 100), newWork(t, "other", 25)
	const text = `
n, told, last = count(), count(), table()
def call(e):
    last[e.tid] = e.time  # so that it runs for all
    n[e.pid, e.traced].add()
    return record(pid = e.pid)
probe(event(("tracepoint:syscalls:sys_enter_getppid", call)), lambda e: told[e.pid, e.traced].add())
` + attached + `
at_exit(lambda: [printf("%d: %d\n", pid, calls) for (pid, traced), calls in n.items() if KEPT])
`
	for kept, want := range map[string]map[string]int{
		"traced":                           {"a": 100},
		"not traced":                       {"other": 25},
		"told[pid, traced].value == calls": {"a": 100},
	} {
		t.Run(kept, func(t *testing.T) {
			of := []string{"-p", fmt.Sprint(a.cmd.Process.Pid)}
			runScope(t, strings.Replace(text, "KEPT", kept, 1), of, true, want, other, a)
		})
		a, other = newWork(t, "a", 100), newWork(t, "other", 25)
	}
}

// At the beat of a clock it is the process that runs there which is traced or is not.
func TestTracedAtClock(t *testing.T) {
	needTracing(t)
	pid := os.Getpid() // which waits
	text := fmt.Sprintf(`seen, left = count(), [5]
def beat(e):
    left[0] -= 1
    if left[0] == 0: exit()
probe("interval:10ms", kernel = lambda e: seen[e.traced == (e.pid == %d)].add())
probe("interval:10ms", beat)
at_exit(lambda: print(sorted([agrees for agrees, n in seen.items()])))
`, pid)
	shows(t, "[True]\n", "-q", script(t, text), "-p", fmt.Sprint(pid))
}

// The function of an event at a system call runs for the processes that were traced when it began, whatever it changes.
//
// > Of a call with a start and an end, as at `syscall:`, it runs for those that were traced at the start.
func TestCallsOfTraced(t *testing.T) {
	needTracing(t)
	a, other := newWork(t, "a", 100), newWork(t, "other", 25)
	const text = `
n = table()
def call(e):
    n[e.pid] = n.get(e.pid, 0) + 1  # one thread each
    return record(time = e.time)
probe(event(("syscall:getppid", call)), kernel = lambda e: None)
` + attached + `
at_exit(lambda: [printf("%d: %d\n", pid, calls) for pid, calls in n.items()])
`
	of := []string{"-p", fmt.Sprint(a.cmd.Process.Pid)}
	runScope(t, text, of, true, map[string]int{"a": 100}, other, a)
}

// What a process has started before the run is followed, too, and what that starts.
//
// > With `-f` also their children are, those that there are and those that are started later.
func TestExistingChildren(t *testing.T) {
	needTracing(t)
	work := func(calls int) string {
		return fmt.Sprintf("%s -report %s getppid %d", program(t, "workload"), os.DevNull, calls)
	}
	cmd, in := readied(t, exec.Command("sh", "-c", fmt.Sprintf(
		"exec 3<&0; { echo ready; read line; (%s); %s; } <&3 & wait", work(100), work(50))))
	r := start(t, script(t, `
n = count()
probe("syscall:getppid", lambda e: n.add(), where = lambda e: e.comm == "wl-getppid")
`+attached+`
at_exit(lambda: printf("%d calls\n", n.value))
`), "-f", "-p", fmt.Sprint(cmd.Process.Pid))
	r.await(t, "attached")
	goOn(t, cmd, in)
	if e := r.end(t).ok(t); e.stdout != "150 calls\n" && e.skipped(t) == 0 {
		t.Errorf("got %q, want 150 calls; stderr: %s", e.stdout, e.stderr)
	}
	tried.Many(t, "%d calls", 100+50)
}

// mounted mounts a file system of a type until the test ends, and gives its folder.
func mounted(t *testing.T, kind string, flags ...string) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	words := slices.Concat([]string{"-t", kind}, flags, []string{"none", dir})
	if out, err := exec.Command("mount", words...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("mount: %w: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir, nil
}

// ownCgroup makes a cgroup and gives its folder.
func ownCgroup(t *testing.T, name string) string {
	t.Helper()
	root, err := mounted(t, "cgroup2")
	if err != nil {
		t.Skipf("needs cgroup2 (CONFIG_CGROUPS): %v", err)
	}
	group := filepath.Join(root, name)
	for _, folder := range []string{group, filepath.Join(group, "below")} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(folder); err != nil {
				t.Error(err)
			}
		})
	}
	return group
}

func moveTo(t *testing.T, group string, w scopeWork) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(w.cmd.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
}

// A cgroup and what is below it is a scope, by the folder or by the id of the container that has it.
//
// > `--cgroup PATH` keeps the processes of a cgroup and of those below it.
// > PATH is the folder of a cgroup of version 2, or what `/proc/PID/cgroup` shows.
// > The kernel decides at each event.
// > `--container ID` is the cgroup of a container, by its id or how that begins.
// > A process belongs to a cgroup from when it is moved there.
func TestCgroup(t *testing.T) {
	needTracing(t)
	id := fmt.Sprintf("%016x", os.Getpid()) + strings.Repeat("5ca1", 12)
	group := ownCgroup(t, "docker-"+id+".scope")
	for _, flags := range [][]string{
		{"--cgroup", group}, {"--cgroup", "/" + filepath.Base(group)}, {"--container", id[:20]}, {"--container", id},
	} {
		in, below, out := newWork(t, "in", 100), newWork(t, "below", 50), newWork(t, "out", 25)
		moveTo(t, group, in)
		moveTo(t, filepath.Join(group, "below"), below)
		runScope(t, countCalls, flags, false, map[string]int{"in": 100, "below": 50}, out, in, below)
	}
	in, out := newWork(t, "in", 100), newWork(t, "out", 25)
	moveTo(t, group, in)
	flags := []string{"--cgroup", group, "-p", fmt.Sprintf("%d,%d", in.cmd.Process.Pid, out.cmd.Process.Pid)}
	runScope(t, countCalls, flags, true, map[string]int{"in": 100}, out, in)
	tried.Many(t, "%d calls, four times, and %d", 100+50+25, 100+25)
}

// A service that is started again has a new cgroup at the path of the one before: it is traced, too.
//
// > A cgroup that is removed and made anew at the same path, as when systemd starts a service again, is traced from
// > then on, and messages say both.
// > What happens there before startrace hears of it, some milliseconds, is not seen.
func TestCgroupMadeAnew(t *testing.T) {
	needTracing(t)
	root, err := mounted(t, "cgroup2")
	if err != nil {
		t.Skipf("needs cgroup2 (CONFIG_CGROUPS): %v", err)
	}
	slice := filepath.Join(root, fmt.Sprint("anew-", os.Getpid()))
	group := filepath.Join(slice, "some.service")
	t.Cleanup(func() { removeCgroups(t, group, slice) })
	makeCgroups(t, slice, group)
	r := interact(t, withMessages(t, "--cgroup", group,
		"-e", `n = count(); probe("syscall:getppid", lambda e: n.add()); at_exit(lambda: print(n.value, "calls"))`))
	r.await(t, "Attached 1 probe")
	const times, calls = 2, 100
	for i := range times + 1 {
		if i > 0 {
			removeCgroups(t, group, slice)
			r.await(t, "The cgroup "+group+" was removed: nothing is traced until there is one again")
			makeCgroups(t, slice, group)
			r.await(t, "The cgroup "+group+" was made anew: it is traced from here on")
		}
		in, out := newWork(t, "in", calls), newWork(t, "out", calls)
		moveTo(t, group, in)
		goOn(t, in.cmd, in.in)
		goOn(t, out.cmd, out.in)
	}
	want := fmt.Sprintf("%d calls\n", (times+1)*calls)
	e := r.interrupt(t).ok(t)
	e.stderr = e.stdout
	if !strings.Contains(e.stdout, want) && e.skipped(t) == 0 {
		t.Errorf("got %q, want %q", e.stdout, want)
	}
	tried.Many(t, "%d times", times)
}

func makeCgroups(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func removeCgroups(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if err := os.Remove(folder); err != nil {
			t.Error(err)
		}
	}
}

// A call belongs to where its thread was when it began.
//
// > Of a call that has a start and an end by one thread the start decides.
func TestMovedDuringCall(t *testing.T) {
	needTracing(t)
	group := ownCgroup(t, fmt.Sprint("moved-", os.Getpid()))
	outside := filepath.Dir(group)
	goes, comes := newRelay(t), newRelay(t)
	moveTo(t, group, scopeWork{cmd: goes.first})
	goes.send(t, 1)
	comes.send(t, 1)
	for _, r := range []*relay{goes, comes} {
		r.waits(t)
	}
	r := start(t, script(t, `
n = count()
probe("syscall:read", lambda e: n[e.pid, e.ret].add())
`+attached+`
at_exit(lambda: printf("%s\n", n.items()))
`), "--cgroup", group)
	r.await(t, "attached")
	goes.send(t, 1) // the read that waits began before the run
	comes.send(t, 1)
	goes.waits(t)
	comes.waits(t)
	moveTo(t, outside, scopeWork{cmd: goes.first})
	moveTo(t, group, scopeWork{cmd: comes.first})
	goes.send(t, 1)
	comes.send(t, 1)
	e := r.interrupt(t).ok(t)
	want := fmt.Sprintf("[((%d, %d), 1)]\n", goes.first.Process.Pid, relayed)
	if e.skipped(t) == 0 && (e.stdout != want || e.lost(t) != 0) {
		t.Errorf("got %q, want %q; stderr: %s", e.stdout, want, e.stderr)
	}
	moveTo(t, outside, scopeWork{cmd: comes.first})
	tried.Many(t, "one in, one out")
}

// waits returns when the first of the two waits in its read.
func (r *relay) waits(t *testing.T) {
	t.Helper()
	for range 10000 {
		// The number of the system call stands in front, that of read(2) on amd64 and arm64.
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", r.first.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), fmt.Sprint(unix.SYS_READ, " ")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it does not wait in read(2)")
}

// The real user is a scope, beside a cgroup, too.
//
// > `--user USER` keeps the processes of a real user, by name or number.
// > What several of these flags say must hold together.
func TestUser(t *testing.T) {
	needTracing(t)
	group := ownCgroup(t, fmt.Sprint("user-", os.Getpid()))
	another := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	theirs, ours, out := newWorkOf(t, "theirs", 100, another), newWork(t, "ours", 50), newWorkOf(t, "out", 25, another)
	moveTo(t, group, theirs)
	moveTo(t, group, ours)
	flags := []string{"--cgroup", group, "--user", "65534"}
	runScope(t, countCalls, flags, false, map[string]int{"theirs": 100}, out, ours, theirs)
	tried.Many(t, "%d calls", 100+50+25)
}

// An event that names a process is that process': its user and its cgroup decide, and not those of the thread in which
// it happens.
//
// > The cgroup and the user are those of the process whose number `e.pid` is.
// > A process that an event names and that has ended has neither, and is left out.
func TestScopeOfNamedProcess(t *testing.T) {
	needTracing(t)
	group := ownCgroup(t, fmt.Sprint("named-", os.Getpid()))
	in, out := newWork(t, "in", 100), newWork(t, "out", 100)
	moveTo(t, filepath.Join(group, "below"), in)
	r := start(t, script(t, `
def gets_cpu(e):
    return record(pid = e.args.next.tgid)
def gone(e):
    return record(pid = 4194303 - e.args.next.prio) # nobody has such numbers
n = count()
probe(event(("rawtracepoint:sched_switch", gets_cpu)), lambda e: n[e.pid].add())
probe(event(("rawtracepoint:sched_switch", gone)), lambda e: n[e.pid].add())
`+attached+`
at_exit(lambda: printf("%s\n", [pid for pid, times in n.items()]))
`), "--cgroup", group, "--user", "0")
	r.await(t, "attached")
	goOn(t, out.cmd, out.in) // it waits for its word, and so gets a CPU
	goOn(t, in.cmd, in.in)
	e := r.interrupt(t).ok(t)
	if want := fmt.Sprintf("[%d]\n", in.cmd.Process.Pid); e.stdout != want {
		t.Errorf("got %q, want %q; stderr: %s", e.stdout, want, e.stderr)
	}
	tried.Many(t, "each change of the CPU's thread")
}

// Names of what is not there are refused, with what there is.
func TestScopeMistakes(t *testing.T) {
	mistakes := map[string]string{
		"-p 1,x":                   `--pid: got "1,x", want a number, or several as in 12,34`,
		"-p 0":                     `--pid: got "0", want numbers above 0`,
		"-p 4194305":               "there is no process 4194305",
		"--cgroup no/such/cgroup":  "--cgroup: ",
		"--container xyz":          "--container: ",
		"--user no-such-user":      "--user: /etc/passwd has no user no-such-user",
		"--cgroup a --container b": "exclude each other",
		"-f":                       "-f follows the children of a process",
	}
	for flags, want := range mistakes {
		words := append([]string{"-e", `probe("syscall:getppid")`}, strings.Fields(flags)...)
		if e := startrace(t, words...); e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: status %d, %s, want %q", flags, e.status, e.stderr, want)
		}
	}
	tried.Many(t, "%d", len(mistakes))
}
