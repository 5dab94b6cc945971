package accept

import (
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Go keeps frame pointers, and its stacks end at runtime.goexit.
func TestStackOfGo(t *testing.T) {
	const text = `
n = count()
probe("tracepoint:syscalls:sys_enter_getppid", kernel = lambda e: n[e.ustack()].add(),
      where = lambda e: e.comm == "wl-getppid")
`
	e, d := traced(t, text, []string{"--format", "folded"}, "getppid", "2000", "1")
	seen := 0
	whole := regexp.MustCompile(`^runtime\.goexit[\w.]*;.*;main\.onThreads\.func1;.*RawSyscall\S+ \d+$`)
	for line := range strings.Lines(e.stdout) {
		line = strings.TrimRight(line, "\n") // RawSyscall has no frame, so its caller is not seen
		if !whole.MatchString(line) {
			t.Errorf("stack %q", line)
		}
		seen += number(t, line, ` (\d+)$`)
	}
	checkAccount(t, e, seen, d.Calls)
}

// Go's runtime asks for the time on the stack of a thread, which may lie beside that of the goroutine that asks.
func TestStackOfGoAtTime(t *testing.T) {
	const text = `
n = count()
probe("profile:499hz", kernel = lambda e: n[e.ustack()].add(), where = lambda e: e.comm == "wl-spin")
`
	e, _ := traced(t, text, []string{"--format", "folded"}, "spin", "2", "1s")
	if !strings.Contains(e.stdout, ";time.now") || strings.Contains(e.stderr, "a frame that leads back") {
		t.Errorf("got %s, said %q", excerpt(e.stdout), e.stderr)
	}
}

// asksTwice goes through a function without a frame, and through one that changes stacks.
const asksTwice = `package main

import (
	"os"
	"runtime"
	"syscall"
)

//go:noinline
func asks() { syscall.Getppid() }

//go:noinline
func maps() []byte { return make([]byte, 256<<20) }

func main() {
	done := make(chan int)
	go func() {
		asks()
		runtime.KeepAlive(maps())
		close(done)
	}()
	<-done
	os.Exit(0)
}
`

// Programs of Go have the same stacks if they were linked without .debug_frame, or stripped.
//
// > The stacks of a stripped program of Go (1.18 or later) are whole, too: Go's runtime has a table of its frames,
// > which strip leaves.
func TestStackOfStrippedGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := script(t, `
n = count()
for call in ("getppid", "mmap"):
    probe("tracepoint:syscalls:sys_enter_" + call, kernel = lambda e: n[e.ustack()].add())
`)
	begin := `(?m)^runtime\.goexit;main\.main\.func1;main\.`
	whole := []*regexp.Regexp{
		regexp.MustCompile(begin + `asks;syscall\.rawSyscallNoError 1$`),
		regexp.MustCompile(begin + `maps;\S*;runtime\.systemstack;\S*;runtime\.mmap;runtime\.sysMmap \d+$`),
	}
	for _, command := range []string{"go build", "go build -ldflags=-w", "go build -ldflags=-s"} {
		e := startrace(t, "--format", "folded", text, "-c", need.Built(t, command, "main.go", asksTwice)).ok(t)
		got := strings.ReplaceAll(e.stdout, ".abi0", "") // which symbols have, and Go's table has not
		for _, want := range whole {
			if !want.MatchString(got) {
				t.Errorf("%s: got %s, want %s", command, excerpt(got), want)
			}
		}
		if strings.Contains(e.stderr, "reach its beginning") {
			t.Errorf("%s: said %s", command, e.stderr)
		}
	}
}

// panics calls a method with a pointer to nothing, which faults at the method's first instruction, and what was
// deferred makes a call.
const panics = `package main

import "syscall"

type rect struct{ w, h int }

//go:noinline
func before(n int) int { return n + 1 }

//go:noinline
func (r *rect) grow(n int) { r.w += n }

//go:noinline
func (r *rect) doubled() int { return 2 * r.h }

//go:noinline
func try(f func()) {
	defer func() {
		recover()
		syscall.Getppid()
	}()
	f()
}

func main() {
	var none *rect
	try(func() { none.grow(before(1)); println() })
	try(func() { println(none.doubled()) })
}
`

// Below the function that runs a panic for a signal is the one that was interrupted, also at its first instruction.
//
// > They need no frame pointers, and lead through libraries, signals and handlers on other stacks.
func TestStackOfGoPanic(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := script(t, "n = count()\nprobe(\"tracepoint:syscalls:sys_enter_getppid\", "+
		"kernel = lambda e: n[e.ustack()].add())\n")
	for _, command := range []string{"go build", "go build -ldflags=-w", "go build -ldflags=-s"} {
		e := startrace(t, "--format", "folded", text, "-c", need.Built(t, command, "main.go", panics)).ok(t)
		for method, caller := range map[string]string{"grow": "func1", "doubled": "func2"} {
			want := regexp.MustCompile(`main\.main;main\.try;main\.main\.` + caller +
				`;main\.\(\*rect\)\.` + method + `;runtime\.sigpanic;runtime\.gopanic;`)
			if !want.MatchString(e.stdout) {
				t.Errorf("%s: got %s, want %s", command, e.stdout, want)
			}
		}
		if strings.Contains(e.stderr, "reach its beginning") {
			t.Errorf("%s: said %s", command, e.stderr)
		}
	}
}
