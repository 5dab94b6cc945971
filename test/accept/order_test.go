package accept

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// inTurn declares three probes at each of some points, by three calls, and notes at each event which of the three ran
// before in its process: what the first finds is the third, what the second finds is the first. Points are named by
// their kind, the entries of spans with a + behind it, and the three functions of one event() with a &.
const inTurn = `
last = table(size = 4096)
turns = count()

def stand(point, i, where):
    kind = point.split(":")[0]
    def handler(e):
        before = last.get((kind, e.pid), 0)
        turns[kind, i, before].add()
        last[kind, e.pid] = i
    probe(point, handler, where = where)

def calls(point, i, where):
    kind = point.split(":")[0]
    def start(e):
        before = last.get((kind + "+", e.pid), 0)
        turns[kind + "+", i, before].add()
        last[kind + "+", e.pid] = i
    def handler(e):
        before = last.get((kind, e.pid), 0)
        turns[kind, i, before].add()
        last[kind, e.pid] = i
    probe(point, handler, start = start, where = where)

def together(point, where):
    kind = point.split(":")[0] + "&"
    def part(i):
        def f(e):
            if where == None or where(e):
                before = last.get((kind, e.pid), 0)
                turns[kind, i, before].add()
                last[kind, e.pid] = i
                return record(i = i)
        return f
    probe(event(*[(point, part(i)) for i in [1, 2, 3]]), lambda e: None)

def declare(points, spans, where):
    for point in points + spans:
        together(point, where)
    for i in [1, 2, 3]:
        for point in points:
            stand(point, i, where)
        for point in spans:
            calls(point, i, where)

at_exit(lambda: [print("turn", p, i, before, n) for (p, i, before), n in turns.items()])
`

// checkTurns checks that each point was seen n times by each probe, and in the order of the script.
func checkTurns(t *testing.T, e ended, n int, points ...string) {
	t.Helper()
	got := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^turn (\S+) (\d) (\d) (\d+)$`).FindAllStringSubmatch(e.stdout, -1) {
		got[m[1]+" "+m[2]+m[3]], _ = strconv.Atoi(m[4])
	}
	for _, p := range points {
		for turn, want := range map[string]int{"10": 1, "13": n - 1, "21": n, "32": n} {
			if got[p+" "+turn] != want {
				t.Errorf("%s: probe %c ran %d times behind probe %c, want %d", p, turn[0], got[p+" "+turn], turn[1],
					want)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", e.stdout, excerpt(e.stderr))
	}
}

// Probes at one point of the kernel run in the order of the script, on every kernel and by each way to attach:
//
// > Probes at one point run in the order in which the script declares them, at entries and at returns.
// > What one of them leaves in a table the next one finds.
//
// > So do the functions of an `event()` at one point.
func TestOrderInKernel(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(400)
	e, _ := traced(t, inTurn+`
reads = lambda e: e.comm == "wl-reads"
declare(["kprobe:vfs_read", "kretprobe:vfs_read", "fentry:vfs_read", "fexit:vfs_read",
         "tracepoint:syscalls:sys_enter_read"],
        ["func:vfs_read", "syscall:read"], reads)
declare(["rawtracepoint:sys_enter"], [], lambda e: e.comm == "wl-reads" and e.args.id == 0)
`, nil, "reads", strconv.Itoa(n), "64")
	checkTurns(t, e, n, "kprobe", "kretprobe", "fentry", "fexit", "tracepoint", "rawtracepoint", "func", "func+",
		"syscall", "syscall+", "kprobe&", "kretprobe&", "fentry&", "fexit&", "tracepoint&", "rawtracepoint&", "func&",
		"syscall&")
}

// Links of many functions, and sessions, keep the order as single probes do.
func TestOrderOfPatterns(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(400)
	pattern := "{vfs_read,vfs_[a-q]*}" // more than get trampolines
	if !kernelHas(t, "fprobe_init_rethook") && !kernelHas(t, "register_fprobe_ips") {
		pattern = "vfs_re*" // without links each function is a point of its own
	}
	e, _ := traced(t, inTurn+`
pattern = "`+pattern+`"
reads = lambda e: e.comm == "wl-reads" and e.func == "vfs_read"
declare(["kprobe:" + pattern, "kretprobe:" + pattern], ["func:" + pattern], reads)
`, nil, "reads", strconv.Itoa(n), "64")
	checkTurns(t, e, n, "kprobe", "kretprobe", "func", "func+", "kprobe&", "kretprobe&", "func&")
}

// Events that are counted, and accesses that are watched, too.
func TestOrderOfCounters(t *testing.T) {
	needTracing(t)
	needGuest(t)
	n := scaled(400)
	e, _ := traced(t, inTurn+`
declare(["software:page-faults:1"], [], lambda e: e.comm == "wl-faults" and e.addr >= 0x200000000000
        and e.addr < 0x210000000000)
`, nil, "faults", strconv.Itoa(n))
	checkTurns(t, e, n, "software", "software&")
}

// In programs, too: at entries, returns, and at static probes, in C and in Go, whose returns are probed at
// instructions.
func TestOrderInPrograms(t *testing.T) {
	for _, test := range []struct {
		program, points, spans, words string
		calls                         int
		want                          []string
	}{
		{"calls", "uprobe:BIN:negative uretprobe:BIN:negative", "ufunc:BIN:negative", "calls 50", 50,
			[]string{"uprobe", "uretprobe", "ufunc", "ufunc+", "uprobe&", "uretprobe&", "ufunc&"}},
		{"calls", "uprobe:BIN:neg* uretprobe:BIN:neg*", "ufunc:BIN:neg*", "calls 50", 50,
			[]string{"uprobe", "uretprobe", "ufunc", "ufunc+", "uprobe&", "uretprobe&", "ufunc&"}},
		{"goroutines", "uprobe:BIN:main.negative uretprobe:BIN:main.negative", "ufunc:BIN:main.negative", "1", 3,
			[]string{"uprobe", "uretprobe", "ufunc", "ufunc+", "uprobe&", "uretprobe&", "ufunc&"}},
		{"static", "usdt:BIN:work:forms", "", "50", 50, []string{"usdt", "usdt&"}},
	} {
		t.Run(test.program, func(t *testing.T) {
			e := onTarget(t, test.program, inTurn+fmt.Sprintf("declare(%q.split(), %q.split(), None)\n", test.points,
				test.spans),
				strings.Fields(test.words)...)
			checkTurns(t, e, test.calls, test.want...)
		})
	}
}
