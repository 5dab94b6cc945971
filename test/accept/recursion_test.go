package accept

import (
	"fmt"
	"testing"
)

// A function that calls itself from one place has a frame for each call, whether or not it makes its frame with its
// first instruction: the kernel adds the caller to some of these stacks (amd64, 6.11), and its address is the next
// one's.
//
// > At the entry or return of one kernel function that function is the leaf.
// > At the entry of a user function its caller is in the stack, though the function has no frame yet.
func TestStackOfRecursion(t *testing.T) {
	for _, name := range []string{"factorial", "factorial-pushed"} {
		e := onTarget(t, name, countFrames+`
probe("uprobe:BIN:factorial", lambda e: print("entry", e.args[0], frames(e.ustack()), frames(e.ustack(3))))
`, "5")
		equalLines(t, sorted(e.stdout, ""), []string{"entry 5 1 1", "entry 4 2 2", "entry 3 3 3", "entry 2 4 3",
			"entry 1 5 3"})
	}
}

const countFrames = `
def frames(s):
    return len([f for f in s if f.name == "factorial"])
`

// At the start of calls whose returns are probed each caller is there, though the kernel has replaced its return
// address.
func TestStackOfProbedReturns(t *testing.T) {
	for _, name := range []string{"factorial", "factorial-pushed"} {
		e := onTarget(t, name, countFrames+`
probe("ufunc:BIN:factorial", lambda e: print("start", e.start.args[0], frames(e.start.ustack())))
`, "5")
		var want []string
		for depth := 1; depth <= 5; depth++ {
			want = append(want, fmt.Sprintf("start %d %d", 6-depth, depth))
		}
		equalLines(t, sorted(e.stdout, ""), want)
	}
}
