package accept

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// A stackRow is a row of an aggregation by one stack, as JSON has it.
type stackRow struct {
	Name  string
	Key   [][]string
	Value int
}

// stackRows reads what --format json printed.
func stackRows(t *testing.T, e ended) (out []stackRow) {
	t.Helper()
	for line := range strings.Lines(e.stdout) {
		var row stackRow
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row.Key) != 1 {
			t.Fatalf("%q is no row by one stack: %v", line, err)
		}
		out = append(out, row)
	}
	return out
}

// functions are the names of frames without offsets, joined.
func functions(frames []string) string {
	names := make([]string, len(frames))
	for i, f := range frames {
		names[i], _, _ = strings.Cut(f, "+0x")
	}
	return strings.Join(names, " ")
}

// The caller is there at the very entry of a function, whatever it begins with, and in its middle; none is there twice.
func TestStackOfProgram(t *testing.T) {
	for _, name := range []string{"chain", "chain-pie", "chain-protected", "chain-shared", "chain-shared-pie"} {
		t.Run(name, func(t *testing.T) {
			bin := traceable(t, name)
			text := fmt.Sprintf(`
entry = count()
middle = count()
two = count()
probe("uprobe:%[1]s:c", kernel = lambda e: entry[e.ustack()].add())
probe("uprobe:%[1]s:c", kernel = lambda e: two[e.ustack(2)].add())
probe("ufunc:%[1]s:c", kernel = lambda e: middle[e.start.ustack(9)].add())
`, bin)
			e := startrace(t, script(t, text), "--format", "json", "-c", bin+" 50").ok(t)
			rows := stackRows(t, e)
			if len(rows) != 3 {
				t.Fatalf("%d rows, want one stack of each\n%s", len(rows), e.stdout)
			}
			for _, row := range rows {
				want := "c b a main"
				if row.Name == "two" {
					want = "c b"
				}
				if got := functions(row.Key[0]); row.Value != 50 || !strings.HasPrefix(got+" ", want+" ") ||
					row.Name == "two" && got != want {
					t.Errorf("%s: %d of %s, want 50 of %s …\n%s", row.Name, row.Value, got, want, e.stderr)
				}
			}
		})
	}
}

// A function without a frame of its own, and those of a program that was built without frame pointers, in its own code
// and in the kernel.
//
// > At the entry of a user function its caller is in the stack, though the function has no frame yet.
// > Programs are unwound by the tables that compilers leave in files (`.eh_frame`, `.debug_frame`).
// > They need no frame pointers, and lead through libraries, signals and handlers on other stacks.
func TestStackWithoutFrames(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	for _, point := range []string{"uprobe:" + bin + ":c", "tracepoint:syscalls:sys_enter_write", "syscall:write",
		"rawtracepoint:sys_enter"} {
		text := fmt.Sprintf("n = count()\nprobe(%q, kernel = lambda e: n[e.ustack()].add(), "+
			"where = lambda e: e.comm.startswith(\"chain\"))\n", point)
		e := startrace(t, script(t, text), "--format", "json", "-c", bin+" 20").ok(t)
		for _, row := range stackRows(t, e) {
			if got := row.Key[0]; got[len(got)-1] != "_start" {
				t.Errorf("%s: %v does not reach the beginning", point, got)
			}
			if got := functions(row.Key[0]); strings.HasPrefix(point, "uprobe") && (row.Value != 20 ||
				!strings.HasPrefix(got, "c b a main ")) {
				t.Errorf("%s: %d of %s, want 20 of c b a main …", point, row.Value, got)
			}
		}
		if strings.Contains(e.stderr, "not reach") {
			t.Errorf("%s: %s", point, e.stderr)
		}
	}
}

