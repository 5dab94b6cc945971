package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// movedGo has interfaces in its results. The names of their types have been read before the second round.
const movedGo = `package main

import (
	"errors"
	"fmt"
	"io/fs"
)

type T struct{ A, B int }

//go:noinline
func load(k int) (any, error) {
	switch k % 3 {
	case 0:
		return T{k, 2}, nil
	case 1:
		return &T{k, 3}, errors.New("one")
	}
	return "text", &fs.PathError{Op: "open", Path: "/x", Err: errors.New("no")}
}

func main() {
	for k := range 6 {
		if v, err := load(k); k < 3 {
			fmt.Sprintf("%T %T", v, err)
		} else if err == nil {
			fmt.Printf("%T None\n", v)
		} else {
			fmt.Printf("%T %T\n", v, err)
		}
	}
}
`

// Where a program is loaded that is position-independent is known at the ends of calls from their starts.
func TestInterfacesOfMovedPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build -buildmode=pie", "main.go", movedGo)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:main.load", lambda e: print("saw", e.ret[0].type, e.ret[1].type if e.ret[1] != None else None),
      where = lambda e: e.start.args.k >= 3)
probe("ufunc:BIN:main.load", lambda e: print("kept", e.value), where = lambda e: e.start.args.k >= 3,
      kernel = lambda e: e.ret[0].type)
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"main.T None", "*main.T *errors.errorString", "string *fs.PathError",
		"saw main.T None", "saw *main.T *errors.errorString", "saw string *fs.PathError",
		"kept main.T", "kept *main.T", "kept string"})
}
