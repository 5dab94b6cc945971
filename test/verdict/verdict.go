// Package verdict reads the verbose output of Go tests and counts what passed, failed and was skipped, with the
// reason of each skip, so that a run on a kernel that lacks something cannot look like a run that tested it.
//
// It reads text, not test2json's events, because in a guest there is only a binary's own output on a serial line.
package verdict

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"
)

// The output of go tests counted: passed, failed, skipped and why.

// Skip is one test that did not run: its Package, its name (Test), and what it said about it (Reason).
type Skip struct {
	Package, Test, Reason string
}

// Time is how long a test or subtest took: its Package, its name (Test), and the time (Took).
type Time struct {
	Package, Test string
	Took          time.Duration
}

// Tally counts tests and subtests: how many have Passed and Failed, and which were skipped (Skips).
type Tally struct {
	Passed, Failed int
	Skips          []Skip
	Failures       []string // "package test"
	Times          []Time   // of tests, and of their subtests
}

// FailedTests are the names of the tests that failed, or a subtest of theirs, each once.
func (t Tally) FailedTests() []string {
	var names []string
	for _, failure := range t.Failures {
		name := failure[strings.LastIndex(failure, " ")+1:]
		name, _, _ = strings.Cut(name, "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Only is the pattern, for -run and -test.run, of these tests and no other.
func Only(tests []string) string {
	names := make([]string, len(tests))
	for i, name := range tests {
		names[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// Whole are the tests that passed with all of their subtests, none of which was skipped: "package test".
func (t Tally) Whole() []string {
	lacks := map[string]bool{}
	for _, s := range t.Skips {
		lacks[wholeTest(s.Package+" "+s.Test)] = true
	}
	for _, failure := range t.Failures {
		lacks[wholeTest(failure)] = true
	}
	var whole []string
	for _, one := range t.Times {
		if name := strings.TrimSpace(one.Package + " " + one.Test); name == wholeTest(name) && !lacks[name] {
			whole = append(whole, name)
		}
	}
	return whole
}

// wholeTest is the test that a "package test" belongs to, whose test may be a subtest.
func wholeTest(name string) string {
	at := strings.LastIndex(name, " ") + 1
	test, _, _ := strings.Cut(name[at:], "/")
	return strings.TrimSpace(name[:at] + test)
}

// Add merges the counts of other into t.
func (t *Tally) Add(other Tally) {
	t.Passed += other.Passed
	t.Failed += other.Failed
	t.Skips = append(t.Skips, other.Skips...)
	t.Failures = append(t.Failures, other.Failures...)
	t.Times = append(t.Times, other.Times...)
}

// String is the one line that ends a run.
func (t Tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.Passed, t.Failed, len(t.Skips))
}

// PrintSkips lists the skipped tests by reason, most frequent first: one line for each reason.
func (t Tally) PrintSkips(w io.Writer) {
	byReason := map[string][]string{}
	for _, s := range t.Skips {
		byReason[s.Reason] = append(byReason[s.Reason], strings.TrimSpace(s.Package+" "+s.Test))
	}
	reasons := make([]string, 0, len(byReason))
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	sort.Slice(reasons, func(i, j int) bool {
		a, b := reasons[i], reasons[j]
		if len(byReason[a]) != len(byReason[b]) {
			return len(byReason[a]) > len(byReason[b])
		}
		return a < b
	})
	for _, reason := range reasons {
		fmt.Fprintf(w, "skipped %d: %s (%s)\n", len(byReason[reason]), reason, shorten(byReason[reason]))
	}
}

// PrintSlowest lists the n tests that took longest.
func (t Tally) PrintSlowest(w io.Writer, n int) {
	times := slices.SortedFunc(slices.Values(t.Times), func(a, b Time) int { return cmp.Compare(b.Took, a.Took) })
	for _, slow := range times[:min(n, len(times))] {
		fmt.Fprintf(w, "%7.1fs  %s %s\n", slow.Took.Seconds(), slow.Package, slow.Test)
	}
}

// shorten names the first few tests of a list.
func shorten(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Reader follows the output of one test binary, line by line.
type Reader struct {
	// Package is the one whose tests the binary has.
	Package string
	tally   Tally
	current string            // the test whose output lines come now
	said    map[string]string // a test's last log line: the reason, if it turns out to be a skip
}

var (
	resultLine  = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(([0-9.]+s)\)`)
	currentLine = regexp.MustCompile(`^=== (?:RUN|NAME|CONT|PAUSE) +(\S+)`)
	progress    = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) | *--- (PASS|SKIP): |PASS$)`)
	scriptSkip  = regexp.MustCompile(`^ +> (?:\[.*\] )?skip '(.*)'$`) // of testscript, in the middle of its log
	logPrefix   = regexp.MustCompile(`^ +\S+\.go:\d+: `)
)

// Line takes the next line, without its newline.
func (r *Reader) Line(line string) {
	if m := currentLine.FindStringSubmatch(line); m != nil {
		r.current = m[1]
		return
	}
	if m := resultLine.FindStringSubmatch(line); m != nil {
		r.result(m[1], m[2])
		r.time(m[2], m[3])
		return
	}
	if loc := logPrefix.FindStringIndex(line); loc != nil {
		r.say(line[loc[1]:])
	} else if m := scriptSkip.FindStringSubmatch(line); m != nil {
		r.say(m[1])
	}
}

// say notes the last words of the test that speaks.
func (r *Reader) say(text string) {
	if r.said == nil {
		r.said = map[string]string{}
	}
	r.said[r.current] = text
}

// Current is the test that began or spoke last.
func (r *Reader) Current() string { return r.current }

func (r *Reader) result(verdict, test string) {
	switch verdict {
	case "PASS":
		r.tally.Passed++
	case "FAIL":
		r.tally.Failed++
		r.tally.Failures = append(r.tally.Failures, strings.TrimSpace(r.Package+" "+test))
	case "SKIP":
		reason := r.said[test]
		if reason == "" {
			reason = "no reason given"
		}
		r.tally.Skips = append(r.tally.Skips, Skip{r.Package, test, reason})
	}
}

// time notes what a test took.
func (r *Reader) time(test, took string) {
	if d, err := time.ParseDuration(took); err == nil { // the pattern of the line says so
		r.tally.Times = append(r.tally.Times, Time{r.Package, test, d})
	}
}

// Complaints is of the output of a test binary what says something about what went wrong: not the progress, and not
// what tests said that passed or were skipped.
func Complaints(output string) string {
	good := map[string]bool{}
	for line := range strings.Lines(output) {
		if m := resultLine.FindStringSubmatch(line); m != nil {
			good[m[2]] = m[1] != "FAIL"
		}
	}
	var said strings.Builder
	current := ""
	for line := range strings.Lines(output) {
		if m := currentLine.FindStringSubmatch(line); m != nil {
			current = m[1]
			continue
		}
		if resultLine.MatchString(line) {
			current = ""
		}
		if !good[current] && !progress.MatchString(strings.TrimSuffix(line, "\n")) {
			said.WriteString(line)
		}
	}
	return said.String()
}

// Tally returns the counts so far.
func (r *Reader) Tally() Tally { return r.tally }