// Stacks lead through code of libraries, handlers of signals and their stacks, also where the returns of calls on the
// way are probed.
//
// > Calls whose return is probed (`ufunc`, `uretprobe`) are frames as others are.
// > The frame to which a handler of signals returns is `__restore_rt`, in files without symbols, too.
func TestStackWays(t *testing.T) {
	ways := map[string]string{
		"1": `^inner again again again again again again main .*_start$`,
		"2": `^inner order .*qsort\S* main .*_start$`,
		"3": `^inner handler ` + signalReturn[runtime.GOARCH] + ` .* ?\S*(raise|gsignal)\S* main .*_start$`,
		"4": `^inner handler ` + signalReturn[runtime.GOARCH] + ` .* ?\S*(raise|gsignal)\S* main .*_start$`,
	}
	const text = `
n = count()
probe("uprobe:BIN:inner", kernel = lambda e: n[e.args[0], e.ustack()].add())
`
	const returns = `
probe("uretprobe:BIN:{again,order,handler}", kernel = lambda e: None)
`
	for _, name := range []string{"walks", "walks-shared"} {
		bin := traceable(t, name)
		for _, text := range []string{text, text + returns} {
			cmd, in := readied(t, exec.Command(bin))
			r := start(t, script(t, strings.ReplaceAll(text, "BIN", bin)+attached), "--format", "json", "-p",
				fmt.Sprint(cmd.Process.Pid))
			r.await(t, `{"type":"print","text":"attached\n"}`)
			goOn(t, cmd, in)
			e := r.interrupt(t).ok(t)
			seen := map[string]int{}
			for line := range strings.Lines(e.stdout) {
				way, got, n := wayRow(t, line)
				seen[way] += n
				if !regexp.MustCompile(ways[way]).MatchString(got) {
					t.Errorf("%s: way %s: %s, want %s", name, way, got, ways[way])
				}
			}
			if want := map[string]int{"1": 10, "2": 10, "3": 10, "4": 10}; !maps.Equal(seen, want) {
				t.Errorf("%s: %v, want %v; %s", name, seen, want, e.stderr)
			}
			if strings.Contains(e.stderr, "not reach") {
				t.Errorf("%s: %s", name, e.stderr)
			}
		}
	}
}

// signalReturn is the function to which handlers of signals return.
var signalReturn = map[string]string{"amd64": "__restore_rt", "arm64": "__kernel_rt_sigreturn"}

// The frame to which a handler of signals returns has its name where it is the last one of a stack, in a part of a
// frame that a kernel half takes, and where its address is asked for.
func TestNameOfSignalFrame(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const program = `#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) void hit(void) { getppid(); __asm__ volatile(""); }
static void handler(int s) { hit(); __asm__ volatile(""); }
int main(void) { signal(SIGUSR1, handler); raise(SIGUSR1); return 0; }
`
	want := signalReturn[runtime.GOARCH]
	for _, command := range []string{"gcc -O1", "gcc -O1 -static -s"} {
		bin := need.Built(t, command, "signal.c", program)
		for _, body := range []string{"print(e.ustack(4)[3].name)", "print(e.ustack()[3].name)",
			"print(usym(e.ustack()[3].addr))", "n[e.ustack()[3].name].add()", "n[usym(e.ustack()[3].addr)].add()"} {
			text := "probe(\"t:syscalls:sys_enter_getppid\", lambda e: " + body + ")\n"
			if strings.HasPrefix(body, "n[") {
				text = "n = count()\n" + text
			}
			e := startrace(t, "-q", script(t, text), "-c", bin).ok(t)
			if got := strings.Fields(strings.TrimPrefix(e.stdout, "n:\n")); len(got) == 0 || got[0] != want {
				t.Errorf("%s: %s: %q, want %s", command, body, e.stdout, want)
			}
		}
	}
}

// wayRow reads a row of TestStackWays.
func wayRow(t *testing.T, line string) (way, functionsOf string, n int) {
	t.Helper()
	var row struct {
		Key   []json.RawMessage
		Value int
	}
	var frames []string
	if err := json.Unmarshal([]byte(line), &row); err != nil || len(row.Key) != 2 {
		t.Fatalf("%q: %v", line, err)
	}
	if err := json.Unmarshal(row.Key[1], &frames); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return string(row.Key[0]), functions(frames), row.Value
}

