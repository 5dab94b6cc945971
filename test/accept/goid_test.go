package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// goroutines start 40 goroutines, each of which tells its number as the runtime prints it, and calls a function that
// sleeps, so that it goes on on another thread.
const goroutines = `package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

//go:noinline
func work(n int) int {
	time.Sleep(time.Millisecond)
	n++
	return n
}

func main() {
	var all sync.WaitGroup
	var told sync.Mutex
	for i := range 40 {
		all.Go(func() {
			text := make([]byte, 64)
			text = text[:runtime.Stack(text, false)]
			work(i)
			told.Lock()
			defer told.Unlock()
			fmt.Println("go", i, strings.Fields(string(text))[1])
		})
	}
	all.Wait()
}
`

// A goroutine has its number at the entry of a function, at a line, in a call and at its end.
//
// > `e.goid` is the number of the goroutine at functions of Go, as its stack traces print it.
// > The program must have debug information, since the number has moved between versions of Go.
func TestGoroutinesHaveNumbers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "main.go", goroutines)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("uprobe:BIN:main.work", lambda e: print("entry", e.args.n, e.goid))
probe("uprobe:BIN:main.go:14", lambda e: print("line", e.goid))
probe("ufunc:BIN:main.work", lambda e: print("call", e.args.n, e.goid if e.goid == e.start.goid else "differ"))
calls = count()
probe("ufunc:BIN:main.work", lambda e: calls[e.goid].add())
probe("uretprobe:BIN:main.work", lambda e: print("end", e.goid))
at_exit(lambda: [print("count", k, v) for k, v in calls.items()])
`, "BIN", binary)), "-c", binary).ok(t)
	told := map[string][]string{}
	for _, line := range lines(e.stdout) {
		what, rest, _ := strings.Cut(line, " ")
		told[what] = append(told[what], rest)
	}
	for _, what := range []string{"go", "entry", "line", "call", "end", "count"} {
		slices.Sort(told[what])
	}
	if len(told["go"]) != 40 || fmt.Sprint(told["entry"]) != fmt.Sprint(told["go"]) ||
		fmt.Sprint(told["call"]) != fmt.Sprint(told["go"]) {
		t.Errorf("the program says %v, entries say %v, calls %v", told["go"], told["entry"], told["call"])
	}
	var numbers, counted []string
	for _, line := range told["go"] {
		_, number, _ := strings.Cut(line, " ")
		numbers, counted = append(numbers, number), append(counted, number+" 1")
	}
	slices.Sort(numbers)
	slices.Sort(counted)
	if fmt.Sprint(told["end"]) != fmt.Sprint(numbers) || fmt.Sprint(told["count"]) != fmt.Sprint(counted) ||
		fmt.Sprint(told["line"]) != fmt.Sprint(numbers) {
		t.Errorf("the program says %v, lines say %v, ends %v, counts %v", numbers, told["line"], told["end"],
			told["count"])
	}
}

// What has no goroutine, or no debug information, is told so.
func TestNoNumberOfAGoroutine(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	stripped := need.Built(t, "go build -ldflags=-w", "main.go", goroutines)
	e := startrace(t, "-q", "-e", "probe('uprobe:"+stripped+":main.work', lambda e: print(e.goid))", "-c", stripped)
	if !strings.Contains(e.stderr, "where the number of a goroutine is in the program of uprobe:") {
		t.Errorf("without debug information: %s", e.stderr)
	}
	c := need.Built(t, "gcc -g", "half.c", floatSource)
	e = startrace(t, "-q", "-e", "probe('uprobe:"+c+":half', lambda e: print(e.goid))", "-c", c)
	if !strings.Contains(e.stderr, "has no e.goid: only functions of Go have it") {
		t.Errorf("of C: %s", e.stderr)
	}
}
