package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// loopBodies are the bodies of loops of which the verifier knows what they leave
// after each round.
var loopBodies = []string{
	"n# += i",
	"n# = n# * 3 + 1",
	"n# = i",
	"n# += i\n        m# = n# - i",
	"if i == 30: break\n        n# += 1",
	"if i & 3 == e.args.u8 & 3: n# += 2",
}

// TestVerifierWorkOfLoops: loops behind each other, with a branch on what they leave. The work of the verifier must be
// their sum: one that is followed anew for each end of the one before is followed some thousand times.
func TestVerifierWorkOfLoops(t *testing.T) {
	need.Loading(t)
	if testing.Short() {
		t.Skip("needs some seconds of the verifier for each loop, in a guest a minute")
	}
	f, most := facts(t), mostWork
	if !options().HasLoop {
		most = 700_000 // nothing can be left to the kernel: what the compiler lets loops cost
	}
	for _, body := range loopBodies {
		src := "def f(e):\n"
		for i := range 3 {
			src += fmt.Sprintf("    n%d = 0\n    m%d = 1\n    for i in range(e.args.u%d):\n        %s\n", i, i, 8<<i,
				strings.ReplaceAll(body, "#", fmt.Sprint(i)))
		}
		src += "    if n0 > n1: return m1\n    if n1 > n2 or m0 == m2: return n2\n    return n0\n"
		u, err := compile(scriptOf([]*Program{{Name: "f", Text: src}}), f, 64, false)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		n, err := verifierWork(u.Spec)
		switch {
		case err != nil:
			t.Errorf("%s: %v", body, err)
		case n > most:
			t.Errorf("%s: the verifier followed %d instructions, want at most %d", body, n, most)
		default:
			t.Logf("%s: %d", body, n)
		}
	}
}
