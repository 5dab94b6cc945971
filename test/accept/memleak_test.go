package accept

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// keptByHeap is what the program heap does not free, by the function that asked for it: the bytes and the allocations.
var keptByHeap = map[string][2]int{
	"kept": {100000, 100}, "kept_cleared": {777, 1}, "grown": {100000, 1},
	"kept_posix": {1001, 1}, "kept_aligned": {1024, 1}, "kept_memalign": {1003, 1}, "kept_valloc": {1004, 1},
	"kept_pvalloc": {1005, 1}, "kept_array": {1005, 1}, "kept_large": {5000000, 1}, "refused": {1006, 1},
	"refused_array": {1007, 1}, "kept_mapped": {6 * 4096, 1}, "kept_remapped": {5 * 4096, 1},
	"kept_twice": {12 * 4096, 2}, "kept_in_parts": {9 * 4096, 2},
	"kept_trimmed": {12 * 4096, 2},
}

// notFreed is the pattern of a report of memory with a function in its stack.
func notFreed(bytes, allocations, function string) string {
	return fmt.Sprintf(`(?m)^%s bytes in %s allocations? of process \d+ not freed, from\n(?: +\S.*\n)*? +%s \(`, bytes,
		allocations, function)
}

// Memory that is kept is reported with the function that asked for it, to the byte, by whichever function of the
// allocator, and once, though the allocator asks the kernel for it in turn; what was freed is not.
func TestMemleak(t *testing.T) {
	path := traceable(t, "heap")
	e := startrace(t, "memleak", "-T", "50", "-l", path, "-c", path).ok(t)
	for function, want := range keptByHeap {
		e.has(t, notFreed(fmt.Sprint(want[0]), fmt.Sprint(want[1]), function))
		if n := len(linesWith(e.stdout, "    "+function+" (")); n != 1 && e.skipped(t) == 0 {
			t.Errorf("%s is in %d stacks\n%s", function, n, excerpt(e.stdout))
		}
	}
	if regexp.MustCompile(`(?m)^ +(freed|unmapped) \(`).MatchString(e.stdout) {
		t.Errorf("memory that was freed: %s", e.stdout)
	}
	if testing.Short() {
		return // each run compiles for seconds in a guest
	}
	if e = startrace(t, "memleak", "--older", "1h", "-l", path, "-c", path).ok(t); e.stdout != "" {
		t.Errorf("nothing is an hour old: %s", e.stdout)
	}
	if e = startrace(t, "memleak", "--min", "4M", "-l", path, "-c", path); e.status != 2 {
		t.Errorf("--min 4M: status %d\n%s", e.status, e.stderr)
	}
	e = startrace(t, "memleak", "--min", "4000000", "-l", path, "-c", path).ok(t)
	if n := len(linesWith(e.stdout, "not freed")); n != 1 && e.skipped(t) == 0 {
		t.Errorf("%d stacks of at least 4000000 bytes, want 1: %s", n, excerpt(e.stdout))
	}
}

