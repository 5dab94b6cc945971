package main

import (
	"slices"
	"testing"
	"time"

	"github.com/startrace/startrace/test/verdict"
)

func TestFailed(t *testing.T) {
	jobs := []job{
		{name: "good", tests: true, args: []string{"./good.test"}},
		{name: "bad", tests: true, args: []string{"./bad.test", "-test.run=Test"}},
		{name: "panicked", tests: true, args: []string{"./panicked.test"}},
		{name: "left", tests: true, args: []string{"./left.test"}},
		{name: "not reached", tests: true, args: []string{"./late.test"}},
	}
	o := outcome{results: []result{
		{job: jobs[0]},
		{job: jobs[1], status: 1, tally: verdict.Tally{Failed: 3,
			Failures: []string{"bad TestA", "bad TestB/x+y", "bad TestB"}}},
		{job: jobs[2], status: 2, tally: verdict.Tally{Failed: 1, Failures: []string{"panicked TestC"}}},
		{job: jobs[3], status: 1, tally: verdict.Tally{Passed: 1}},
	}}
	got := o.failed(load{jobs: jobs, modules: []string{"loop"}})
	var names []string
	for _, j := range got.jobs {
		names = append(names, j.name)
	}
	if want := []string{"bad", "panicked", "left", "not reached"}; !slices.Equal(names, want) {
		t.Fatalf("jobs %q, want %q", names, want)
	}
	if want := []string{"./bad.test", "-test.run=Test", "-test.run=^(TestA|TestB)$"}; !slices.Equal(got.jobs[0].args,
		want) {
		t.Errorf("args %q, want %q", got.jobs[0].args, want)
	}
	for _, j := range got.jobs[1:] {
		if len(j.args) != 1 {
			t.Errorf("args %q: a job that came to no end is run whole", j.args)
		}
	}
	if len(jobs) != 5 || len(jobs[1].args) != 2 || !slices.Equal(got.modules, []string{"loop"}) {
		t.Errorf("the first load has changed: %v, modules %v", jobs, got.modules)
	}
}

// A second run has what is left of the time; there is none when a guest would not come up in it.
func TestSecondRun(t *testing.T) {
	o := outcome{booted: time.Minute, results: []result{{status: testsFailed,
		tally: verdict.Tally{Failed: 1, Failures: []string{"x TestA"}}}}}
	first := options{machine: machine{timeout: 10 * time.Minute}, load: load{jobs: []job{{tests: true}}}}
	for took, want := range map[time.Duration]bool{8 * time.Minute: true, 9 * time.Minute: false,
		11 * time.Minute: false} {
		second, enough := o.secondRun(first, took)
		if enough != want || second.machine.timeout != 10*time.Minute-took {
			t.Errorf("after %v: %v in %v, want %v", took, enough, second.machine.timeout, want)
		}
		if args := second.load.jobs[0].args; !slices.Equal(args, []string{"-test.run=^(TestA)$"}) {
			t.Errorf("after %v: %q", took, args)
		}
	}
}

// TestSecond judges a kernel by its second run where there was one.
func TestSecond(t *testing.T) {
	good := outcome{done: true, results: []result{{}}}
	bad := outcome{done: true, results: []result{{status: 1}}}
	for _, tt := range []struct {
		name   string
		first  outcome
		second *outcome
		want   bool
	}{
		{"good", good, nil, true},
		{"bad", bad, nil, false},
		{"bad, then good", bad, &good, true},
		{"bad twice", bad, &bad, false},
	} {
		tt.first.second = tt.second
		if got := tt.first.ok(); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
