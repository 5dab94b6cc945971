package infer_test

import (
	"fmt"
	"strings"
	"testing"
)

// Functions that each call the next twice would be 2^40 calls: a kernel half is refused, a user half gets whole values.
func TestDoublingCalls(t *testing.T) {
	var chain strings.Builder
	chain.WriteString("def f0(x): return x + 1\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&chain, "def f%d(x): return f%d(x) + f%d(x + 1)\n", i, i-1, i-1)
	}
	facts := testFacts(t)
	_, told := inferText(t, chain.String()+`probe("tracepoint:sched:sched_switch", kernel=lambda e: f40(e.pid))`,
		facts)
	if len(told) == 0 || !strings.Contains(told[0].Msg, "call each other more than 8192 times") {
		t.Errorf("kernel half: %d messages, not of that", len(told))
	}
	userHalf, _ := inferText(t, chain.String()+`probe("tracepoint:sched:sched_switch", lambda e: print(f40(e.pid)))`,
		facts)
	if calls := strings.Count(userHalf, " calls\n"); calls != 2000 {
		t.Errorf("%d calls in the user half: %.2000s", calls, userHalf)
	}
}
