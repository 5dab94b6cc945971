package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// loopsGo is a program of which each `for` ends in the number of times that the loop begins.
const loopsGo = `package main

import "os"

var s int

//go:noinline
func use(k int) { s += k }

//go:noinline
func count(n int) {
	for i := 0; i < n; i++ { // 2
		use(i)
	}
}

//go:noinline
func list(l []int) {
	for i, v := range l { // 2
		use(i + v)
	}
}

//go:noinline
func rng(n int) {
	for i := range n { // 2
		use(i)
	}
}

//go:noinline
func cond(n int) {
	for n > 0 { // 2
		use(n)
		n--
	}
}

//go:noinline
func fixed() {
	for i := 0; i < 3; i++ { // 1
		use(i)
	}
}

//go:noinline
func down(n int) {
	for ; n > 0; n-- { // 1
		use(n)
	}
}

//go:noinline
func maps(m map[int]int) {
	for k := range m { // 1
		use(k)
	}
}

//go:noinline
func nest(n int) {
	for i := 0; i < n; i++ { // 1
		for j := 0; j < i; j++ { // 4
			use(j)
		}
	}
}

//go:noinline
func tight(l []int) (t int) {
	for _, v := range l { // 1
		t += v
	}
	return t
}

//go:noinline
func str(x string) {
	for _, c := range x { // 1
		use(int(c))
	}
}

//go:noinline
func brk(n int) {
	for i := 0; ; i++ { // 1
		if i > n {
			break
		}
		use(i)
	}
}

//go:noinline
func ptr(n *int) {
	for i := 0; i < *n; i++ { // 1
		use(i)
	}
}

func main() {
	k := len(os.Args)
	count(4 * k)
	count(0)
	list([]int{1, 2, 3, 4, k})
	list(nil)
	rng(4 * k)
	rng(0)
	cond(4 * k)
	cond(0)
	fixed()
	down(4 * k)
	maps(map[int]int{1: 2, 2: 3, 3: k})
	nest(4)
	tight([]int{1, 2, 3, 4, k})
	str("abcd")
	brk(4)
	k = 4
	ptr(&k)
}
`

// Loops of optimized Go are counted by how often they begin, not by their turns.
//
// > There each `for` is seen once for each loop, also one that begins with its condition, where the compiler has left
// > an instruction by which the loop is entered, and else at each turn.
func TestLoopsOfOptimizedGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "loops.go", loopsGo)
	want := passes(loopsGo)
	for line, n := range lineCounts(t, binary, "loops.go", want, true) {
		if n != want[line][0] {
			t.Errorf("line %d seen %d times: %s", line, n, strings.Split(loopsGo, "\n")[line-1])
		}
	}
}
