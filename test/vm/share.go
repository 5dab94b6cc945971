package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// The tests that drive the command take most of the time of a guest, and most of what they test is the same on every
// kernel. With -share each kernel takes a part of them: none is left out.

// shareTests notes the tests of the package that drives the command, whose binary runs here.
func (l *load) shareTests(binary string) error {
	list, err := output(binary, "-test.list", "^Test")
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", drivesCommand, err)
	}
	for name := range strings.FieldsSeq(list) {
		if strings.HasPrefix(name, "Test") {
			l.shared = append(l.shared, name)
		}
	}
	return nil
}

// share is the load of one of some kernels.
func (l load) share(kernel, kernels int) load {
	if len(l.shared) == 0 {
		return l
	}
	var mine []string
	for i := kernel; i < len(l.shared); i += kernels {
		mine = append(mine, l.shared[i])
	}
	l.jobs = slices.Clone(l.jobs)
	for i := range l.jobs {
		if j := &l.jobs[i]; j.name == drivesCommand {
			j.args = append(slices.Clone(j.args), "-test.run="+verdict.Only(mine))
		}
	}
	return l
}
