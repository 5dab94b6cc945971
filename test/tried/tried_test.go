package tried

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/docs"
	"github.com/startrace/startrace/test/need"
)

func TestDigits(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := digits(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// saying keeps whether a test failed.
type saying struct {
	testing.TB
	name   string
	failed bool
}

func (s *saying) Name() string          { return s.name }
func (s *saying) Errorf(string, ...any) { s.failed = true }

func TestMany(t *testing.T) {
	t.Setenv("TRIED_UPDATE", "")
	for _, c := range []struct {
		test, format string
		number       int
		fails        bool
	}{
		{"TestSoakTenTracers", "%d calls", 1000, false},
		{"TestSoakTenTracers/of a part", "%d calls", 1000, false},
		{"TestSoakTenTracers", "%d calls", 1001, true},
		{"TestSoakTen", "%d calls", 1000, true},
	} {
		s := &saying{TB: t, name: c.test}
		if Many(s, c.format, c.number); s.failed != c.fails {
			t.Errorf("%s with %d: failed is %v", c.test, c.number, s.failed)
		}
	}
}

// TestEachRow finds for each row of the page a test that tells how many it has tried. Scripts that stand in documents
// are run by TestSentences, which knows nothing of numbers.
func TestEachRow(t *testing.T) {
	need.Sources(t, "../..")
	tell := telling(t)
	text, _ := docs.Page("reliability")
	rows := 0
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		if cells == nil {
			continue
		}
		rows++
		for _, name := range namesOf.FindAllString(cells[cellCommand], -1) {
			if !tell[name] && name != "TestSentences" {
				t.Errorf("%s does not tell how many it has tried, as tried.Many(t, %q):\n%s", name,
					strings.TrimSpace(cells[cellMany]), line)
			}
		}
	}
	if rows < 40 {
		t.Errorf("the page has %d rows", rows)
	}
}

// function is one of a file of tests, with its body.
var function = regexp.MustCompile(`(?ms)^func (Test\w+)\(t \*testing\.T\) \{\n(.*?)^\}`)

// telling are the tests that call Many.
func telling(t *testing.T) map[string]bool {
	t.Helper()
	tell := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, f := range function.FindAllSubmatch(source, -1) {
			if strings.Contains(string(f[2]), "tried.Many(t, ") {
				tell[string(f[1])] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tell
}
