package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// The tests that drive the command, and those of whole scripts, take most of the time of a guest, and most of what they
// test is the same on every kernel. With -share each kernel takes a part of them: none is left out.

// sharedPackages are those whose tests the kernels share.
var sharedPackages = []string{drivesCommand, "cmd/startrace", "test/both", "test/mutate"}

// shareTests notes the tests of the shared packages among the jobs; their binaries are in dir and run here.
func (l *load) shareTests(dir string) error {
	l.shared = map[string][]string{}
	for _, j := range l.jobs {
		if !slices.Contains(sharedPackages, j.name) {
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
	for i := range l.jobs {
		j := &l.jobs[i]
		if tests := l.shared[j.name]; len(tests) > 0 {
			j.args = append(slices.Clone(j.args), "-test.run="+verdict.Only(part(tests, kernel, kernels)))
		}
	}
	return l
}

// part is what one of some kernels takes of the tests: of two kernels the first, the second, the second, the first and so
// on, so that tests of one file, which tend to take as long as each other, are spread.
func part(tests []string, kernel, kernels int) (mine []string) {
	for i, name := range tests {
		turn := i % (2 * kernels)
		if turn == kernel || turn == 2*kernels-1-kernel {
			mine = append(mine, name)
		}
	}
	return mine
}
