package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// builtFrom compiles a program, whose stacks a test knows.
func builtFrom(t *testing.T, source, text string, command ...string) string {
	t.Helper()
	need.Program(t, command[0])
	dir := t.TempDir()
	source = filepath.Join(dir, source)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "prog")
	command = append(command, "-o", out, source)
	if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	return out
}

// boxes calls getppid by functions with long names.
const boxes = `
#include <unistd.h>
namespace shop {
template <class T> struct box {
	__attribute__((noinline)) T get(T n) { T r = getppid() + n; asm volatile(""); return r + 1; }
};
template <class T> __attribute__((noinline)) T total(box<T> b) { T r = b.get(1); asm volatile(""); return r + 1; }
}
int main() { return shop::total(shop::box<long>()) == 0; }
`

// > Names of C++ and Rust are shown in short: `std::vector::push_back` for
// > `std::vector<int, std::allocator<int> >::push_back(int const&)`.
// > With `--names full` they are shown whole.
func TestNamesOfFrames(t *testing.T) {
	bin := builtFrom(t, "boxes.cc", boxes, "g++", "-O1")
	for form, want := range map[string]string{
		"short": "main;shop::total;shop::box::get;getppid 1",
		"full":  "main;long_shop::total<long>(shop::box<long>);shop::box<long>::get(long);getppid 1",
	} {
		e := startrace(t, "-q", "--names", form, "stack", "tracepoint:syscalls:sys_enter_getppid", "--user-stacks",
			"--format", "folded", "-c", bin).ok(t)
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%s: got %q, want %q", form, e.stdout, want)
		}
	}
}

// A placed program tells in a file where it calls what, by a line for each: the function and its number of the line.
type placed struct {
	name, source, text string
	// functions are those of a stack in order, the innermost first; a * is one that is inlined.
	functions string
	commands  []string
}

const placedC = `
#include <stdio.h>
#include <unistd.h>
#define INLINED static inline __attribute__((always_inline))
static FILE *out;
__attribute__((noinline)) int note(const char *name, int line) { return fprintf(out, "%s %d\n", name, line) * 0; }
#define HERE(name) note(name, __LINE__)

INLINED int half(int n) {
	int r = n;

	r += HERE("half") + getppid(); __asm__ volatile("");
	return r / 2;
}
INLINED int twice(int n) {
	if (n > 1) { int r = HERE("twice") + half(n); __asm__ volatile(""); return r + 1; }
	return n;
}
__attribute__((noinline)) int work(int n) {
	int r = HERE("work") + twice(n); __asm__ volatile("");
	return r;
}
int main(int argc, char **argv) {
	out = fopen(argv[1], "w");
	int r = HERE("main") + work(argc); __asm__ volatile("");
	return fclose(out) + r == 0;
}
`

const placedGo = `package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

func half(n int) int { return leaf(n) / 2 }

func twice(n int) int {
	return half(n) + 1
}

//go:noinline
func work(n int) int {
	return twice(n) + 3
}

//go:noinline
func leaf(n int) int {
	var pcs [9]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	f, _ := os.Create(os.Args[1])
	for more := true; more; {
		var one runtime.Frame
		one, more = frames.Next()
		fmt.Fprintln(f, one.Function, one.Line)
	}
	f.Close()
	return n + syscall.Getppid()
}

func main() {
	if work(len(os.Args)) == 0 {
		os.Exit(1)
	}
}
`

const placedRust = `
use std::io::Write;
extern "C" { fn getppid() -> i32; }
#[inline(never)]
fn note(name: &str, line: u32) -> i32 {
    let at = std::env::args().nth(1).unwrap();
    let mut f = std::fs::OpenOptions::new().create(true).append(true).open(at).unwrap();
    writeln!(f, "{} {}", name, line).unwrap();
    0
}
#[inline(always)]
fn half(n: i32) -> i32 {
    let r = note("placed::half", line!()) + unsafe { getppid() };
    std::hint::black_box(r) / 2 + n
}
#[inline(always)]
fn twice(n: i32) -> i32 {
    let r = note("placed::twice", line!()) + half(n);
    std::hint::black_box(r) + 1
}
#[inline(never)]
fn work(n: i32) -> i32 {
    let r = note("placed::work", line!()) + twice(n);
    std::hint::black_box(r)
}
fn main() {
    let r = note("placed::main", line!()) + work(2);
    std::hint::black_box(r);
}
`

