// Package golden compares what a test gets with a file that has what is right.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text compared with a file of what is right, with -update.

var update = flag.Bool("update", false, "write what comes out to the files that have what is right")

// Equal compares got with a file, line by line. With -update it writes the file: the difference is read by whoever
// commits it.
func Equal(tb testing.TB, file, got string) {
	tb.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		tb.Errorf("%s differs (-want +got); run with -update if that is right:\n%s", file, d)
	}
}
