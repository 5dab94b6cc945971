package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// What go test came to, and its report.

// outcome is what go test came to.
type outcome struct {
	tally  verdict.Tally
	failed []failure
	runs   []string // "package test" that had not ended when go test did
	status int      // 0 where all is well, else 1
}

// failure is a package that failed.
type failure struct {
	name  string
	tests []complaint // none where the tests came to no end: they panicked, or were not built
	said  string      // of the whole package
}

// complaint is what a test that failed said.
type complaint struct{ test, said string }

// add merges the outcome of another run.
func (o *outcome) add(other outcome) {
	o.tally.Add(other.tally)
	o.failed = append(o.failed, other.failed...)
	o.runs = append(o.runs, other.runs...)
	o.status = max(o.status, other.status)
}

// unfinished takes what came of packages that had not ended when go test did.
func (o *outcome) unfinished(packages map[string]*goPackage) {
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		p := packages[name]
		o.tally.Add(p.reader.Tally())
		o.stillRun(name, p)
		if p.ended = len(p.reader.Tally().Failures) > 0; p.ended {
			o.failed = append(o.failed, p.failure(name))
		}
	}
}

// stillRun notes the tests of a package that have begun and not ended.
func (o *outcome) stillRun(name string, p *goPackage) {
	for _, test := range slices.Sorted(maps.Keys(p.runs)) {
		o.runs = append(o.runs, name+" "+test)
	}
}

// report ends what is printed: what failed stands here once more, since its place is far above.
func (o outcome) report(to io.Writer) {
	o.tally.PrintSkips(to)
	for _, f := range o.failed {
		f.print(to)
	}
	for _, test := range o.runs {
		fmt.Fprintf(to, "did not end: %s\n", test)
	}
	fmt.Fprintf(to, "%s\n", o.tally)
}

func (f failure) print(to io.Writer) {
	if len(f.tests) == 0 {
		fmt.Fprintf(to, "failed: %s\n%s", f.name, excerpt(f.said))
	}
	for _, c := range f.tests {
		fmt.Fprintf(to, "failed: %s %s\n%s", f.name, c.test, excerpt(c.said))
	}
}

// excerpt is the beginning and the end of a text.
func excerpt(text string) string {
	const each = 20 // lines
	lines := slices.Collect(strings.Lines(text))
	if hidden := len(lines) - 2*each; hidden > 0 {
		lines = slices.Concat(lines[:each], []string{fmt.Sprintf("… %d lines that stand above\n", hidden)},
			lines[len(lines)-each:])
	}
	return strings.Join(lines, "")
}

// again are the arguments that run what failed, and nothing that is known from before: the tests, or where they came to
// no end all of the package.
func (f failure) again() []string {
	args := []string{"-count=1"}
	if len(f.tests) > 0 {
		var names []string
		for _, c := range f.tests {
			names = append(names, c.test)
		}
		args = append(args, "-run="+verdict.Only(names))
	}
	return append(args, f.name)
}