// A sample gives the same numbers, about: of many allocations of two sizes in turns and of a large one, which is surely
// in it.
//
// The verifier of 5.10 takes 100 s in a guest for the stacks of memleak, which TestMemleak has it do already.
func TestMemleakSample(t *testing.T) {
	need.Long(t)
	path := traceable(t, "heap")
	const many = 4000
	for _, each := range []int{10, 100} {
		e := startrace(t, "memleak", "--sample", fmt.Sprintf("1/%d", each), "-l", path, "-c",
			fmt.Sprint(path, " ", many)).ok(t)
		e.has(t, notFreed("about 5000000", "about 1", "kept_large"))
		m := regexp.MustCompile(notFreed(`about (\d+)`, `about (\d+)`, "kept_many")).FindStringSubmatch(e.stdout)
		if m == nil {
			t.Fatalf("nothing of kept_many in %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
		}
		near(t, "bytes", number(t, m[1], `(\d+)`), many*220, each*2*400)
		near(t, "allocations", number(t, m[2], `(\d+)`), many, each*4)
	}
	for _, wrong := range []string{"1000", "2/3", "1/0", "1/x", "1/9999999"} {
		if e := startrace(t, "memleak", "--sample", wrong, "-c", "true"); e.status != 2 ||
			!strings.Contains(e.stderr, "--sample: got ") {
			t.Errorf("--sample %s: status %d\n%s", wrong, e.status, e.stderr)
		}
	}
}

func near(t *testing.T, what string, got, want, off int) {
	t.Helper()
	if got < want-off || got > want+off {
		t.Errorf("%d %s, want %d or at most %d beside it", got, what, want, off)
	}
}

// A program that has its allocator in itself says nothing of libc's, and the run says what to do.
func TestMemleakHint(t *testing.T) {
	path := traceable(t, "heap")
	traceable(t, "chain-shared") // with which a libc comes
	e := startrace(t, "memleak", "-c", path)
	const want = "Nothing called the allocator of c. A program that is linked statically"
	if !strings.Contains(e.ok(t).stdout, want) {
		t.Errorf("want %s in %s", want, excerpt(e.stdout))
	}
	e = startrace(t, "memleak", "-T", "50", "-l", path, "-c", path).ok(t)
	if strings.Contains(e.stdout, "Nothing called") {
		t.Errorf("a hint without a reason: %s", excerpt(e.stdout))
	}
}

// What the kernel allocates for a process and keeps, message queues, and not what it frees again, pipes.
func TestMemleakKernel(t *testing.T) {
	needTracing(t)
	needGuest(t)
	const queues = 20
	e, _ := tool(t, []string{"memleak", "-K", "-T", "1000"}, "queues", fmt.Sprint(queues))
	e.has(t, fmt.Sprintf(`(?m)^\d+ bytes in %d allocations? of the kernel not freed, from\n(?: +\S.*\n)*? +newque\n`,
		queues))
	if pipes := linesWith(e.stdout, "    alloc_pipe_info"); len(pipes) > 0 && e.skipped(t) == 0 {
		t.Errorf("what is freed with a pipe: %q", pipes)
	}
}

// In the smallest budget the report is there, too: neither the types of the C library, which are kept, nor its names,
// which are read for it, are values of the script.
func TestMemleakInSmallBudget(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "leaks.c", `#include <stdlib.h>
void *volatile kept;
int main(void) {
	for (int i = 0; i < 100; i++)
		kept = malloc(24);
}
`)
	startrace(t, "memleak", "--memory", "32M", "-c", binary).ok(t).has(t, "not freed, from")
}

// Each stack is one line of JSON.
func TestMemleakJSON(t *testing.T) {
	path := traceable(t, "heap")
	e := startrace(t, "memleak", "--format", "json", "-l", path, "-c", path).ok(t)
	for line := range strings.Lines(e.stdout) {
		if strings.Contains(line, " bytes in ") != strings.Contains(line, " not freed, from") {
			t.Errorf("a part of a line: %s", line)
		}
	}
	if !strings.Contains(e.stdout, `1 allocation of process `) {
		t.Error(excerpt(e.stdout))
	}
}

// With less room the report fits into a control group whose limit the table of all allocations would exceed, and what
// there was no room for is said to be lost.
func TestMemleakRoom(t *testing.T) {
	needTracing(t)
	const room, made = 1000, 1500
	binary := need.Built(t, "gcc -g", "leaks.c", fmt.Sprintf("#include <stdlib.h>\nvoid *volatile kept;\n"+
		"int main(void) {\n	for (int i = 0; i < %d; i++)\n		kept = malloc(24);\n}\n", made))
	cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, limited(t, 100<<20), program(t, "startrace"),
		"memleak", "--room", fmt.Sprint(room), "-c", binary)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, excerpt(stderr.String()))
	}
	e := ended{stdout: stdout.String(), stderr: stderr.String()}
	kept := number(t, e.stdout, `(?m)^\d+ bytes in (\d+) allocations of .* not freed, from\n +malloc .*\n +main `)
	lost := number(t, e.stderr, `(?m)^startrace: (\d+) updates of held lost: all its entries are in use`)
	if kept > room || kept < room*9/10 || kept+lost < made {
		t.Errorf("%d kept and %d lost of %d, with room for %d", kept, lost, made, room)
	}
	tried.Many(t, "%d allocations", made)
}

// What a program allocated goes with it when its process executes another one, however that came about; what the other
// one allocates stays.
func TestMemleakExec(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "again.c", `#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/mman.h>
void *volatile kept;
static char *path;
__attribute__((noinline)) void before(void) {
	kept = malloc(12345);
	kept = mmap(0, 81920, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
__attribute__((noinline)) void after(void) { kept = malloc(3333); }
static void *execute(void *unused) {
	execl(path, path, "again", "again", (char *)0);
	_exit(1);
}
int main(int argc, char **argv) {
	if (argc > 2) {
		after();
		return 0;
	}
	before();
	path = argv[0];
	pthread_t thread;
	if (argc > 1 && !pthread_create(&thread, 0, execute, 0))
		pthread_join(thread, 0);
	execute(0);
}
`)
	for _, args := range []string{"", " thread"} {
		e := startrace(t, "memleak", "-c", binary+args).ok(t)
		e.has(t, notFreed("3333", "1", "after"))
		if regexp.MustCompile(`(?m)^ +before \(`).MatchString(e.stdout) {
			t.Errorf("%q: memory of the program that was replaced: %s", args, e.stdout)
		}
	}
}
