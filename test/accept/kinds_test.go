package accept

import (
	"debug/elf"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// faultsAt is where the workload faults.
const faultsAt = 0x200000000000

// Each page fault is seen once, with its address, by each of the names.
//
// > `e.addr` is the address that a fault or an access is about.
// > `e.ip`, `e.usermode` and `e.regs` are as in `profile`.
func TestPageFaults(t *testing.T) {
	const text = `
n = count()
pages = table()

def fault(e):
    n.add()
    pages.add((e.addr - %d) // 4096, 1)

def report():
    printf("%%d faults in %%d pages from %%d to %%d\n", n.value, len(pages.keys()), min(pages.keys()),
           max(pages.keys()))

probe("software:%s", fault, where = lambda e: e.addr >= %d and e.addr < %d)
at_exit(report)
`
	pages := scaled(2000)
	for _, event := range []string{"page-faults:1", "faults:1", "minor-faults:1"} {
		t.Run(event, func(t *testing.T) {
			e, _ := traced(t, fmt.Sprintf(text, faultsAt, event, faultsAt, faultsAt+4096*pages), nil, "faults",
				strconv.Itoa(pages))
			if want := fmt.Sprintf("%d faults in %d pages from 0 to %d\n", pages, pages, pages-1); e.stdout != want {
				t.Errorf("got %q, want %q\n%s", e.stdout, want, e.stderr)
			}
		})
	}
}

// Where the CPU counts nothing, hardware events say so and what to do instead.
func TestNoCounters(t *testing.T) {
	needTracing(t)
	if kernel.HasCounters() {
		t.Skip("needs a machine without counters of the CPU, as most virtual ones: this one has some")
	}
	for _, event := range []string{"cycles", "cycles:99hz", "L1-dcache-load-misses:1000", "r01c2"} {
		e := startrace(t, "-e", fmt.Sprintf(`probe("hardware:%s", lambda e: print(e.cpu))`, event), "-c", "true")
		if e.status != failedBeside ||
			!strings.Contains(e.stderr, "the kernel sees no counters of the CPU on this machine") ||
			!strings.Contains(e.stderr, "profile:99hz samples by time") {
			t.Errorf("%s: status %d: %s", event, e.status, e.stderr)
		}
	}
}

// workloadSymbol is the address of a function or variable of the workload.
func workloadSymbol(t *testing.T, name string) uint64 {
	t.Helper()
	f, err := elf.Open(program(t, "workload"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("the workload has no symbol %s", name)
	return 0
}

// Each write of a variable is seen, each read too if asked for, and each run of an instruction.
//
// > | `watchpoint:ADDRESS:LENGTH:rw` | `w` | an access to memory: `r`, `w`, `rw`, or `x` for execution |
func TestWatchpoints(t *testing.T) {
	const text = `
n = count()
probe("watchpoint:%s", lambda e: n[e.addr, e.usermode, e.comm].add(), where = lambda e: e.comm == "wl-stores")
at_exit(lambda: [printf("%%d %%s %%s %%d\n", k[0], str(k[1]), k[2], v) for k, v in n.items()])
`
	writes := scaled(20_000)
	variable, function := workloadSymbol(t, "main.watched"), workloadSymbol(t, "main.storeWatched")
	binary := program(t, "workload")
	for _, c := range []struct {
		point string
		addr  uint64
		want  int
		again int // an instruction during which its page comes, or a signal, is begun again
	}{
		{binary + ":main.watched:8:w", variable, writes, 0},
		{binary + ":main.watched:8:rw", variable, writes + (writes+1)/2, 0},
		{fmt.Sprintf("%#x:8:w", variable), variable, writes, 0},
		{fmt.Sprintf("%#x:1:x", function), function, writes, 5 + writes/100},
	} {
		t.Run(c.point, func(t *testing.T) {
			if strings.HasSuffix(c.point, "w") && runtime.GOARCH != "amd64" {
				t.Skip("needs amd64: what arm64 counts is not known")
			}
			e, _ := traced(t, fmt.Sprintf(text, c.point), nil, "stores", strconv.Itoa(writes))
			var addr uint64
			var mode, comm string
			var n int
			if _, err := fmt.Sscan(e.stdout, &addr, &mode, &comm, &n); err != nil {
				t.Fatalf("%v in %q\n%s", err, e.stdout, e.stderr)
			}
			if addr != c.addr || mode != "True" || comm != "wl-stores" || n < c.want || n > c.want+c.again {
				t.Errorf("got %q, want %d True wl-stores %d\n%s", e.stdout, c.addr, c.want, e.stderr)
			}
		})
	}
}

// A watchpoint on a function of the kernel sees each call.
//
// > `watchpoint:SYMBOL:LENGTH:w` watches a variable of the kernel.
// > `watchpoint:BINARY:VARIABLE:LENGTH:w` watches one of the process of `-p` or `-c`.
func TestWatchpointOfKernel(t *testing.T) {
	needGuest(t)
	const text = `
n = count()
probe("watchpoint:__%s_sys_getppid:8:x", lambda e: n.add())
at_exit(lambda: printf("%%d\n", n.value))
`
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	calls, again := scaled(10_000), 0
	if runtime.GOARCH == "arm64" { // an interrupt before the instruction that was caught is done has it caught again
		again = calls / 20
	}
	e, _ := traced(t, fmt.Sprintf(text, arch), nil, "getppid", strconv.Itoa(calls))
	if n := number(t, e.stdout, `^(\d+)\n$`); n < calls || n > calls+again {
		t.Errorf("got %d, want %d to %d\n%s", n, calls, calls+again, e.stderr)
	}
}

// needIterator skips where the kernel lacks one.
func needIterator(t *testing.T, name string) {
	t.Helper()
	needTracing(t)
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	var fn *btf.Func
	if spec.TypeByName("bpf_iter_"+name, &fn) != nil {
		t.Skipf("needs a kernel with the iterator %s (bpf_iter_%s in its BTF)", name, name)
	}
}

// iterated runs a script of iterators and gives its lines, sorted. It ends by itself.
func iterated(t *testing.T, text string, flags ...string) []string {
	t.Helper()
	e := startrace(t, append([]string{"-q", script(t, text)}, flags...)...).ok(t)
	if e.lost(t) > 0 {
		t.Errorf("lost some: %s", e.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(e.stdout, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// The iterators of tasks show the threads of a process, its descriptors and its memory, as /proc does.
//
// > | `iter:NAME` | `it` | each entry of a list of the kernel's, once |
// > An iterator runs when it is attached, and again with `.enable()`.
// > A script of iterators alone ends by itself.
// > `e.args` are the parts of the entry, with types: `e.args.task`, `e.args.fd` and `e.args.file` of `task_file`.
// > startrace itself is in the lists.
func TestTaskIterators(t *testing.T) {
	self := os.Getpid()
	t.Run("task", func(t *testing.T) {
		needIterator(t, "task")
		got := iterated(t, `probe("iter:task", lambda e: printf("%d %d %d %s\n", e.tid, e.ppid, e.uid, e.comm))`, "-p",
			strconv.Itoa(self))
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, th := range threads {
			comm, err := os.ReadFile("/proc/self/task/" + th.Name() + "/comm")
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s %d %d %s", th.Name(), os.Getppid(), os.Getuid(),
				strings.TrimSpace(string(comm))))
		}
		slices.Sort(want)
		if extra := strangers(got, want); len(extra) > 0 || len(got) == 0 {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("task_file", func(t *testing.T) {
		needIterator(t, "task_file")
		name := filepath.Join(t.TempDir(), "held")
		var want []string
		for i := range 20 {
			f, err := os.Create(fmt.Sprint(name, i))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want = append(want, fmt.Sprintf("%d %d %s", self, f.Fd(), f.Name()))
		}
		slices.Sort(want)
		text := fmt.Sprintf("base = %q\n", filepath.Dir(name)) +
			`probe("iter:task_file", lambda e: printf("%d %d %s\n", e.pid, e.args.fd, path(e.args.file)), ` +
			`where = lambda e: path(e.args.file).startswith(base))`
		got := slices.Compact(iterated(t, text, "-p", strconv.Itoa(self))) // before 5.18 each thread shows them
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("task_vma", func(t *testing.T) {
		needIterator(t, "task_vma")
		got := iterated(t, `probe("iter:task_vma", lambda e: `+
			`printf("%08x-%08x\n", e.args.vma.vm_start, e.args.vma.vm_end), where = lambda e: e.tid == e.pid)`,
			"-p", strconv.Itoa(os.Getppid()))
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", os.Getppid()))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, line := range got {
			seen[line] = true
		}
		code := 0
		for _, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, "r-xp") || strings.Contains(line, "[") {
				continue
			}
			code++
			if at, _, _ := strings.Cut(line, " "); !seen[at] {
				t.Errorf("mapping %s is missing in %q", at, got)
			}
		}
		if code == 0 {
			t.Error("the parent has no code")
		}
	})
}

// strangers gives the lines of got that are not in want.
func strangers(got, want []string) (out []string) {
	for _, line := range got {
		if !slices.Contains(want, line) {
			out = append(out, line)
		}
	}
	return out
}

// What stats() says is exact: hits are the runs of the probe's program, missed those that the kernel skipped.
func TestProbeStats(t *testing.T) {
	const text = `
calls = cell(0)

def one(e):
    if e.args.id == %d:
        calls.add(1)

p = probe("tracepoint:raw_syscalls:sys_enter", one)
sent = probe("tracepoint:syscalls:sys_enter_getppid", lambda e: note(e))

def note(e):
    heard[0] += 1

heard = [0]

def report():
    s, q = p.stats(), sent.stats()
    printf("%%d %%d %%d %%d %%d %%s\n", calls.get(), q.hits, q.sent, heard[0], q.lost, str(q.missed))
    printf("%%s %%s\n", str(s.hits >= calls.get()), str(s.time > s.hits and q.time > q.hits))

at_exit(report)
`
	calls := scaled(20_000)
	e, _ := traced(t, fmt.Sprintf(text, unix.SYS_GETPPID), nil, "getppid", strconv.Itoa(calls))
	var seen, hits, sentEvents, heard, lost int
	missed := 0
	var word string
	if _, err := fmt.Sscanf(e.stdout, "%d %d %d %d %d %s\nTrue True\n", &seen, &hits, &sentEvents, &heard, &lost,
		&word); err != nil {
		t.Fatalf("got %q: %v\n%s", e.stdout, err, e.stderr)
	}
	if counts := atLeast(t, 5, 12); counts != (word != "None") {
		t.Errorf("missed is %s; the kernel counts missed runs: %v", word, counts)
	}
	if word != "None" {
		missed, _ = strconv.Atoi(word)
	}
	// Hits are those of all processes, and each shell that starts calls getppid; in a guest none starts meanwhile.
	if hits < sentEvents || hits > sentEvents && inGuest() || sentEvents != heard || lost != 0 || heard > calls ||
		heard+missed < calls {
		t.Errorf("of %d calls %s\n%s", calls, e.stdout, e.stderr)
	}
	if missed == 0 && seen != calls {
		t.Errorf("%d of %d calls seen, and nothing missed", seen, calls)
	}
}

// Probes of each kind are switched off and on from a timer: while they are off nothing comes. (S4-02)
//
// The work is endless, and each step waits for what it is about: for events to come while the probe is on, and, once it
// is off, for two looks that find the same number, since a program that runs at that moment may count once more. Where
// the kernel preempts it, as 7.2 does, that can be any time later, so that one event is no sign that the probe is on.
func TestLiveControl(t *testing.T) {
	const text = `
n = count()
p = probe(%q, lambda e: n[e.probe].add())
seen = [0]       # how many events each look found
quiet = []       # of the looks at a probe that is off: were there events, beside the last one?
steps = [p.disable, p.enable, p.disable, p.enable, p.detach]

def look():
    seen.append(sum([v for k, v in n.items()]))
    came = seen[-1] > seen[-2]
    on = len(steps) %% 2 == 1
    if on and came:
        steps.pop(0)()
    elif not on and (quiet or not came):
        quiet.append(seen[-1] > seen[-2] + 1)
    if len(quiet) == 4:
        printf("off, events came: %%s\n", str(True in quiet))
        quiet.clear()
        if not steps:
            exit()
        else:
            steps.pop(0)()

every("50ms", look)
`
	for _, point := range []string{"software:cpu-clock:1000000", "profile:999hz", "interval:1ms",
		"tracepoint:raw_syscalls:sys_enter", "rawtracepoint:sys_enter", "syscall:getppid",
		program(t, "workload") + ":main.watched:8:w"} {
		t.Run(point, func(t *testing.T) {
			work := "getppid endless"
			if strings.Contains(point, "watched") {
				point, work = "watchpoint:"+point, "stores endless"
			}
			needTracing(t)
			e := startrace(t, script(t, fmt.Sprintf(text, point)), "-c", program(t, "workload")+" "+work).ok(t)
			if e.stdout != strings.Repeat("off, events came: False\n", 3) {
				t.Errorf("got %q\n%s", e.stdout, e.stderr)
			}
		})
	}
}

// A long list comes whole, also if its records are larger than the ring together.
func TestLongList(t *testing.T) {
	needGuest(t)
	needIterator(t, "task_file")
	const room = 16 << 20 // twice the ring
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 50))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const want = room / 200
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want + 1000, Max: want + 1000}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range want {
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	text := `
fds = {}
probe("iter:task_file", lambda e: fds.setdefault(e.args.fd, len(path(e.args.file))), where = lambda e: e.tid == e.pid)
at_exit(lambda: printf("%d %d\n", len([fd for fd, n in fds.items() if n > 200]),
                       sum([n for n in fds.values() if n > 200])))
`
	got := iterated(t, text, "-p", strconv.Itoa(os.Getpid()))
	if line := fmt.Sprintf("%d %d", want+1, (want+1)*len(f.Name())); len(got) != 1 || got[0] != line {
		t.Errorf("got %q, want %q", got, line)
	}
}

// Lists without a process: sockets and tables that this test made.
//
// > An entry is not something that a process does.
// > Where an entry belongs to a task, `e.pid`, `e.tid`, `e.ppid`, `e.uid`, `e.gid`, `e.comm` and `e.task` are those of
// > that task, and `-p` keeps its entries.
// > Elsewhere (`tcp`, `bpf_map` …) there are no such fields, and `-p` changes nothing.
func TestObjectIterators(t *testing.T) {
	needGuest(t)
	t.Run("tcp", func(t *testing.T) {
		needIterator(t, "tcp")
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		got := iterated(t, `probe("iter:tcp", lambda e: printf("%d %d\n", e.args.sk_common.skc_num, e.args.uid), `+
			`where = lambda e: e.args.sk_common.skc_state == 10)`)
		if want := fmt.Sprintf("%d %d", port, os.Getuid()); !slices.Contains(got, want) {
			t.Errorf("got %q, want %q among them", got, want)
		}
	})
	t.Run("udp", func(t *testing.T) {
		needIterator(t, "udp")
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		port := c.LocalAddr().(*net.UDPAddr).Port
		got := iterated(t, `probe("iter:udp", lambda e: printf("%d\n", e.args.udp_sk.inet.sk.__sk_common.skc_num))`)
		if !slices.Contains(got, strconv.Itoa(port)) {
			t.Errorf("got %q, want %d among them", got, port)
		}
	})
	t.Run("unix", func(t *testing.T) {
		needIterator(t, "unix")
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if got := iterated(t,
			`probe("iter:unix", lambda e: printf("%d\n", e.args.unix_sk.sk.sk_type))`); !slices.Contains(got, "1") {
			t.Errorf("got %q, want a stream", got)
		}
	})
	t.Run("netlink", func(t *testing.T) {
		needIterator(t, "netlink")
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: 4711}); err != nil {
			t.Fatal(err)
		}
		if got := iterated(t,
			`probe("iter:netlink", lambda e: printf("%d\n", e.args.sk.portid))`); !slices.Contains(got, "4711") {
			t.Errorf("got %q, want 4711 among them", got)
		}
	})
	t.Run("bpf_map", func(t *testing.T) {
		needIterator(t, "bpf_map")
		m, err := ebpf.NewMap(&ebpf.MapSpec{Name: "mine", Type: ebpf.Hash, KeySize: 4, ValueSize: 24, MaxEntries: 77})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		got := iterated(t, `probe("iter:bpf_map", lambda e: `+
			`printf("%s %d %d\n", e.args.map.name, e.args.map.value_size, e.args.map.max_entries))`)
		if !slices.Contains(got, "mine 24 77") {
			t.Errorf("got %q, want mine 24 77 among them", got)
		}
	})
}

// A function that handles probes is refused with the reason, before the kernel is asked.
func TestForbiddenFunction(t *testing.T) {
	needGuest(t)
	needTracing(t)
	const debugfs = "/sys/kernel/debug"
	if err := unix.Mount("debugfs", debugfs, "debugfs", 0, ""); err != nil && err != unix.EBUSY {
		t.Fatal(err)
	}
	text, err := os.ReadFile(debugfs + "/kprobes/blacklist")
	if err != nil {
		t.Skipf("needs a kernel with CONFIG_KPROBES: %v", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, name, ok := strings.Cut(line, "\t")
	if !ok {
		t.Fatalf("the kernel forbids %q", line)
	}
	e := startrace(t, "-e", fmt.Sprintf("probe('kprobe:%s', lambda e: None)", name))
	if e.status == 0 || !strings.Contains(e.stderr, name+": the kernel allows no probes on it") {
		t.Errorf("kprobe:%s: status %d, %s", name, e.status, e.stderr)
	}
}

// Of functions that share a name all are probed, at their addresses.
func TestNamesakes(t *testing.T) {
	needGuest(t)
	needTracing(t)
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile("/sys/kernel/tracing/available_filter_functions")
	if err != nil {
		t.Skipf("needs a kernel with CONFIG_DYNAMIC_FTRACE: %v", err)
	}
	times := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && strings.EqualFold(f[1], "t") {
			times[f[2]]++
		}
	}
	traced := map[string]int{}
	for line := range strings.Lines(string(known)) {
		traced[strings.TrimSpace(line)]++
	}
	for name, n := range times {
		if n != 2 || traced[name] != 2 || strings.ContainsAny(name, ".") {
			continue
		}
		e := startrace(t, "-v", "-e", fmt.Sprintf("probe('kprobe:%s', lambda e: None)\nafter('10ms', lambda: exit())",
			name)).ok(t)
		said := strings.Join(strings.Fields(e.stderr), " ") // notes are wrapped
		if want := "the kernel has 2 functions of that name, and all are probed"; !strings.Contains(said, want) ||
			!strings.Contains(said, "at 2 points") {
			t.Errorf("kprobe:%s: %s", name, e.stderr)
		}
		return
	}
	t.Skip("needs a kernel with two functions of one name that can both be traced, in /proc/kallsyms and " +
		"available_filter_functions")
}
