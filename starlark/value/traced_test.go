package value

import (
	"runtime"
	"strings"
	"testing"
)

// What was traced is escaped, and so is whatever nobody has claimed for the script.
// What a script puts around it stays as it is, and so do its own constants that come
// back from kernel halves.
func TestTraced(t *testing.T) {
	tr := &Traced{}
	tr.Own([]string{"own\ttext", "\n"})
	for s, want := range map[string]string{
		"/tmp/a\nb\tc": `/tmp/a\nb\tc`, "\n": `\n`, "plain": "plain", "own\ttext": "own\ttext",
	} {
		of := string(tr.Text(s, false))
		if Shown(of) != want || Printed(of) != s || Shown(s) != Shown(strings.Clone(s)) || Shown(of[:0]) != "" {
			t.Errorf("%q is shown as %q and printed as %q, its copy shown as %q", s, Shown(of), Printed(of), Shown(s))
		}
		line := string(joined(string(Own("\n")), []string{of, string(Own("x\n"))}))
		if Shown(line) != want+"\nx\n" {
			t.Errorf("in a line it is shown as %q", Shown(line))
		}
	}
	if of := tr.Text("a\nb", true); Shown(string(of)) != `a\nb…` || Shown(string(of[1:2])) != `\n` {
		t.Errorf("a part that was cut is shown as %q", Shown(string(of)))
	}
}

// A mark that is lost shows a line feed of the script as \n.
func TestLostMark(t *testing.T) {
	own := string(Own("a\nb"))
	if Shown(own) != "a\nb" || Shown(own[1:2]) != "\n" || Shown(strings.Clone(own)) != `a\nb` {
		t.Errorf("got %q, of a part %q, of a copy %q", Shown(own), Shown(own[1:2]), Shown(strings.Clone(own)))
	}
	mixed := string(joined("", []string{own, "\x1b\n", own}))
	if got := OfScript(mixed); got != "a\nb"+`\x1b\n`+"a\nb" {
		t.Errorf("as a format it is %q", got)
	}
}

// However many strings there are, memory is bounded.
func TestMarksGo(t *testing.T) {
	for range 50 {
		for range 1000 {
			Own(strings.Repeat("x\n", 10))
		}
		runtime.GC()
	}
	if noted.count > 10000 {
		t.Errorf("%d strings are known of 50000, all of which are gone", noted.count)
	}
	many := string(Own(strings.Repeat("\n", 4*mostOwn)))
	if all := string(joined("", []string{many, "\n"})); strings.Contains(Shown(all), "\n") {
		t.Error("of too many offsets some are kept")
	}
	if all := string(joined("", []string{many, many})); len(Shown(all)) != len(all) {
		t.Error("where all are the script's, some are not")
	}
}
