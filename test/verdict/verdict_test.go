package verdict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const output = `=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
=== RUN   TestB/one
    b_test.go:9: needs kprobes: CONFIG_KPROBES is off
--- SKIP: TestB (0.00s)
    --- SKIP: TestB/one (0.00s)
=== RUN   TestP
=== PAUSE TestP
=== RUN   TestQ
=== PAUSE TestQ
=== CONT  TestP
    p_test.go:1: first
=== CONT  TestQ
    q_test.go:2: needs root
=== NAME  TestP
    p_test.go:3: wrong: got 1
--- SKIP: TestQ (0.00s)
--- FAIL: TestP (0.01s)
FAIL
`

func TestReader(t *testing.T) {
	r := Reader{Package: "x"}
	for line := range strings.Lines(output) {
		r.Line(strings.TrimSuffix(line, "\n"))
	}
	want := Tally{
		Passed: 1, Failed: 1, Failures: []string{"x TestP"},
		Skips: []Skip{
			{"x", "TestB", "no reason given"},
			{"x", "TestB/one", "needs kprobes: CONFIG_KPROBES is off"},
			{"x", "TestQ", "needs root"},
		},
	}
	if diff := cmp.Diff(want, r.Tally()); diff != "" {
		t.Error(diff)
	}
}

func TestPrintSkips(t *testing.T) {
	tally := Tally{Skips: []Skip{{"p", "A", "needs root"}, {"p", "B", "needs BTF"}, {"p", "C", "needs BTF"}}}
	var b strings.Builder
	tally.PrintSkips(&b)
	want := "skipped 2: needs BTF (p B, p C)\nskipped 1: needs root (p A)\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
