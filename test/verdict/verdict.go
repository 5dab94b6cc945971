// Package verdict reads the verbose output of Go tests and counts what passed, failed and was skipped, with the
// reason of each skip, so that a run on a kernel that lacks something cannot look like a run that tested it.
//
// It reads text, not test2json's events, because in a guest there is only a binary's own output on a serial line.
package verdict

import (
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"
)

// Skip is one test that did not run, and what it said about it.
type Skip struct {
	Package, Test, Reason string
}

// Tally counts tests and subtests.
type Tally struct {
	Passed, Failed int
	Skips          []Skip
	Failures       []string // "package test"
}

// Add merges the counts of other into t.
func (t *Tally) Add(other Tally) {
	t.Passed += other.Passed
	t.Failed += other.Failed
	t.Skips = append(t.Skips, other.Skips...)
	t.Failures = append(t.Failures, other.Failures...)
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
	Package string
	tally   Tally
	current string            // the test whose output lines come now
	said    map[string]string // a test's last log line: the reason, if it turns out to be a skip
}

var (
	resultLine  = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
	currentLine = regexp.MustCompile(`^=== (?:RUN|NAME|CONT|PAUSE) +(\S+)`)
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
		return
	}
	if loc := logPrefix.FindStringIndex(line); loc != nil {
		if r.said == nil {
			r.said = map[string]string{}
		}
		r.said[r.current] = line[loc[1]:]
	}
}

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

// Tally returns the counts so far.
func (r *Reader) Tally() Tally { return r.tally }
