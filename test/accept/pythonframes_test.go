package accept

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// interpreters gives the paths of those of Python that frames are known of, by version.
func interpreters(t *testing.T) map[string]string {
	t.Helper()
	needTracing(t)
	need.Sources(t, "../..")
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/nonexistent"
	}
	out := map[string]string{}
	for _, version := range []string{"3.11", "3.12", "3.13"} {
		own, err := filepath.Glob(home + "/.pyenv/versions/" + version + ".*/bin/python" + version)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append([]string{"/usr/bin/python" + version}, own...) {
			if exec.Command(path, "-c", "import faulthandler").Run() == nil {
				out[path] = version
			}
		}
	}
	if len(out) == 0 {
		t.Skip("needs Python 3.11, 3.12 or 3.13 (Debian's package python3)")
	}
	return out
}

// scriptOfPython makes a system call at the innermost of several calls, and writes its stack as faulthandler sees it.
var scriptOfPython = `
import asyncio, faulthandler, functools, os, re, sys, threading, warnings

warnings.simplefilter("ignore") # of fork in a program with threads

out = open(sys.argv[1], "w")

def leaf():
    os.getppid(); faulthandler.dump_traceback(out, False)

class Node:
    def down(self, n):
        if n == 0:
            return leaf()

        return self.down(n - 1)

    @property
    def deep(self):
        return self.down(3)

def steps(n):
    for i in range(n):

        yield Node().deep

def outer(n):
    yield from steps(n)

def comprehension():
    return [x for x in
            {str(y): y for y in outer(1)}]

def key(x):
    comprehension()
    return x

def between():
    return sorted([1], key = lambda x: key(
        x))

def replace(match):
    list(map(key, "a"))
    return ""

def größe_Ω():
    try:
        1 / 0
    except ZeroDivisionError:
        try:
            Node().down(1)
        finally:
            pass

async def inner():
    await asyncio.sleep(0)
    leaf()

async def awaits():
    await inner()

` + "def long(x):\n    if x < 0:\n" + longBody + `    leaf()

def recursion(n):
    if n:
        recursion(n - 1)
    else:
        leaf()

print("ready", flush = True)
sys.stdin.readline()

class Body:
    leaf()

@functools.lru_cache
def cached():
    leaf()

between()
re.sub("a", replace, "banana", count = 1)
größe_Ω()
asyncio.run(awaits())
long(1)
recursion(30)
cached()
made = compile("def made():\n\n    leaf()\n\nmade()", "<made>", "exec")
exec(made, {"leaf": leaf})
threads = [threading.Thread(target = f) for f in (between, größe_Ω, lambda: recursion(5))]
for thread in threads:
    thread.start()
    thread.join()
holding = [threading.Thread(target = threading.Event().wait, daemon = True) for _ in range(20)]
for thread in holding:
    thread.start()
recursion(2)
if os.fork() == 0:
    recursion(3)
    out.flush()
    os._exit(0)
os.wait()

def last():
    leaf()

last()
sys.stdin.readline()
`

// longBody are many lines, of which the instructions take several bytes in the table of lines.
var longBody = strings.Repeat("        x = (x +\n             1) * 2\n\n", 40)

// handlerStacks reads what faulthandler has written: of each stack its functions with their files and lines.
func handlerStacks(text string) (out []string) {
	frame := regexp.MustCompile(`(?m)^  File "(.*)", line (\d+) in (.*)$`)
	for part := range strings.SplitSeq(text, "Stack (most recent call first):\n") {
		var frames []string
		for _, m := range frame.FindAllStringSubmatch(part, -1) {
			name, err := strconv.Unquote(`"` + strings.ReplaceAll(m[3], `\x`, `\u00`) + `"`) // characters are escaped
			if err != nil {
				name = m[3]
			}
			frames = append(frames, name+" "+m[1]+":"+m[2])
		}
		if len(frames) > 0 {
			out = append(out, strings.Join(frames, "\n"))
		}
	}
	return out
}

// Frames of functions of Python have the names, the files and the lines that Python itself prints, through recursion,
// generators, comprehensions, coroutines, functions of C that call back, and in threads and forked processes.
//
// > Behind each frame of the function by which Python runs scripts (`_PyEval_EvalFrameDefault`) stand the functions
// > that it runs, as `recursion (prog.py)`.
// > Python 3.11, 3.12 and 3.13 are known.
// > A function of Python has the name, the file and the line that tracebacks print.
func TestStackOfPython(t *testing.T) {
	for path, version := range interpreters(t) {
		dir := t.TempDir()
		program, dump := filepath.Join(dir, "prog.py"), filepath.Join(dir, "dump")
		if err := os.WriteFile(program, []byte(scriptOfPython), 0o644); err != nil {
			t.Fatal(err)
		}
		text := script(t, `
stacks = []

def note(e):
    stacks.append("stack")
    for f in e.ustack():
        if f.file and (f.file.endswith(".py") or f.file.startswith("<")):
            stacks.append(f.name + " " + f.file + ":" + str(f.line))
    if "last" in e.ustack():
        print("end")

probe("tracepoint:syscalls:sys_enter_getppid", note)
at_exit(lambda: print("\n".join(stacks)))
`+attached)
		cmd, in := readied(t, exec.Command(path, program, dump))
		r := start(t, text, "-q", "-f", "-p", fmt.Sprint(cmd.Process.Pid))
		r.await(t, "attached")
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		r.await(t, "end") // what has ended cannot be read
		goOn(t, cmd, in)
		e := r.interrupt(t).ok(t)
		printed, err := os.ReadFile(dump)
		if err != nil {
			t.Fatal(err)
		}
		want := handlerStacks(string(printed))
		var got []string
		for part := range strings.SplitSeq(e.stdout, "stack\n") {
			if part != "" {
				got = append(got, strings.TrimSuffix(part, "\n"))
			}
		}
		tried.Many(t, "%d stacks of each", len(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s (%s): got %d stacks, want %d\n%s", path, version, len(got), len(want), e.stderr)
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("stack %d: got\n%s\nwant\n%s", i, got[i], want[i])
				}
			}
		}
	}
}

