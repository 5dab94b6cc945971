package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// A comparison that comes out the same at one point of a probe is warned of only if it does so at all of them.
func TestConstantAtAllPoints(t *testing.T) {
	facts := testFacts(t)
	for _, tt := range []struct {
		test string
		// where= of a probe of both points, of the first one and of the second one is warned of.
		both, first, second bool
	}{
		{`e.what == "start"`, false, false, true},
		{`"start" == e.what`, false, false, true},
		{`e.what != "start"`, false, false, true},
		{`e.what in ("start", "x")`, false, false, true},
		{`e.what in ("longer", "x")`, true, false, true},
		{`e.what in ("start", "longer")`, true, false, true},
		{`(e.what, e.num) == ("start", 1)`, false, false, true},
		{`e.num == 1000`, false, true, false},
		{`e.num > 1000`, false, true, false},
		{`e.num == 1 << 40`, true, true, true},
		{`e.kind == "x"`, false, true, false},
	} {
		const start = `("tracepoint:sched:sched_switch", lambda e: record(what = "start", num = int(e.pid == 1), ` +
			`kind = e.pid))`
		const end = `("tracepoint:sched:sched_wakeup", lambda e: record(what = "end" if e.pid & 1 else "end2", ` +
			`num = e.pid, kind = e.comm))`
		for parts, want := range map[string]bool{start + ", " + end: tt.both, start: tt.first, end: tt.second} {
			res, err := infer.Plan(planOf(t, "n = count()\nprobe(event("+parts+"), lambda e: n.add(), "+
				"where = lambda e: "+tt.test+")"), facts, infer.Options{})
			if err != nil {
				t.Errorf("%s: %v", tt.test, err)
				continue
			}
			if text := res.Warnings.Error(); (text != "") != want {
				t.Errorf("%s of %s: warned of %q", tt.test, strings.ReplaceAll(parts, "\n", " "), text)
			}
		}
	}
}