// Code without tables is walked by its frame pointers. Where it has none either the stack ends, and says why.
//
// > Code without such tables is unwound by frame pointers, as what programs compile themselves.
// > A stack that does not reach the beginning of its thread says in its last line why.
// > The end of the run says for each program how many there were, as `1 of 46 stacks of /usr/bin/perl does not reach
// > its beginning: memory that cannot be read`.
// > In JSON, CSV and folded lines such a stack has `…` in the place of its callers, as `…;main;read`.
// > One that is cut at as many frames as were asked for, as `e.ustack(2)`, says so in text only, and has no `…`.
func TestStackOfBareCode(t *testing.T) {
	bin := traceable(t, "bare")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:inner\", "+
		"kernel = lambda e: n[e.ustack()].add())\n", bin))
	e := startrace(t, text, "-c", bin).ok(t)
	const why = "code of which nobody knows where its frames begin"
	whole := regexp.MustCompile(`(?s)inner \(bare\)\n    keeps \(bare\)\n    main\S* \(bare\)\n.*` +
		`_start\S* \(bare\)\n\]: 10`)
	ends := regexp.MustCompile(`inner \(bare\)\n    loses \(bare\)\n` +
		`    … not followed further: ` + why + `\n\]: 10`)
	if !whole.MatchString(e.stdout) || !ends.MatchString(e.stdout) {
		t.Errorf("got\n%s", e.stdout)
	}
	forms := map[string]string{"folded": "…;loses;inner 10\n", "csv": `;…,10`, "json": `,"…"]],"value":10}`}
	for form, want := range forms {
		if e := startrace(t, text, "--format", form, "-c", bin).ok(t); strings.Count(e.stdout, want) != 1 {
			t.Errorf("%s: got %s, want %q once", form, e.stdout, want)
		}
	}
	asked := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:inner\", "+
		"kernel = lambda e: n[e.ustack(2)].add())\n", bin))
	if e := startrace(t, asked, "-c", bin).ok(t); !strings.Contains(e.stdout, "    … cut at 2 frames\n") {
		t.Errorf("got\n%s", e.stdout)
	}
	for form, want := range map[string]string{"folded": "keeps;inner 10\n", "json": `["inner","keeps"]],"value":10}`} {
		if e := startrace(t, asked, "--format", form, "-c", bin).ok(t); !strings.Contains(e.stdout, want) ||
			strings.Contains(e.stdout, "…") {
			t.Errorf("%s: got %s, want %q", form, e.stdout, want)
		}
	}
	if want := "1 of 2 stacks of " + bin + " does not reach its beginning: " + why; !strings.Contains(e.stderr, want) {
		t.Errorf("said %q, want %q", e.stderr, want)
	}
}

// A function whose frame begins at another register than the stack pointer and the frame pointer, as OpenSSL's do: the
// kernel has that register of the frame with which a stack begins.
func TestStackByRegister(t *testing.T) {
	bin := traceable(t, "registers")
	behind := map[string]int{"amd64": 18, "arm64": 16}[runtime.GOARCH] // the system call in moved
	text := script(t, fmt.Sprintf("n = count()\nfor point in (\"syscall:getppid\", \"uprobe:%s:moved+%d\"):\n"+
		"    probe(point, kernel = lambda e: n[e.probe, e.ustack()].add())\n", bin, behind))
	e := startrace(t, text, "-c", bin).ok(t)
	for _, point := range []string{"getppid", "moved"} {
		whole := regexp.MustCompile(`(?s)` + point + `[^\n]*\n    moved\S* \(registers\)\n` +
			`    calls\S* \(registers\)\n    main\S* \(registers\)\n.*_start\S* \(registers\)\n\]: 10`)
		if !whole.MatchString(e.stdout) {
			t.Errorf("%s: got\n%s", point, e.stdout)
		}
	}
	if strings.Contains(e.stderr, "do not reach") {
		t.Errorf("said %q", e.stderr)
	}
}

