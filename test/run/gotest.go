package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// The events of go test -json, read and printed.

// event is a line of go test -json (go doc test2json). Action says what has happened: "run", "pass", "output". Package
// and Test say to which test, where Test is "" for the package itself, and Output is the line that was written.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string // of build-output
}

// goPackage is a package whose tests run.
type goPackage struct {
	reader verdict.Reader
	said   strings.Builder
	tests  map[string]*strings.Builder // what each test said, with its subtests
	runs   map[string]bool             // the tests that have begun and not ended, without subtests
	part   string                      // of a line, whose rest has not come yet
	ended  bool                        // it told itself that it failed
}

// follow reads the events, prints a line for each package and returns what came of all, also of a package whose tests
// came to no end.
func follow(from io.Reader, to io.Writer) (outcome, error) {
	var all outcome
	packages := map[string]*goPackage{}
	events := json.NewDecoder(from)
	for {
		var e event
		err := events.Decode(&e)
		if errors.Is(err, io.EOF) {
			all.unfinished(packages)
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("read the output of go test: %w", err)
		}
		if e.Action == "build-output" {
			fmt.Fprint(to, e.Output)
			continue
		}
		p := packages[e.Package]
		if p == nil {
			p = &goPackage{reader: verdict.Reader{Package: e.Package}, runs: map[string]bool{},
				tests: map[string]*strings.Builder{}}
			packages[e.Package] = p
		}
		p.output(e.Test, e.Output)
		p.follow(e)
		if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			all.tally.Add(p.reader.Tally())
			if e.Action == "fail" {
				all.failed = append(all.failed, p.failure(e.Package))
				all.stillRun(e.Package, p)
			}
			p.print(to, e.Action)
			delete(packages, e.Package)
		}
	}
}

// follow notes which tests run.
func (p *goPackage) follow(e event) {
	switch {
	case e.Test == "" || strings.Contains(e.Test, "/"):
	case e.Action == "run":
		p.runs[e.Test] = true
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		delete(p.runs, e.Test)
	}
}

// output takes a piece of output, which need not be a whole line, of a test or of none.
func (p *goPackage) output(test, piece string) {
	if test, _, _ = strings.Cut(test, "/"); test != "" {
		if p.tests[test] == nil {
			p.tests[test] = new(strings.Builder)
		}
		p.tests[test].WriteString(piece)
	}
	p.part += piece
	for {
		line, rest, whole := strings.Cut(p.part, "\n")
		if !whole {
			return
		}
		p.part = rest
		p.reader.Line(line)
		p.said.WriteString(line + "\n")
		p.ended = p.ended || line == "FAIL"
	}
}

// failure is what is said of a package that failed.
func (p *goPackage) failure(name string) failure {
	f := failure{name: name, said: verdict.Complaints(p.said.String())}
	if !p.ended {
		return f
	}
	for _, test := range p.reader.Tally().FailedTests() {
		said := ""
		if text := p.tests[test]; text != nil {
			said = verdict.Complaints(text.String())
		}
		f.tests = append(f.tests, complaint{test, said})
	}
	return f
}

var summary = regexp.MustCompile(`^ok  \t`)

// print shows the last word on a package, or what it complained of if it failed.
func (p *goPackage) print(to io.Writer, action string) {
	if action == "fail" {
		fmt.Fprint(to, verdict.Complaints(p.said.String()))
		return
	}
	for line := range strings.Lines(p.said.String()) {
		if summary.MatchString(line) {
			fmt.Fprint(to, line)
		}
	}
}
