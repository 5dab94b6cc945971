package accept

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// goWrapped is a program whose functions the compiler calls by others that it makes.
const goWrapped = `package main

import "runtime"

type inner struct{ x int }

//go:noinline
func (p *inner) ptr(k int) int { return p.x + k }

//go:noinline
func (p inner) val(k int) int { return p.x - k }

type outer struct {
	pad [3]int
	*inner
}
type around struct {
	pad [3]int
	inner
}
type holder struct {
	pad [3]int
	doer
}
type doer interface{ val(k int) int }
type both interface {
	doer
	ptr(k int) int
}

type stack[T any] struct{ list []T }

//go:noinline
func (s *stack[T]) push(v T) { s.list = append(s.list, v) }

type pusher interface{ push(v int) }

//go:noinline
func sum[T ~int | ~float64](a, b T) T { return a + b }

//go:noinline
func call(d doer) int { return d.val(1) }

//go:noinline
func twice(d both) int { return d.val(1) + d.ptr(1) }

//go:noinline
func apply(f func(int) int) int { return f(3) }

//go:noinline
func add(f func(a, b int) int) int { return f(1, 2) }

//go:noinline
func put(p pusher) { p.push(1) }

//go:noinline
func f(x int) int { return x }

//go:noinline
func wait(done chan int) { done <- f(1) }

//go:noinline
func work(p *inner) {
	defer f(1)
	defer p.ptr(2)
	done := make(chan int)
	go wait(done)
	<-done
	for runtime.NumGoroutine() > 1 { // wait has not returned
		runtime.Gosched()
	}
	apply(p.ptr)
	apply(p.val)
	call(p)
	call(*p)
	call(outer{inner: p})
	call(around{inner: *p})
	call(holder{doer: p})
	twice(&outer{inner: p})
	twice(&around{inner: *p})
	add(sum[int])
	defer sum(1.5, 2)
	put(&stack[int]{})
	put(struct{ pusher }{&stack[int]{}})
}

func main() { work(&inner{4}) }
`

// goWrappedCalls are the calls of its functions.
var goWrappedCalls = map[string]int{"main.(*inner).ptr": 4, "main.inner.val": 8, "main.call": 5, "main.twice": 2,
	"main.apply": 2, "main.add": 1, "main.put": 2, "main.f": 2, "main.wait": 1, "main.work": 1, "main.main": 1,
	"main.sum[go.shape.int]": 1, "main.sum[go.shape.float64]": 1, "main.(*stack[go.shape.int]).push": 2}

