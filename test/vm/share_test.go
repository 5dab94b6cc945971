package main

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	l := load{jobs: []job{
		{name: "bpfgen", args: []string{"./bpfgen.test"}}, {name: drivesCommand, args: []string{"./accept.test"}},
		{name: "cmd/startrace", args: []string{"./startrace.test"}},
	}}
	if got := l.share(0, 2); len(got.jobs[1].args) != 1 {
		t.Errorf("nothing is shared, and the job got %q", got.jobs[1].args)
	}
	l.shared = map[string][]string{drivesCommand: {"TestA", "TestB", "TestC"}, "cmd/startrace": {"TestD", "TestE"}}
	for kernel, want := range [][]string{{"^(TestA)$", "^(TestD|TestE)$"}, {"^(TestB|TestC)$", "^()$"}} {
		got := l.share(kernel, 2)
		if len(got.jobs[0].args) != 1 || !slices.Equal(got.jobs[1].args,
			[]string{"./accept.test", "-test.run=" + want[0]}) ||
			!slices.Equal(got.jobs[2].args, []string{"./startrace.test", "-test.run=" + want[1]}) {
			t.Errorf("kernel %d: %v", kernel, got.jobs)
		}
	}
	if len(l.jobs[1].args) != 1 {
		t.Errorf("the load itself has changed: %q", l.jobs[1].args)
	}
}

func TestPart(t *testing.T) {
	tests := []string{"A", "b", "C", "d", "E", "F", wholeTests[0], "G", "H"}
	passed := func(name string) bool { return name < "a" }
	for kernel, want := range [][]string{{"A", "b", wholeTests[0]},
		{"C", "d", wholeTests[0]}} { // E to H are this machine's
		d := deal{kernel: kernel, kernels: 2}
		if got := d.part(tests, passed); !slices.Equal(got, want) {
			t.Errorf("kernel %d takes %q", kernel, got)
		}
	}
}
