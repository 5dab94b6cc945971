package irtest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Tests of text in and text out, over the functions of testdata.

var update = flag.Bool("update", false, "write what comes out to testdata")

// Golden compares what do makes of the functions in testdata/name.txt with
// the text there. A file has cases of this form; -update writes the last part:
//
//	== what the case shows
//	func "f" {
//	…
//	}
//	=>
//	the text that do gives
func Golden(t *testing.T, name string, do func(t *testing.T, f *ir.Func) string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split("\n"+string(text), "\n== ")
	if len(cases) < 2 {
		t.Fatalf("%s has no cases", path)
	}
	var out strings.Builder
	for _, c := range cases[1:] {
		title, rest, _ := strings.Cut(c, "\n")
		in, want, _ := strings.Cut(rest, "\n=>")
		want = strings.TrimLeft(want, "\n")
		t.Run(strings.ReplaceAll(title, " ", "_"), func(t *testing.T) {
			got := goldenCase(t, in, do)
			out.WriteString("== " + title + "\n" + in + "\n=>\n" + got)
			if want = strings.TrimRight(want, "\n") + "\n"; got != want && !*update {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func goldenCase(t *testing.T, in string, do func(t *testing.T, f *ir.Func) string) string {
	t.Helper()
	f, err := ir.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(do(t, f), "\n") + "\n"
}