// What the compiler of Go makes only to call a function of the source is no call of its own.
//
// > Go makes functions that only call one of the source: for `defer` and `go` (`main.f.deferwrap1`, `main.f.gowrap1`),
// > of a method for its use as a value (`main.T.get-fm`), for interfaces and for embedded structs (`main.(*T).get`),
// > and of a generic function (`main.sum[int]`).
// > Patterns leave them out, since a call is one call.
func TestGoWrappers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"go build", "go build -gcflags=-N", "go build -ldflags=-w"} {
		binary := need.Built(t, command, "main.go", goWrapped)
		points := map[string]string{"main.*": "", "main.{sum,f,work}": "main.sum main.f main.work",
			"main.sum": "main.sum", "@main.go:*": "", "main.*push": "push",
			"main.{*val,f}": "val main.f"}
		for point, names := range points {
			if strings.Contains(command, "-w") && (strings.Contains(names, "val") || names == "") {
				continue
			}
			for _, kind := range []string{"uprobe", "ufunc"} {
				point := kind + ":" + binary + ":" + point
				e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("POINT", lambda e: n[e.func].add())
at_exit(lambda: print("\n".join(sorted(["%s %d" % (f, k) for f, k in n.items()]))))
`, "POINT", point)), "-c", binary).ok(t)
				if got, want := strings.TrimSpace(e.stdout), callsNamed(names); got != want {
					t.Errorf("%s %s: got\n%s\nwant\n%s\n%s", command, point, got, want, e.stderr)
				}
			}
		}
	}
}

// callsNamed are the calls of the functions whose names have one of some words; of all without any.
func callsNamed(words string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(goWrappedCalls)) {
		if words == "" || slices.ContainsFunc(strings.Fields(words), func(word string) bool {
			bare, _, _ := strings.Cut(name, "[go.shape")
			return bare == word || strings.HasSuffix(name, "."+word)
		}) {
			out = append(out, fmt.Sprintf("%s %d", name, goWrappedCalls[name]))
		}
	}
	return strings.Join(out, "\n")
}

// > By its own name each can be probed, and a pattern that matches nothing else means them.
// > In a program without debug information patterns have those for interfaces and embedded structs.
func TestGoWrappersByName(t *testing.T) {
	need.Sources(t, "../..")
	listed := func(binary, pattern string) string {
		list := startrace(t, "list", "ufunc:"+binary+":"+pattern).ok(t).stdout
		return strings.Join(strings.Fields(strings.ReplaceAll(list, "ufunc:"+binary+":", "")), " ")
	}
	binary := need.Built(t, "go build", "main.go", goWrapped)
	for pattern, want := range map[string]string{
		"main.work.gowrap3":                  "main.work.gowrap3",
		"main.sum[int]":                      "main.sum[int]",
		"main.(*outer).ptr":                  "main.(*outer).ptr",
		"main.*-fm":                          "main.(*inner).ptr-fm main.inner.val-fm",
		"{main.inner.val,main.inner.val-fm}": "main.inner.val main.inner.val-fm",
		"main.*outer*":                       "main.(*outer).ptr main.(*outer).val main.outer.ptr main.outer.val",
		"main.work*":                         "main.work",
	} {
		if got := listed(binary, pattern); got != want {
			t.Errorf("%s: got %s, want %s", pattern, got, want)
		}
	}
	bare := need.Built(t, "go build -ldflags=-w", "main.go", goWrapped)
	if got, want := listed(bare, "main.*val*"), "main.(*around).val"; !strings.Contains(got, want) ||
		strings.Contains(got, "-fm") {
		t.Errorf("without debug information: got %s", got)
	}
}

// > Of the two functions that Go makes of one for calls from and of assembly (`main.add.abi0`) patterns have the one
// > that is written.
func TestGoBothABIs(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	sources := map[string]string{"go.mod": goAssembly["go.mod"], "main.go": `package main

func add(a, b int64) int64

//go:noinline
func back(a int64) int64 { return a }

//go:noinline
func apply(f func(a, b int64) int64) int64 { return f(3, 4) }

func main() {
	if add(3, 4)+apply(add)+back(1) != 15 {
		panic("wrong")
	}
}
`, "add_amd64.s": `#include "textflag.h"
TEXT ·add(SB), $16-24
	MOVQ a+0(FP), AX
	MOVQ AX, 0(SP)
	CALL ·back(SB)
	MOVQ 8(SP), AX
	ADDQ b+8(FP), AX
	MOVQ AX, ret+16(FP)
	RET
`, "add_arm64.s": `#include "textflag.h"
TEXT ·add(SB), $32-24
	MOVD a+0(FP), R0
	MOVD R0, 8(RSP)
	CALL ·back(SB)
	MOVD 16(RSP), R0
	MOVD b+8(FP), R1
	ADD R1, R0, R0
	MOVD R0, ret+16(FP)
	RET
`}
	for _, command := range []string{"go build", "go build -ldflags=-w"} {
		binary := need.BuiltOf(t, command, sources)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:main.*", lambda e: n[e.func].add())
at_exit(lambda: print(", ".join(sorted(["%s %d" % (f, k) for f, k in n.items()]))))
`, "BIN", binary)), "-c", binary).ok(t)
		const want = "main.add.abi0 2, main.apply 1, main.back 3, main.main 1"
		if got := strings.TrimSpace(e.stdout); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}
