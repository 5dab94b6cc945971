package infer_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// A handler that the kernel can run at one of its points and not at another runs in user space at all of them, in
// whichever order they are written; what its kernel half would have made of containers does not count.
func TestPlacedByLaterPoints(t *testing.T) {
	points := []string{"tracepoint:sched:sched_wakeup", "tracepoint:sched:sched_switch"}
	for range points {
		src := fmt.Sprintf(`seen = table()
def f(e):
    if hasattr(e.args, "next_comm"):
        print(e.args.next_comm)
    else:
        seen[e.args.prio] = 1
probe([%q, %q], f)
`, points[0], points[1])
		res, err := infer.Plan(planOf(t, src), testFacts(t), infer.Options{})
		if err != nil {
			t.Fatalf("%v: %v", points, err)
		}
		if res.Halves[0] == nil {
			t.Errorf("%v: the handler has no user half", points)
		}
		for _, c := range res.Tree.Containers {
			if c != nil {
				t.Errorf("%v: the table is in the kernel, where nothing uses it", points)
			}
		}
		for _, p := range res.Placed {
			if p.Fn != nil && p.Fn.Name == "f" && p.Side != "user" {
				t.Errorf("%v: the handler is placed in the %s", points, p.Side)
			}
		}
		slices.Reverse(points)
	}
}
