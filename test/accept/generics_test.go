package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Instances of generic functions of Go are found by the name of the function, with and without brackets, whether they
// have code of their own or were inlined.
//
// > Of a generic function of Go all instances are found by its name, `main.sum`, or as stack traces of Go print it,
// > `main.(*stack[...]).push`.
// > `e.func` is the instance, `main.sum[go.shape.int]`, and this name means it alone.
func TestGenericsOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "main.go", `package main

import "os"

type number interface{ ~int | ~float64 }
type stack[T any] struct{ items []T }
type pair[T any] struct{ a, b T }

//go:noinline
func sum[T number](list []T) (s T) {
	for _, x := range list {
		s += x
	}
	return s
}

//go:noinline
func (s *stack[T]) push(x T) { s.items = append(s.items, x) }

//go:noinline
func (p pair[T]) first() T { return p.a }

func tiny[T number](x T) T { return x + 1 }

func main() {
	n := len(os.Args)
	ints, texts := &stack[int]{}, &stack[string]{}
	for i := range n + 2 {
		ints.push(tiny(i))
	}
	texts.push((pair[string]{"a", "b"}).first())
	if sum(ints.items) == 0 || sum([]float64{tiny(float64(n))}) == 0 || (pair[int]{n, 2}).first() == 0 {
		panic("no")
	}
}
`)
	const pushes = `main.(*stack[go.shape.int]).push 3, main.(*stack[go.shape.string]).push 1`
	for pattern, want := range map[string]string{
		"main.sum":                 "main.sum[go.shape.float64] 1, main.sum[go.shape.int] 1",
		"main.sum[...]":            "main.sum[go.shape.float64] 1, main.sum[go.shape.int] 1",
		"@main.go:main.sum":        "main.sum[go.shape.float64] 1, main.sum[go.shape.int] 1",
		"main.sum[go.shape.int]":   "main.sum[go.shape.int] 1",
		"main.(*stack[...]).push":  pushes,
		"main.(*stack).push":       pushes,
		"main.*.push":              pushes,
		"main.pair.first":          "main.pair[go.shape.int].first 1, main.pair[go.shape.string].first 1",
		"main.pair[...].first":     "main.pair[go.shape.int].first 1, main.pair[go.shape.string].first 1",
		"main.tiny":                "main.tiny[go.shape.float64] 1, main.tiny[go.shape.int] 3",
		"main.tiny[...]":           "main.tiny[go.shape.float64] 1, main.tiny[go.shape.int] 3",
		"@main.go:main.tiny":       "main.tiny[go.shape.float64] 1, main.tiny[go.shape.int] 3",
		"main.tiny[go.shape.int]":  "main.tiny[go.shape.int] 3",
		"@main.go:main.tiny[...]":  "main.tiny[go.shape.float64] 1, main.tiny[go.shape.int] 3",
		"@main.go:main.{sum,tini}": "main.sum[go.shape.float64] 1, main.sum[go.shape.int] 1",
	} {
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "NAME", pattern).Replace(`
n = count()
probe("uprobe:BIN:NAME", lambda e: n[e.func].add())
at_exit(lambda: print(", ".join(sorted(["%s %d" % (f, k) for f, k in n.items()]))))
`)), "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); got != want {
			t.Errorf("%s: got %s, want %s (%s)", pattern, got, want, e.stderr)
		}
	}
}
