package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// Tests that are the same on each kernel are dealt out to the guests.
//
// Most of what is tested is the same on every kernel. With -share each kernel takes a part of the tests: none is left
// out. With -passed this machine's kernel has a part of those that passed here, with nothing skipped: the guests take
// the rest.

// wholePackages are those that speak to the kernel themselves: every kernel has all of their tests.
var wholePackages = []string{"internal/attach", "internal/bpf", "internal/procs", "internal/sideband", "internal/state",
	"internal/stream"}

// wholeTests are tests of other packages that every kernel has: its verifier is what they try.
var wholeTests = []string{"TestPrograms", "TestUserHalves"}

// shareTests notes the tests of the packages among the jobs that the kernels share; their binaries are in dir and run
// here.
func (l *load) shareTests(dir string) error {
	l.shared = map[string][]string{}
	for _, j := range l.jobs {
		if slices.Contains(wholePackages, j.name) {
			continue
		}
		list, err := output(suiteBinary(dir, j.name), "-test.list", "^Test")
		if err != nil {
			return fmt.Errorf("list the tests of %s: %w", j.name, err)
		}
		for name := range strings.FieldsSeq(list) {
			if strings.HasPrefix(name, "Test") {
				l.shared[j.name] = append(l.shared[j.name], name)
			}
		}
	}
	return nil
}

// share is the load of one of some kernels.
func (l load) share(kernel, kernels int) load {
	l.jobs = slices.Clone(l.jobs)
	d := deal{kernel: kernel, kernels: kernels}
	for i := range l.jobs {
		j := &l.jobs[i]
		if tests := l.shared[j.name]; len(tests) > 0 {
			mine := d.part(tests, func(test string) bool { return l.passed[modulePath+"/"+j.name+" "+test] })
			j.args = append(slices.Clone(j.args), "-test.run="+verdict.Only(mine))
		}
	}
	return l
}

// A deal gives one of some kernels its part of the tests of all packages. It counts on from package to package: else
// the first kernel had the first test of each, which of many packages is the one that takes long.
type deal struct {
	kernel, kernels int
	here, elsewhere int // the tests that passed here, and the others, that were dealt
}

// part is what the kernel takes of the tests of a package: of two kernels the first, the second, the second, the first
// and so on, so that tests of one file, which tend to take as long as each other, are spread. Of the tests that passed
// here, thirty-one of thirty-two are left to that.
func (d *deal) part(tests []string, passed func(string) bool) (mine []string) {
	for _, name := range tests {
		if slices.Contains(wholeTests, name) {
			mine = append(mine, name)
			continue
		}
		if passed(name) {
			if d.here%(32*d.kernels) == d.kernel {
				mine = append(mine, name)
			}
			d.here++
			continue
		}
		if turn := d.elsewhere % (2 * d.kernels); turn == d.kernel || turn == 2*d.kernels-1-d.kernel {
			mine = append(mine, name)
		}
		d.elsewhere++
	}
	return mine
}

// readPassed reads what test/run -passed wrote. Where that did not come to its end there is no file, and guests take
// all.
func (l *load) readPassed(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("=== there is no %s: the guests take the tests that passed here, too\n", file)
		return nil
	}
	if err != nil {
		return err
	}
	l.passed = map[string]bool{}
	for line := range strings.Lines(string(text)) {
		l.passed[strings.TrimSpace(line)] = true
	}
	return nil
}
