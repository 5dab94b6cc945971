package attach

import (
	"slices"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/callcount"
	"github.com/startrace/startrace/internal/kernel"
)

// What was missed is what was made and not seen, and exact where no call was open at the two ends of the counting.
func TestCallCountMissed(t *testing.T) {
	for _, tt := range []struct {
		name               string
		begun, ended, seen uint64
		held               bool
		want               uint64
		exact, known       bool
	}{
		{"all seen", 6, 6, 6, false, 0, true, true},
		{"some missed", 20_000, 20_000, 19_997, true, 3, true, true},
		{"of running processes", 20_000, 20_000, 19_997, false, 3, false, true},
		{"killed in a call", 10, 9, 9, true, 0, true, true},
		{"missed, and killed in a call", 10, 9, 7, true, 2, true, true},
		{"calls that began before", 9, 10, 7, false, 2, false, true},
		{"denied by seccomp", 9, 12, 7, true, 2, false, true},
		{"perf left the process", 5, 5, 9, true, 0, false, false},
	} {
		c := &callCount{held: tt.held}
		n, exact, known := c.missed(tally{callcount.Counts{Begun: tt.begun, Ended: tt.ended}, tt.seen, true})
		if n != tt.want || exact != tt.exact || known != tt.known {
			t.Errorf("%s: got %d, %v, %v", tt.name, n, exact, known)
		}
	}
}

// > Calls of programs of 32 bits and of x32 are not counted so.
func TestCallsOf(t *testing.T) {
	span := &tree.Span{}
	for _, sc := range kernel.MatchSyscalls("{getppid,clone,execve,exit}") {
		span.Syscalls = append(span.Syscalls, sc.Nr)
	}
	var natives []string
	for _, c := range callsOf(span) {
		natives = append(natives, c.Name)
		if c.OneEnd != (c.Name == "clone" || c.Name == "exit") || c.Execs != (c.Name == "execve") {
			t.Errorf("%+v", c)
		}
	}
	slices.Sort(natives)
	if want := []string{"clone", "execve", "exit", "getppid"}; !slices.Equal(natives, want) {
		t.Errorf("got %q, want %q", natives, want)
	}
	if all := callsOf(&tree.Span{Except: []int{1}}); len(all) != 1 || all[0] != (callcount.Call{OneEnd: true}) {
		t.Errorf("all calls: %+v", all)
	}
}