// Of a version that is not known, and of what can not be read any more, it is said.
//
// > Of other versions the end of the run says `2 of 2 stacks of /usr/bin/python3.10 without the functions of Python
// > that ran`.
// > Functions are read out of the process when a stack with them is first seen.
// > Of one that has ended by then, or has given the function's code back, they are `<unknown Python function>`.
// > Functions of other interpreters, as those of Perl and Ruby, are no frames.
func TestStackOfUnknownPython(t *testing.T) {
	const program = `
#define _GNU_SOURCE
#include <sys/types.h>
#include <unistd.h>
__attribute__((section(".PyRuntime"))) char _PyRuntime[100] = "other";
extern const unsigned long Py_Version;
__attribute__((visibility("default"))) const unsigned long Py_Version = VERSION;
__attribute__((noinline)) void _PyEval_EvalFrameDefault(void) { getppid(); __asm__ volatile(""); }
int main(void) { _PyEval_EvalFrameDefault(); return 0; }
`
	needTracing(t)
	need.Sources(t, "../..")
	text := script(t, `probe("t:syscalls:sys_enter_getppid", lambda e: print(e.ustack().folded()))`)
	for _, version := range []string{"0x03090000", "0x030d0000", "0x030e0000", "0x04000000"} {
		bin := need.Built(t, "gcc -O1 -rdynamic -DVERSION="+version, "python.c", program)
		e := startrace(t, text, "-c", bin).ok(t)
		if want := "1 of 1 stack of " + bin + " without the functions of Python that ran: known are those of the " +
			"only interpreter of a process, of Python 3.11, 3.12 and 3.13\n"; !strings.Contains(e.stderr, want) ||
			!strings.Contains(e.stdout, "main;_PyEval_EvalFrameDefault") {
			t.Errorf("%s: got %q, said %q", version, e.stdout, e.stderr)
		}
	}
	e := startrace(t, text, "-c", need.Program(t, "perl")+" -e 'sub named { getppid() } named()'").ok(t)
	if strings.Contains(e.stdout, "named") || !strings.Contains(e.stdout, "getppid") {
		t.Errorf("perl: %s", e.stdout)
	}
	for path := range interpreters(t) {
		e := startrace(t, script(t, `probe("t:syscalls:sys_enter_exit_group", lambda e: print(e.ustack().folded()))`),
			"-c", path+` -c "import os; os._exit(0)"`).ok(t)
		last := regexp.MustCompile(`(<module>|<unknown_Python_function>);_PyEval_EvalFrameDefault;`)
		if strings.Contains(e.stderr, "without") || !last.MatchString(e.stdout) {
			t.Errorf("%s: got %q, said %q", path, e.stdout, e.stderr)
		}
	}
}

// Code that Python puts where other code lay has its own name, file and line: functions that are made one after the
// other, and modules that are loaded so, of equal text. Each waits until it is seen. Where a process has a second
// interpreter, its functions and those of the first one are left out, which is said.
//
// > Code that Python has put where other code lay before is another function: 15 bits of a stack's frame tell them
// > apart.
// > In a process with several interpreters of Python nobody knows which of them runs, so their functions are left out.
func TestStackOfPythonCodeInOnePlace(t *testing.T) {
	const program = `
import os, sys
word = "import os, sys\nos.getppid(); sys.stdin.readline()\n"
for n in "abcdef":
    with open(sys.argv[1] + "/mod_" + n + ".py", "w") as f:
        f.write(word)
sys.path.insert(0, sys.argv[1])
print("ready", flush = True)
sys.stdin.readline()
for n in "abcdef":
    __import__("mod_" + n)
for n in range(6):
    exec(f"def made{n}():\n os.getppid(); sys.stdin.readline()\nmade{n}()\n", {"os": os, "sys": sys})
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
def outer():
    getattr(interpreters, "run_string")(interpreters.create(), "import os\nos.getppid()\n")
outer()
sys.stdin.readline()
`
	want := []string{"mod_a.py:2", "mod_b.py:2", "mod_c.py:2", "mod_d.py:2", "mod_e.py:2", "mod_f.py:2",
		"made0:2", "made1:2", "made2:2", "made3:2", "made4:2", "made5:2", "no frame"}
	for path := range interpreters(t) {
		dir := t.TempDir()
		file := filepath.Join(dir, "prog.py")
		if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		text := script(t, `
def note(e):
    of = [f for f in e.ustack() if f.file and (f.file.endswith(".py") or f.file.startswith("<"))]
    name = of[0].name if of else "no frame"
    print("seen", (of[0].file.split("/")[-1] if name == "<module>" else name) + (":%d" % of[0].line if of else ""))

probe("tracepoint:syscalls:sys_enter_getppid", note)
`+attached)
		cmd, in := readied(t, exec.Command(path, file, dir))
		r := start(t, text, "-q", "-f", "-p", fmt.Sprint(cmd.Process.Pid))
		r.await(t, "attached")
		var got []string
		for range want {
			if _, err := io.WriteString(in, "\n"); err != nil {
				t.Fatal(err)
			}
			got = append(got, r.awaitBegin(t, "seen "))
		}
		goOn(t, cmd, in)
		e := r.interrupt(t).ok(t)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if !strings.Contains(e.stderr, "without the functions of Python that ran") {
			t.Errorf("%s: of a second interpreter it says %q", path, e.stderr)
		}
	}
}
