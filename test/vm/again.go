package main

import (
	"slices"
	"time"

	"github.com/startrace/startrace/test/verdict"
)

// What failed in a guest is run again.

// failed is the load that runs again what went wrong in o: the tests that failed, alone; of a job that came to no end
// all tests; and jobs that were not reached.
func (o outcome) failed(l load) load {
	l.jobs = slices.Clone(l.jobs)
	kept := l.jobs[:0]
	for i, j := range l.jobs {
		switch {
		case i >= len(o.results):
		case o.results[i].ok():
			continue
		case j.tests && o.results[i].status == testsFailed && o.results[i].tally.Failed > 0:
			only := verdict.Only(o.results[i].tally.FailedTests())
			j.args = append(slices.Clone(j.args), "-test.run="+only) // the last one counts
		}
		kept = append(kept, j)
	}
	l.jobs = kept
	return l
}

// testsFailed is the exit status of a test binary that came to its end, and of one that ended itself.
const testsFailed = 1

// secondRun is what runs again, in what is left of the time, and whether that is enough: a guest must boot first.
func (o outcome) secondRun(opts options, took time.Duration) (options, bool) {
	opts.load = o.failed(opts.load)
	opts.machine.timeout -= took
	return opts, opts.machine.timeout > o.booted
}