var placedPrograms = []placed{
	{"c", "placed.c", placedC, "half* twice* work main", []string{
		"gcc -O2 -gdwarf-5", "gcc -O2 -gdwarf-4", "gcc -O1 -gdwarf-5 -gz", "gcc -O0 -gdwarf-5", "clang -O2 -gdwarf-5",
		"clang -O2 -gdwarf-4", "clang -O0 -g", "gcc -O2 -g -no-pie", "gcc -O2 -g -flto"}},
	{"c++", "placed.cc", placedC, "half* twice* work main", []string{
		"g++ -O2 -gdwarf-5", "g++ -O2 -gdwarf-4", "clang++ -O2 -gdwarf-5"}},
	{"go", "placed.go", placedGo, "main.half* main.twice* main.work main.main", []string{"go build"}},
	{"rust", "placed.rs", placedRust, "placed::half* placed::twice* placed::work placed::main", []string{
		"rustc -g -C opt-level=2", "rustc -g -C opt-level=0"}},
}

// Lines and functions that were inlined are those that each program tells of itself.
//
// > With `--lines` a frame of a program has its place in the source, `main (prog) prog.c:12`, and each function that
// > was inlined there is a frame of its own, as `half (prog) prog.c:5 (inlined)`.
// > That is so where the program has debug information (`-g`), or a file of its own has it.
func TestLinesOfFrames(t *testing.T) {
	for _, p := range placedPrograms {
		for _, command := range p.commands {
			t.Run(p.name+"/"+command, func(t *testing.T) {
				bin := builtFrom(t, p.source, p.text, strings.Fields(command)...)
				checkPlaced(t, p, bin)
			})
		}
	}
}

func checkPlaced(t *testing.T, p placed, bin string) {
	t.Helper()
	told := filepath.Join(t.TempDir(), "told")
	e := startrace(t, "-q", "--lines", "stack", "tracepoint:syscalls:sys_enter_getppid", "--user-stacks", "-c",
		bin+" "+told).ok(t)
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines[name] = number
	}
	at := 0
	for _, name := range strings.Fields(p.functions) {
		name, inlined := strings.CutSuffix(name, "*")
		want := fmt.Sprintf("    %s (prog) %s:%s\n", name, p.source, lines[name])
		if inlined {
			want = strings.TrimSuffix(want, "\n") + " (inlined)\n"
		}
		next := strings.Index(e.stdout[at:], want)
		if next < 0 {
			t.Fatalf("no %q behind %q in\n%s", want, e.stdout[:at], e.stdout)
		}
		at += next
	}
}

// > In user halves `.file` and `.line` are where a frame is in the source, and None where nobody knows.
// > `.inlined` is True of a function that the compiler has put into that of the next frame.
// > A script that names `.inlined` has such frames as `--lines` gives them, and else none.
func TestSourceOfFrames(t *testing.T) {
	bin, told := builtFrom(t, "placed.c", placedC, "gcc", "-O2", "-g"), filepath.Join(t.TempDir(), "told")
	for parts, want := range map[string]string{
		"f.name, f.file and f.file.endswith('/placed.c'), f.line != None": "work True True\nmain True True\n",
		"f.name, f.line != None, f.inlined": "half True True\ntwice True True\nwork True False\n" +
			"main True False\n",
	} {
		text := `probe("tracepoint:syscalls:sys_enter_getppid", lambda e: [print(` + parts + `) for f in e.ustack()])`
		e := startrace(t, "-q", "-e", text, "-c", bin+" "+told).ok(t)
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%s: got\n%s, want\n%s", parts, e.stdout, want)
		}
	}
}

// A debug file by its build id, or by its name beside the program, has the lines and the names of a stripped program.
//
// > That is so where the program has debug information (`-g`), or a file of its own has it.
func TestLinesByDebugFile(t *testing.T) {
	p := placedPrograms[0]
	need.Program(t, "objcopy")
	bin := builtFrom(t, p.source, p.text, "gcc", "-O2", "-g")
	for _, command := range [][]string{{"objcopy", "--only-keep-debug", bin, bin + ".debug"}, {"strip", bin},
		{"objcopy", "--add-gnu-debuglink=" + bin + ".debug", bin}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	checkPlaced(t, p, bin)
}