// vforks calls vfork, which keeps its return address in a register on amd64, for its child returns on the same stack.
const vforks = `#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int starts(void) {
	int status = 1;
	pid_t pid = vfork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, &status, 0);
	return status;
}
int main(void) { return starts() != 0; }
`

// A stack in vfork, where shells are while a child of theirs begins, leads on to who has called it.
func TestStackOfVfork(t *testing.T) {
	needTracing(t)
	call := map[string]string{"amd64": "vfork", "arm64": "clone"}[runtime.GOARCH]
	text := script(t, "n = count()\nprobe(\"tracepoint:syscalls:sys_enter_"+call+
		"\", kernel = lambda e: n[e.ustack()].add())\n")
	for _, command := range []string{"gcc -O2", "gcc -O2 -fomit-frame-pointer -static"} {
		e := startrace(t, "--format", "folded", text, "-c", need.Built(t, command, "vforks.c", vforks)).ok(t)
		whole := regexp.MustCompile(`(?m)^_start;.*;main;(starts;)?\w*vfork 1$`)
		if !whole.MatchString(e.stdout) || strings.Contains(e.stderr, "reach its beginning") {
			t.Errorf("%s: got %s, said %s", command, e.stdout, e.stderr)
		}
	}
}

// Processes that end at once after the call of which the stack is: each has its names, as copies of a program, as a
// program of its own, and as first one and then the other. Their parent is not traced by name, so nothing else keeps
// their mappings. (issue 5)
//
// > Addresses of a process are named by what it had mapped at the time.
// > The kernel tells that of all processes that begin while the script runs, so a process that lives for a millisecond
// > has its names, too.
func TestStackOfEnded(t *testing.T) {
	each := scaled(200)
	for _, name := range []string{"chain", "chain-pie", "chain-shared-pie"} {
		bin := traceable(t, name)
		for what, calls := range map[string]int{"brief": 1, "copies": 1, "changes": 2} {
			text := fmt.Sprintf("limits(stacks = 1000)\nn = count()\nprobe(\"uprobe:%s:c\", "+
				"kernel = lambda e: n[e.ustack()].add())\n", bin)
			e := startrace(t, script(t, text), "--format", "json", "-c", fmt.Sprintf("%s %s %d", bin, what, each)).ok(t)
			seen := 0
			for _, row := range stackRows(t, e) {
				seen += row.Value
				if got := functions(row.Key[0]); !regexp.MustCompile(`^c b a (child )?main\b`).MatchString(got) {
					t.Errorf("%s %s: stack %s", name, what, got)
				}
			}
			if seen != each*calls || strings.Contains(e.stderr, "addresses for names") {
				t.Errorf("%s %s: %d stacks, want %d; %s", name, what, seen, each*calls, e.stderr)
			}
		}
	}
}

