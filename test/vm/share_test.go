package main

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	l := load{jobs: []job{{name: "bpfgen", args: []string{"./bpfgen.test"}}, {name: drivesCommand, args: []string{"./accept.test"}}}}
	if got := l.share(0, 2); len(got.jobs[1].args) != 1 {
		t.Errorf("nothing is shared, and the job got %q", got.jobs[1].args)
	}
	l.shared = []string{"TestA", "TestB", "TestC"}
	for kernel, want := range []string{"-test.run=^(TestA|TestC)$", "-test.run=^(TestB)$"} {
		got := l.share(kernel, 2)
		if !slices.Equal(got.jobs[1].args, []string{"./accept.test", want}) || len(got.jobs[0].args) != 1 {
			t.Errorf("kernel %d: %q and %q", kernel, got.jobs[0].args, got.jobs[1].args)
		}
	}
	if len(l.jobs[1].args) != 1 {
		t.Errorf("the load itself has changed: %q", l.jobs[1].args)
	}
}
