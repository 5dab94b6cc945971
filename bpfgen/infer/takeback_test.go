package infer_test

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// learning are statements from which a kernel half learns something: of containers, their keys and values, of spans, of
// stacks, of names, and what to warn of.
var learning = []string{
	`t[e.pid] = e.comm`, `t[e.pid, e.cpu] += 1`, `t[None, e.cpu] = 1`, `n = t.get(e.pid, 5)`, `t.pop(e.pid)`,
	`c.add(1)`, `c.set(e.time)`, `a[e.comm].add()`, `a[e.pid, None].add()`, `h.add(e.pid)`, `t.remove(e.comm)`,
	`x = 1 // 0`, `x = e.pid << 600`, `x = e.comm == 5`, `x = e.comm == "a name that is longer than any command has"`,
	"s = 0\n    for i in range(e.cpu):\n        s += i\n        t[s] = (s, e.time)",
	"for i in range(100):\n        if i == e.cpu:\n            break\n        c.add(i)",
	"for w in (1, 2, 3):\n        if w == e.cpu:\n            continue\n        c.add(w)",
	`k = e.stack(3)`, `x = e.args.preempt`, `x = (lambda k: k + 1)(e.pid)`,
	"if e.start.time > 5:\n        t[e.start.comm] = e.start.pid",
	`t[e.probe] = e.start.probe`, `t[errno(-e.cpu)] = 1`,
}

// TestNothingLearnt compares what becomes of a handler that is tried in the kernel and goes to user space with one that
// is not tried: of the try nothing is left.
func TestNothingLearnt(t *testing.T) {
	const declared = "t, c, a, h = table(), cell(0), count(), hist()\n"
	points := map[string]string{"a point": `"rawtracepoint:sched_switch"`, "a span": `span(` +
		`start = "rawtracepoint:sched_switch", end = "rawtracepoint:sched_wakeup", key = lambda e: e.pid)`}
	facts := testFacts(t)
	for what, point := range points {
		for _, s := range learning {
			text := declared + "def f(e):\n    " + s + "\n    print(e.cpu)\nprobe(" + point + ", f)\n"
			text += `probe("rawtracepoint:sched_wakeup", lambda e: print(e.tid))` + "\n"
			tried, said := placedBy(t, text, plan.ByNeed, facts)
			want, mistakes := placedBy(t, text, plan.InUser, facts)
			if tried != want || said != mistakes {
				t.Errorf("%s, at %s:\n%s\n%s\nif it is tried in the kernel before, else\n%s\n%s", s, what, tried, said,
					want, mistakes)
			}
		}
	}
}

// placedBy is the tree of a script, and what was said.
func placedBy(t *testing.T, text string, placement plan.Placement, facts *kernel.Facts) (tree, said string) {
	t.Helper()
	p := planOf(t, text)
	p.Placement = placement
	res, err := infer.Plan(p, facts, infer.Options{})
	if err != nil {
		return "", err.Error()
	}
	return res.Tree.String(), res.Warnings.Error()
}
