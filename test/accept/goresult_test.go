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

const boolResultsOfGo = `package main

import "os"

type Flag bool

type state struct{ on bool }

//go:noinline
func bools(a bool, n int8) (bool, int8, Flag, *state, error) { return !a, n, Flag(a), &state{a}, nil }

//go:noinline
func alone(a bool) bool { return !a }

func main() {
	yes := len(os.Args) > 0
	bools(yes, -1)
	bools(!yes, 1)
	alone(yes)
}
`

// Bools among several results are True and False in both halves, as in arguments; a result alone is a number.
//
// > A bool in such a tuple is True or False.
func TestBoolResultsOfGo(t *testing.T) {
	needTracing(t)
	for _, command := range []string{"go build", "go build -gcflags=-N"} {
		binary := need.Built(t, command, "bools.go", boolResultsOfGo)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
P = "ufunc:BIN:main.bools"
probe(P, lambda e: print(e.ret[0], e.ret[1], e.ret[2], e.ret[3].on, e.ret[0] == True, type(e.ret[2])))
probe(P, lambda e: print(e.value, e.value[2] == True), kernel = lambda e: (e.ret[0], e.ret[1], e.ret[2]))
probe(P, lambda e: print("not", e.ret[1]), where = lambda e: not e.ret[0] and e.ret[2] == True)
probe("ufunc:BIN:main.alone", lambda e: print("alone", e.ret, e.ret == 0))
`, "BIN", binary)), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{"False -1 True True False bool", "(False, -1, True) True", "not -1",
			"True 1 False False True bool", "(True, 1, False) False", "alone 0 True"})
	}
}
