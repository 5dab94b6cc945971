package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const output = `=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
=== RUN   TestB/one
    b_test.go:9: needs kprobes: CONFIG_KPROBES is off
--- SKIP: TestB (0.00s)
    --- SKIP: TestB/one (0.00s)
=== RUN   TestS
    testscript.go:558: WORK=$WORK
        > [!exec:sh] skip 'never'
        > [linux] skip 'needs a shell'
        
--- SKIP: TestS (0.00s)
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
			{"x", "TestS", "needs a shell"},
			{"x", "TestQ", "needs root"},
		},
		Times: []Time{{"x", "TestA", 0}, {"x", "TestB", 0}, {"x", "TestB/one", 0}, {"x", "TestS", 0}, {"x", "TestQ", 0},
			{"x", "TestP", 10 * time.Millisecond}},
	}
	if diff := cmp.Diff(want, r.Tally()); diff != "" {
		t.Error(diff)
	}
}

func TestWhole(t *testing.T) {
	took := func(tests ...string) (times []Time) {
		for _, name := range tests {
			times = append(times, Time{"p", name, 0})
		}
		return times
	}
	tally := Tally{
		Times:    took("A/one", "A", "B/one", "B", "C/one/two", "C/one", "C", "D"),
		Skips:    []Skip{{"p", "B/one", "needs root"}, {"q", "D", "needs root"}},
		Failures: []string{"p C/one/two"},
	}
	if diff := cmp.Diff([]string{"p A", "p D"}, tally.Whole()); diff != "" {
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

func TestOnly(t *testing.T) {
	tally := Tally{Failures: []string{"p TestA", "p TestB/x+y", "p TestB", "TestC"}}
	if got, want := Only(tally.FailedTests()), "^(TestA|TestB|TestC)$"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPrintSlowest(t *testing.T) {
	tally := Tally{Times: []Time{{"p", "A", time.Second}, {"p", "B", 90 * time.Second}, {"q", "C", 2 * time.Second}}}
	var b strings.Builder
	tally.PrintSlowest(&b, 2)
	if want := "   90.0s  p B\n    2.0s  q C\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestComplaints(t *testing.T) {
	const want = `    p_test.go:1: first
    p_test.go:3: wrong: got 1
--- FAIL: TestP (0.01s)
FAIL
`
	if diff := cmp.Diff(want, Complaints(output)); diff != "" {
		t.Error(diff)
	}
	const died = "=== RUN   TestA\nfor nothing\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: b\n\ngoroutine 1\n"
	if diff := cmp.Diff("panic: b\n\ngoroutine 1\n", Complaints(died)); diff != "" {
		t.Error(diff)
	}
}
