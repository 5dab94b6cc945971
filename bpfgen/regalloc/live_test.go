package regalloc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
)

// A long list of values, of which each constant comes again far behind, as the beginnings of texts do, takes twice as
// much for twice as many: a constant that is used much later is not live in all blocks between.
func TestFarConstants(t *testing.T) {
	live := func(n int) (sum int) {
		var b strings.Builder
		fmt.Fprintf(&b, "func \"list\" {\nb0:\n  v1 = call 14\n  jump b1\n")
		for i := range n {
			v := 10 + 2*i
			fmt.Fprintf(&b, "b%d:\n  v%d = const %d\n  br eq v1, v%d -> b%d, b%d\n", i+1, v, 1<<40+i, v, n+n+1, i+2)
		}
		for i := range n { // the same constants again
			fmt.Fprintf(&b, "b%d:\n  br eq v1, v%d -> b%d, b%d\n", n+i+1, 10+2*i, n+n+1, min(n+i+2, n+n+1))
		}
		fmt.Fprintf(&b, "b%d:\n  ret\n}\n", n+n+1)
		f, err := ir.Parse(b.String())
		if err != nil {
			t.Fatal(err)
		}
		s := analyse(f)
		for _, list := range s.liveIn {
			sum += len(list)
		}
		return sum
	}
	if few, many := live(2000), live(4000); many > 3*few {
		t.Errorf("of twice as many values %d are live in the blocks, not %d as of half of them", many, few)
	}
}