// A stack as scripts see it.
//
// > In user space a stack is an immutable sequence: `len(s)`, `s[0]`, `s[1:]` (a tuple), `for f in s`, `"vfs_write" in
// > s`.
// > A frame has `.name`, `.offset` in the function, `.module` and `.addr`.
// > `.module` is a kernel module, or the file of a user frame; else it is None.
// > `s.folded()` is `main;f;g`.
// > A printed stack has a frame on a line, and a last line that begins with `…` if it was cut at n.
// > A frame is a function with an offset, as `read+0x10 (libc.so.6)`.
func TestStackValue(t *testing.T) {
	bin := traceable(t, "chain")
	text := fmt.Sprintf(`
seen = {}

def note(e):
    s, two = e.ustack(), e.ustack(2)
    seen[s] = seen.get(s, 0) + 1
    if seen[s] == 1:
        print([f.name for f in s[:4]], [f.name for f in two], "b" in s, "z" in s, s[0].module, s[0].offset, len(two),
              s == two)
        printf("%%s%%s", two, e.stack())
        print(s.folded().endswith("main;a;b;c"), bool(s), bool(e.stack()))

probe("uprobe:%s:c", note)
at_exit(lambda: print(list(seen.values())))
`, bin)
	e := startrace(t, script(t, text), "-c", bin+" 7").ok(t)
	e.has(t, `(?m)^\["c", "b", "a", "main"\] \["c", "b"\] True False chain 0 2 False$`)
	e.has(t, `(?m)^    c \(chain\)\n    b\+0x[0-9a-f]+ \(chain\)\n    … cut at 2 frames\n`+
		`    \(no kernel stack: .*\)\nTrue True False$`)
	e.has(t, `(?m)^\[7\]$`)
}

// At a system call the stack of the kernel is the same way at all kinds of points, if there is one.
//
// > The kernel's stack at a system call is the way into the call.
// > Before Linux 6.12 there is no stack of the kernel at `tracepoint:syscalls:*`, for the kernel hands the program's
// > registers to the probe there.
// > `syscall:` and `tracepoint:raw_syscalls:*` have one on all kernels.
func TestStacksOfCalls(t *testing.T) {
	needTracing(t)
	call, known := kernel.SyscallByName("getpgid")
	if !known {
		t.Fatal("no system call getpgid")
	}
	e, _ := traced(t, `
def note(e):
    frames = [f.name for f in e.stack()]
    way = [name for name in frames if "SYSCALL_64" in name or "el0_svc" in name]
    print(e.probe, len(way) > 0, len(frames) < 16, len(e.ustack()) > 0)

own = lambda e: e.comm == "wl-raw"
call = lambda e: e.comm == "wl-raw" and syscall_name(e.args.id) == "getpgid"
for p in ("tracepoint:syscalls:sys_enter_getpgid", "tracepoint:syscalls:sys_exit_getpgid", "syscall:getpgid"):
    probe(p, note, where = own)
for p in ("tracepoint:raw_syscalls:sys_enter", "tracepoint:raw_syscalls:sys_exit"):
    probe(p, note, where = call)
`, nil, "raw", strconv.Itoa(call.Nr)+",0")
	single := "False True True"
	if atLeast(t, 6, 12) {
		single = "True True True"
	}
	for point, want := range map[string]string{
		"tracepoint:syscalls:sys_enter_getpgid": single, "tracepoint:syscalls:sys_exit_getpgid": single,
		"syscall:getpgid": "True True True", "tracepoint:raw_syscalls:sys_enter": "True True True",
		"tracepoint:raw_syscalls:sys_exit": "True True True",
	} {
		e.has(t, `(?m)^`+point+" "+want+"$")
	}
}

// Each stack for which there is no room is counted, with the line that wanted it. How many there is room for depends on
// how soon startrace copies them: at least those that the table holds.
//
// > A stack can be sent, stored and used in keys, where it takes 8 bytes.
// > Each different stack is kept once.
// > A stack for which there is no room is counted as lost.
func TestStacksFull(t *testing.T) {
	const room, made = 10, 64
	bin := traceable(t, "chain")
	text := fmt.Sprintf("limits(stacks = %d)\nn = count()\nprobe(\"uprobe:%s:last\",\n"+
		"      kernel = lambda e: n[e.ustack()].add())\n", room, bin)
	e := startrace(t, script(t, text), "--format", "json", "-c", fmt.Sprintf("%s 0 %d", bin, made)).ok(t)
	kept, lost := 0, 0
	for _, row := range stackRows(t, e) {
		if len(row.Key[0]) == 0 {
			lost += row.Value
		} else {
			kept += row.Value
		}
	}
	if kept+lost != made || kept < room {
		t.Errorf("%d calls with a stack and %d without, want %d together, %d of them with", kept, lost, made, room)
	}
	line := regexp.MustCompile(`(?m)^startrace: (\d+) stacks? of .*lost: the table of stacks is full ` +
		`\(.*script\.star:4:\d+\)`).FindStringSubmatch(e.stderr)
	if said := line != nil; said != (lost > 0) || said && line[1] != strconv.Itoa(lost) {
		t.Errorf("%d stacks were lost, said %q", lost, e.stderr)
	}

	e = startrace(t, script(t, strings.Replace(text, "stacks = 10", "stacks = 1000", 1)), "--format", "json", "-c",
		fmt.Sprintf("%s 0 %d", bin, made)).ok(t)
	if rows := stackRows(t, e); len(rows) != made || strings.Contains(e.stderr, "lost") {
		t.Errorf("%d different stacks, want %d; %s", len(rows), made, e.stderr)
	}
}

