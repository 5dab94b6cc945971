package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
)

// computing are expressions of one or two ints.
var computing = []string{"-$", "~$", "not $", "$ + 1", "$ - e.pid", "$ * 2", "$ // 2", "$ // 0", "$ // e.pid", "7 % $",
	"$ % 3", "$ & 3", "$ | e.pid", "$ ^ 1", "$ << 3", "$ << 64", "$ << 600", "1 << $", "$ >> 511", "$ >> e.pid",
	"$ == 3", "$ != e.pid", "$ < 3", "e.pid >= $", "abs($)", "bool($)", "int32($)", "uint32($)", "ntohs($)", "ntohl($)",
	"not ($ + 1)", "bool($ // 2)", "int32($ + 1)"}

// TestEndsAlike computes what nobody uses in both halves: where that can end the handler the kernel half computes it
// all the same, and user space gets what it is computed of.
func TestEndsAlike(t *testing.T) {
	facts := testFacts(t)
	for _, x := range computing {
		for _, of := range []string{"e.tid", "e.args.p.pid"} { // the second may be FAULT
			expr := strings.ReplaceAll(x, "$", of)
			var does [2]bool
			for half, effect := range []string{"", "    print(1)\n"} {
				text := fmt.Sprintf("def f(e):\n    %s\n%sprobe(\"rawtracepoint:sched_wakeup\", f)\n", expr, effect)
				res, err := infer.Plan(planOf(t, text), facts, infer.Options{})
				if err != nil {
					t.Fatalf("%s: %v", expr, err)
				}
				does[half] = computes(res.Tree)
			}
			if does[0] != does[1] {
				t.Errorf("%s: the kernel half computes it %t, user space gets it %t", expr, does[0], does[1])
			}
		}
	}
}

// computes reports whether the program of a unit evaluates or sends anything.
func computes(u *tree.Unit) bool {
	if len(u.Records) > 0 {
		return len(u.Records[0].Fields) > 0
	}
	return len(u.Programs[0].Body.Stmts) > 0
}
