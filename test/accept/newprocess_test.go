package accept

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Programs whose files are known have whole stacks from their first instruction on: the kernel says what they have
// mapped, and walks find the rules of these files. Here the tracer itself does not run while they do, and so has no
// part in that. Kernels before 5.17 do not say it, and then stacks say that they are too early.
//
// > A program that exec begins, or a library that was loaded, has its own as soon as the files are known: from 5.17 on
// > the kernel says what is mapped where there is no table yet.
// > So the stacks of a new process are whole at once if another one had its files mapped before.
// > Older kernels do not say it.
func TestStacksOfNewProcesses(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:c\", kernel = lambda e: n[e.ustack()].add())\n", bin))
	e := startrace(t, "--format", "folded", text, "-c", bin+" alone 50").ok(t)
	whole, early := 0, 0
	for line := range strings.Lines(e.stdout) {
		switch n := number(t, line, `(?m) (\d+)$`); {
		case strings.HasPrefix(line, "_start;") && strings.HasSuffix(strings.Fields(line)[0], ";main;a;b;c"):
			whole += n
		default:
			early += n
		}
	}
	want := 50
	if !atLeast(t, 5, 17) {
		want = 0
	}
	said := strings.Contains(e.stderr, "taken before it was known what the program has mapped")
	if whole != want || whole+early != 50 || said != (want == 0) {
		t.Errorf("%d stacks are whole, %d early, want %d whole of 50; said %q:\n%s", whole, early, want, e.stderr,
			e.stdout)
	}
}

// A process of which it is not known yet what it has mapped: its stacks are whole, or say so.
//
// > The tables of a process are made when its first stack is seen, or when it begins.
// > Those of a file are made when it is seen first, which takes some milliseconds, of a large program (30 MB) some 60.
// > Until then code is unwound by frame pointers, and stacks through it say `taken before it was known what the program
// > has mapped`.
// > There a program that exec begins has its table about a millisecond later: what runs before, as the stacks of
// > programs that end at once, can be short (a third of 500 on a busy machine).
// > Where startrace itself has to wait for a CPU, that is later by as much, and the stacks of programs that live
// > shorter are all short.
func TestStackBeforeTables(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:c\", lambda e: print(e.ustack()))\n", bin))
	e := startrace(t, text, "-c", bin+" brief 20").ok(t)
	begins := strings.Count(e.stdout, "    c (chain-frameless)\n")
	whole := strings.Count(e.stdout, "    _start+")
	early := strings.Count(e.stdout, "… not followed further: taken before it was known what the program has mapped")
	if begins != 20 || whole+early != 20 {
		t.Errorf("%d stacks, %d whole and %d early:\n%s", begins, whole, early, e.stdout)
	}
}

// A program loads three libraries in turn, of which each is unloaded before the next one takes its place. They are
// laid out alike, so that all stacks have the same addresses. No stack has the names of another library, however soon
// it is taken: the kernel says which one is mapped.
//
// > A library that was unloaded can leave its place to another one.
// > From 5.17 on the kernel is asked which one is there, and each stack has the names of that which ran.
// > On older kernels stacks of the first milliseconds, until startrace has heard of the second library, can have the
// > names of the first.
func TestStacksOfReplacedLibraries(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if !atLeast(t, 5, 17) {
		t.Skip("needs Linux 5.17, whose kernel says what is mapped")
	}
	const rounds = 40
	const alike = "gcc -O1 -fomit-frame-pointer -shared -fPIC -Wl,-Ttext-segment=0x600000000000" // all at one place
	names := []string{"aaa", "bbb", "ccc"}
	paths := ""
	for _, name := range names {
		paths += fmt.Sprintf("%q,", need.Built(t, alike, name+".c", fmt.Sprintf(`
static volatile int sink;
__attribute__((noinline, visibility("protected"))) void %[1]s_inner(void (*f)(void)) { f(); sink++; }
void run(void (*f)(void)) { %[1]s_inner(f); sink++; }
`, name)))
	}
	bin := need.Built(t, "gcc -O1 -fomit-frame-pointer", "loads.c", fmt.Sprintf(`
#include <dlfcn.h>
#include <unistd.h>
__attribute__((noinline)) void mark(void) { getppid(); __asm__ volatile(""); }
int main(void)
{
	const char *paths[] = {%s};
	usleep(100000); /* the program is no longer one that begins */
	for (int i = 0; i < 3 * %d; i++) {
		void *library = dlopen(paths[i %% 3], RTLD_NOW);
		void (*run)(void (*)(void)) = dlsym(library, "run");
		run(mark);
		dlclose(library);
		usleep(3000);
	}
	return 0;
}
`, paths, rounds))
	e := startrace(t, "--format", "folded", "-e", "n = count()", "-e",
		`probe("tracepoint:syscalls:sys_enter_getppid", kernel = lambda e: n[e.ustack()].add())`, "-c", bin).ok(t)
	of, whole, all := map[string]int{}, 0, 0
	for line := range strings.Lines(e.stdout) {
		n := number(t, line, `(?m) (\d+)$`)
		all += n
		for _, name := range names {
			if strings.Contains(line, name+"_inner") {
				of[name] += n
			}
		}
		if strings.HasPrefix(line, "_start;") && strings.HasSuffix(strings.Fields(line)[0], "_inner;mark;getppid") {
			whole += n
		}
	}
	if all != 3*rounds || max(of["aaa"], of["bbb"], of["ccc"]) > rounds || whole == 0 {
		t.Errorf("%d stacks, by library %v, want at most %d of each; %d are whole:\n%s%s", all, of, rounds, whole,
			e.stdout, e.stderr)
	}
}

// Code that a program has moved is found where it is: by the rules of its file, or by frame pointers.
//
// > Code that a program moves (`mremap`) is found there from 5.17 on, too.
func TestStacksOfMovedCode(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if !atLeast(t, 5, 17) {
		t.Skip("needs Linux 5.17, whose kernel says what is mapped")
	}
	bin := need.Built(t, "gcc -O1 -fomit-frame-pointer -static", "moves.c", `
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
extern char __executable_start[], etext[];
__attribute__((noinline)) void mark(void) { getppid(); __asm__ volatile(""); }
__attribute__((noinline)) void moved(void (*f)(void)) { f(); __asm__ volatile(""); }
int main(void)
{
	long first = (long)__executable_start & -4096L, size = ((long)etext - first + 4095) & -4096L;
	int file = open("/proc/self/exe", O_RDONLY);
	char *copy = mmap(0, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	char *there = mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)0x600000000000);
	void (*call)(void (*)(void)) = (void *)(there + ((long)moved - first));
	for (int i = 0; i < 3; i++)
		call(mark);
	getpid();
	return pause(); /* it lives while its stacks are named */
}
`)
	e := startrace(t, "-q", script(t, `
probe("tracepoint:syscalls:sys_enter_getppid", lambda e: print(e.ustack().folded()))
probe("tracepoint:syscalls:sys_enter_getpid", lambda e: exit())
`), "-c", bin).ok(t)
	if !regexp.MustCompile(`^(_start;.*;main;moved;mark;\w*getppid\n){3}$`).MatchString(e.stdout) {
		t.Errorf("got %s%s", e.stdout, e.stderr)
	}
}