// More stacks than the table in the kernel has room for are there at the end, for startrace copies them. Each process
// has a stack of its own here, so that there is time.
//
// > The kernel has room for 8192 of them, unless `limits(stacks = N)` says otherwise.
// > Where a script takes stacks of programs, startrace copies what is new and makes room for more: some 60,000 stacks
// > of 20 frames, 16 MB.
func TestStacksAreCopied(t *testing.T) {
	const room, made = 10, 200
	bin := traceable(t, "chain")
	text := script(t, fmt.Sprintf("limits(stacks = %d)\nn = count()\nprobe(\"uprobe:%s:c\",\n"+
		"      kernel = lambda e: n[e.pid, e.ustack()].add())\n", room, bin))
	e := startrace(t, text, "--format", "csv", "-c", fmt.Sprintf("%s brief %d", bin, made)).ok(t)
	if whole := strings.Count(e.stdout, "c;b"); whole <= 2*room {
		t.Errorf("%d stacks of %d, want more than the table has room for (%d):\n%s", whole, made, room, e.stderr)
	}
}

// tracing are names of what lies between a point and its program.
var tracing = regexp.MustCompile(`bpf_|__traceiter|perf_|kprobe|fprobe|rethook`)

// A stack of n frames is the first n of the whole, whatever the kernel calls between the point and the program.
func TestStackOfFrames(t *testing.T) {
	needTracing(t)
	points := []string{
		"tracepoint:sched:sched_process_exit", "rawtracepoint:sched_process_exit",
		"tracepoint:syscalls:sys_enter_close", "tracepoint:syscalls:sys_exit_close",
		"tracepoint:raw_syscalls:sys_enter", "rawtracepoint:sys_exit", "syscall:close", "kprobe:vfs_read",
		"kretprobe:vfs_read", "fentry:vfs_read", "fexit:vfs_read",
	}
	seen := 0
	for _, point := range points {
		const text = `
def texts(s):
    return [f.name for f in s]

checked = [0]

def check(e):
    checked[0] += 1
    if checked[0] > 20:
        return
    whole = texts(e.stack())
    print("whole", len(whole), " ".join(whole[:2]))
    for n, s in {1: e.stack(1), 2: e.stack(2), 3: e.stack(3), 4: e.stack(4)}.items():
        if texts(s) != whole[:n]:
            print("wrong", n, texts(s), whole[:n])

probe(POINT, check)
`
		e := startrace(t, script(t, strings.Replace(text, "POINT", strconv.Quote(point), 1)), "-c",
			"cat /proc/self/stat")
		if e.status != 0 && strings.Contains(e.stderr, "this kernel has no") {
			t.Logf("%s: %s", point, excerpt(e.stderr))
			continue
		}
		for _, line := range linesWith(e.ok(t).stdout, "wrong") {
			t.Errorf("%s: %s", point, line)
		}
		lines := linesWith(e.stdout, "whole")
		if len(lines) == 0 && e.lost(t) == 0 {
			t.Errorf("%s: no stack\n%s", point, e.stderr)
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "whole 0") && strings.HasPrefix(point, "tracepoint:syscalls:") &&
				!atLeast(t, 6, 13) {
				continue // the kernel gives the registers of the program there
			}
			if depth := number(t, line, `^whole (\d+)`); depth < 2 && !strings.HasPrefix(point, "kretprobe") ||
				tracing.MatchString(line) && !strings.Contains(line, "kretprobe_trampoline") {
				t.Errorf("%s: %s", point, line)
			}
			seen++
		}
	}
	if seen == 0 {
		t.Error("no stack was seen")
	}
}

