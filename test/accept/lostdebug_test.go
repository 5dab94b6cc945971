package accept

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// inlinedTwice is a program of functions that are inlined, and of a header with one that is not.
var inlinedTwice = map[string]string{
	"own.h": `static __attribute__((noinline)) int own(int q) { __asm__ volatile(""); return q * 2; }
`,
	"calls.c": `#include "own.h"
int getppid(void);
int other(int x);
static volatile int sink;
static inline __attribute__((always_inline)) int leaf_in(int x) {
  sink += x;
  return getppid() + x;
}
static inline __attribute__((always_inline)) int middle_in(int x) { return leaf_in(x + 1) + 1; }
__attribute__((noinline)) int outer(int x) {
  int r = middle_in(x);
  sink = r;
  return r;
}
int main(void) { for (int i = 0; i < 6; i++) sink += own(outer(i)) + other(i); return 0; }
`,
	"other.c": `#include "own.h"
int other(int x) { return own(x) + 1; }
`,
}

// Calls that were inlined, and functions that are asked for by their source file, are not left out without a word where
// the debug information that tells of them is not there or is damaged: probes, lists and stacks name the file.
//
// > Calls that were inlined in a source file whose debug information is not there are not seen, and stacks lack their
// > frames, which messages say, too.
func TestInlinedCallsOfLostDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -O2 -gdwarf-5 -gsplit-dwarf", "gcc -O2 -gdwarf-4 -gsplit-dwarf",
		"clang -O2 -gdwarf-5 -gsplit-dwarf -fno-split-dwarf-inlining", "gcc -O2 -gdwarf-5 -Wl,--build-id"} {
		l := lostInlined{T: t, command: command, binary: need.BuiltOf(t, command, inlinedTwice)}
		dir := filepath.Dir(l.binary)
		if !strings.Contains(command, "split") {
			other := need.BuiltOf(t, command+" -DOTHER", inlinedTwice)
			share := exec.Command(need.Program(t, "dwz"), "-m", filepath.Join(dir, "shared.dwo"), l.binary, other)
			if out, err := share.CombinedOutput(); err != nil {
				t.Fatalf("dwz: %v\n%s", err, out)
			}
		}
		list, err := filepath.Glob(filepath.Join(dir, "*.dwo"))
		if err != nil || len(list) == 0 {
			t.Fatalf("%v, %v", list, err)
		}
		l.whole()
		for _, path := range list {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		l.lost("is not there")
		for _, path := range list {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		why := "is damaged"
		l.lost(why)
	}
}

// A lostInlined is a program of TestInlinedCallsOfLostDebugInformation.
type lostInlined struct {
	*testing.T
	command, binary string
}

// run counts the calls of functions.
func (l *lostInlined) run(pattern string) ended {
	l.Helper()
	text := "n = count()\nprobe(\"" + pattern + "\", lambda e: n[e.func].add())\n"
	return startrace(l.T, script(l.T, strings.ReplaceAll(text, "BIN", l.binary)), "-c", l.binary).ok(l.T)
}

func (l *lostInlined) stacks() ended {
	l.Helper()
	return startrace(l.T, "stack", "t:syscalls:sys_enter_getppid", "--user-stacks", "--lines", "--format", "json",
		"-c", l.binary).ok(l.T)
}

// counted wants counts, and no word of a file.
func (l *lostInlined) counted(e ended, want string) {
	l.Helper()
	if got := strings.Join(strings.Fields(e.stdout), " "); got != want {
		l.Errorf("%s: %s, want %s", l.command, got, want)
	}
	l.quiet(e)
}

// quiet wants no word of a file.
func (l *lostInlined) quiet(e ended) {
	l.Helper()
	if strings.Contains(e.stderr, ".dwo") {
		l.Errorf("%s: %s", l.command, e.stderr)
	}
}

// whole wants what is seen where all is there.
func (l *lostInlined) whole() {
	l.Helper()
	e := l.run("uprobe:BIN:*_in")
	l.counted(e, "n: leaf_in 6 middle_in 6")
	e = l.run("uprobe:BIN:@own.h:*")
	l.counted(e, "n: own 12")
	e = l.stacks()
	if !strings.Contains(e.stdout, "leaf_in") || !strings.Contains(e.stdout, "middle_in") {
		l.Errorf("%s: %s", l.command, e.stdout)
	}
	l.quiet(e)
}

// lost wants the files to be named, and what is wrong with them.
func (l *lostInlined) lost(why string) {
	l.Helper()
	why = ".dwo, which " + why
	e := l.run("uprobe:BIN:*o*er")
	const said = "calls that the compiler has inlined in some source files of the program are not seen: "
	if !strings.Contains(e.stderr, said) || !strings.Contains(e.stderr, why) {
		l.Errorf("%s: %s", l.command, e.stderr)
	}
	e = startrace(l.T, "list", "uprobe:"+l.binary+":*er").ok(l.T)
	if !strings.Contains(e.stderr, why) || !strings.Contains(e.stdout, ":outer\n") {
		l.Errorf("%s: %s%s", l.command, e.stdout, e.stderr)
	}
	e = l.stacks()
	if !strings.Contains(e.stdout, "outer") || !strings.Contains(e.stderr, "stacks of "+l.binary) ||
		strings.Count(e.stderr, why) != 1 {
		l.Errorf("%s: %s%s", l.command, e.stdout, e.stderr)
	}
	l.quiet(l.run("ufunc:BIN:outer"))
	e = startrace(l.T, "trace", "ufunc:"+l.binary+":outer", "-c", l.binary).ok(l.T)
	if !strings.Contains(e.stderr, "arguments are not printed: the debug information is in a file of its own, ") ||
		strings.Count(e.stderr, why) != 1 {
		l.Errorf("%s: %s%s", l.command, e.stdout, e.stderr)
	}
}

// A file of two that is lost has its functions left out by the name of a header that both have, which is said.
func TestFunctionsOfLostDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const command = "gcc -O2 -g -gsplit-dwarf"
	l := lostInlined{T: t, command: command, binary: need.BuiltOf(t, command, inlinedTwice)}
	list, err := filepath.Glob(filepath.Join(filepath.Dir(l.binary), "*other.dwo"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if err := os.Remove(list[0]); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"uprobe", "ufunc"} {
		e := l.run(kind + ":BIN:@own.h:*")
		if !strings.Contains(e.stdout, "6") || !strings.Contains(e.stderr,
			"functions of some source files of the program are not seen: ") ||
			!strings.Contains(e.stderr, "other.dwo, which is not there") {
			t.Errorf("%s: %s%s", kind, e.stdout, e.stderr)
		}
	}
}

// The debug file of a program that was stripped is named, and what is wrong with it, if it is there and not taken.
func TestDebugFileIsNotTaken(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	objcopy := need.Program(t, "objcopy")
	for _, link := range []string{"-Wl,--build-id=none", "-Wl,--build-id"} {
		binary := need.BuiltOf(t, "gcc -O2 -g "+link, inlinedTwice)
		other := need.BuiltOf(t, "gcc -O1 -g "+link, inlinedTwice)
		debug := binary + ".debug"
		for _, words := range [][]string{{"--only-keep-debug", binary, debug},
			{"--strip-all", "--add-gnu-debuglink=" + debug, binary}, {"--only-keep-debug", other, other + ".debug"}} {
			if out, err := exec.Command(objcopy, words...).CombinedOutput(); err != nil {
				t.Fatalf("objcopy %v: %v\n%s", words, err, out)
			}
		}
		l := lostInlined{T: t, command: link, binary: binary}
		l.counted(l.run("uprobe:BIN:*_in"), "n: leaf_in 6 middle_in 6")
		whole, err := os.ReadFile(debug)
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := os.ReadFile(other + ".debug")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			content []byte
			want    string
		}{{nil, "is damaged"}, {whole[:len(whole)/2], "is damaged"}, {wrong, "is of another build"}} {
			if err := os.WriteFile(debug, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, pattern := range []string{"uprobe:BIN:outer", "uprobe:BIN:calls.c:11"} {
				text := "probe(\"" + strings.ReplaceAll(pattern, "BIN", binary) + "\", lambda e: None)\n"
				e := startrace(t, script(t, text), "-c", binary)
				if e.status == 0 || !strings.Contains(e.stderr, debug+", which "+c.want) {
					t.Errorf("%s: %s: want %s: %d %s", link, pattern, c.want, e.status, e.stderr)
				}
			}
		}
	}
}
