package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const resultsOfGo = `package main

import "errors"

var failed = errors.New("failed")

//go:noinline
func half(n int) (int, error) {
	if n%2 != 0 {
		return 0, failed
	}
	return n / 2, nil
}

//go:noinline
func many(n int) (all [65]int) {
	all[0] = n
	return all
}

func main() {
	for n := range 4 {
		half(n)
	}
	println(many(7)[0])
}
`

// > So `e.ret[0]` of a Go function that returns `(int, error)` is the number, and `e.ret[1] == None` says that the
// > error is nil.
func TestResultsOfGo(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "go build", "results.go", resultsOfGo)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
good = total()
probe("ufunc:BIN:main.half", lambda e: print(e.ret[0], e.ret[1] == None))
probe("ufunc:BIN:main.half", lambda e: good.add(1 + e.ret[0]) if e.ret[1] == None else None)
probe("ufunc:BIN:main.many", lambda e: print(e.ret[0], e.ret[64]))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, ""), []string{"0 True", "0 False", "1 True", "0 False", "7 0", "good: 3"})
}