// The leaf is the function that reached the point, also when a stack is a key.
//
// > At a span, `e.start.stack()` is the stack at the start.
func TestStackOfKernel(t *testing.T) {
	for _, point := range []string{"tracepoint:sched:sched_process_exit", "rawtracepoint:sched_process_exit"} {
		text := fmt.Sprintf("n = count()\nprobe(%q, kernel = lambda e: n[e.stack(2)].add(), "+
			"where = lambda e: e.comm == \"wl-reads\")\n", point)
		e, _ := traced(t, text, []string{"--format", "json"}, "reads", "10", "64")
		rows := 0
		for _, row := range stackRows(t, e) {
			rows++
			if names := functions(row.Key[0]); !strings.HasPrefix(names, "do_exit ") || len(row.Key[0]) != 2 ||
				row.Value != 1 {
				t.Errorf("%s: %d of %q, want do_exit and its caller once", point, row.Value, row.Key[0])
			}
		}
		if rows != 1 {
			t.Errorf("%s: %d stacks, want one", point, rows)
		}
	}
	e, d := traced(t, `
n = count()
probe("syscall:read", kernel = lambda e: n[e.start.stack()].add(),
      where = lambda e: e.comm == "wl-reads" and e.args.count == 64)
`, []string{"--format", "json"}, "reads", "100", "64")
	seen := 0
	for _, row := range stackRows(t, e) {
		names := functions(row.Key[0])
		if tracing.MatchString(names) || !strings.Contains(names, "do_syscall_64") &&
			!strings.Contains(names, "el0_svc") {
			t.Errorf("syscall: %s", names)
		}
		seen += row.Value
	}
	checkAccount(t, e, seen, d.Calls)
}

// At the entry and the return of a kernel function its own frame comes first, by each mechanism.
//
// > At the entry or return of one kernel function that function is the leaf.
// > At the entry of a user function its caller is in the stack, though the function has no frame yet.
func TestStackOfKernelFunction(t *testing.T) {
	needTracing(t)
	found := 0
	for _, kind := range []string{"kprobe", "kretprobe", "fentry", "fexit", "func"} {
		text := fmt.Sprintf("n = count()\nprobe(\"%s:vfs_read\", kernel = lambda e: n[e.stack()].add(), "+
			"where = lambda e: e.comm == \"wl-reads\")\n", kind)
		report := filepath.Join(t.TempDir(), "report.json")
		e := startrace(t, script(t, text), "--format", "json", "-c",
			program(t, "workload")+" -report "+report+" reads 100 64")
		if e.status != 0 {
			t.Logf("%s: %s", kind, excerpt(e.stderr))
			continue
		}
		found++
		seen := 0
		for _, row := range stackRows(t, e) {
			names := functions(row.Key[0])
			if !strings.HasPrefix(names, "vfs_read ksys_read ") && names != "vfs_read kretprobe_trampoline" {
				t.Errorf("%s: %s", kind, names)
			}
			seen += row.Value
		}
		if seen+e.lost(t) < 100 {
			t.Errorf("%s: %d calls, want at least 100", kind, seen)
		}
	}
	if found == 0 {
		t.Skip("needs a kernel with CONFIG_KPROBES, or with trampolines (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)")
	}
}
