// Package tried keeps the figures of docs/reliability.md to those of the tests: a row says how many of what a test has
// tried, and the test tells the number that it has tried.
//
// A row of that page names its test in the last column:
//
//	| ten tracers of one process | 1,000 calls | 6.18 | each counts all | `go test … -run TestSoakTenTracers` |
//
// and TestSoakTenTracers has
//
//	tried.Many(t, "%d calls", calls)
//
// It fails if the second column is another text. With TRIED_UPDATE=1 the column is written.
package tried

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/docs"
)

// The figures of docs/reliability.md, kept to those of the tests.

// The cells of a row, the text behind the last bar not counted.
const (
	cellMany = 2 + iota // how many
	_                   // on which kernels
	_                   // with which result
	cellCommand
	numCells
)

// Many says how many the short form of a test tries, as the row of docs/reliability.md for it does: in numbers of
// more than three digits these are in groups.
func Many(tb testing.TB, format string, numbers ...any) {
	tb.Helper()
	name, _, _ := strings.Cut(tb.Name(), "/")
	text, _ := docs.Page("reliability")
	grouped := make([]any, len(numbers))
	for i, n := range numbers {
		grouped[i] = digits(n)
	}
	want := fmt.Sprintf(strings.ReplaceAll(format, "%d", "%s"), grouped...)
	switch got, ok := ofTest(text, name); {
	case !ok:
		tb.Errorf("docs/reliability.md has no row for %s", name)
	case got == want:
	case os.Getenv("TRIED_UPDATE") != "":
		write(tb, name, got, want)
	default:
		tb.Errorf("docs/reliability.md: the row of %s says %q, the test has tried %q (TRIED_UPDATE=1 writes it)",
			name, got, want)
	}
}

// digits are those of a whole number, in groups of three.
func digits(number any) string {
	s := fmt.Sprint(number)
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		panic(fmt.Sprintf("how many is no number: %v", number))
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ofTest gives how many the row of a test says.
func ofTest(text, test string) (string, bool) {
	for line := range strings.Lines(text) {
		if cells := cellsOf(line); cells != nil && names(cells[cellCommand], test) {
			return strings.TrimSpace(cells[cellMany]), true
		}
	}
	return "", false
}

// cellsOf splits a row that ends with a command; nil for other lines.
func cellsOf(line string) []string {
	cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
	if len(cells) != numCells+1 || !strings.Contains(cells[cellCommand], " -run ") {
		return nil
	}
	return cells
}

// names reports whether a command runs a test.
func names(command, test string) bool {
	for _, name := range namesOf.FindAllString(command, -1) {
		if name == test {
			return true
		}
	}
	return false
}

var namesOf = regexp.MustCompile(`\bTest[A-Za-z0-9_]+`)

// write puts what is right into the sources.
func write(tb testing.TB, test, got, want string) {
	tb.Helper()
	file := filepath.Join("docs", "reliability.md")
	for range 4 {
		if _, err := os.Stat(file); err == nil {
			break
		}
		file = filepath.Join("..", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if cells := cellsOf(line); cells != nil && names(cells[cellCommand], test) {
			lines[i] = strings.Replace(line, "| "+got+" |", "| "+want+" |", 1)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644); err != nil {
		tb.Fatal(err)
	}
}
