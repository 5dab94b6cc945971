package value

import (
	"runtime"
	"strings"
	"testing"
)

// What a script puts around a traced string stays as it is, and so do its own constants.
func TestTraced(t *testing.T) {
	tr := &Traced{}
	tr.Own([]string{"own\ttext", "\n"})
	for s, want := range map[string]string{
		"/tmp/a\nb\tc": `/tmp/a\nb\tc`, "\n": `\n`, "plain": "plain", "own\ttext": "own\ttext",
	} {
		of := string(tr.Text(s, false))
		if Shown(of) != want || Printed(of) != s || Shown(s) != s || Shown(of[:0]) != "" {
			t.Errorf("%q is shown as %q and printed as %q, its copy shown as %q", s, Shown(of), Printed(of), Shown(s))
		}
		line := string(joined("\n", []string{of, "x\n"}))
		if Shown(line) != want+"\nx\n" {
			t.Errorf("in a line it is shown as %q", Shown(line))
		}
	}
	if of := tr.Text("a\nb", true); Shown(string(of)) != `a\nb…` || Shown(string(of[1:2])) != `\n` {
		t.Errorf("a part that was cut is shown as %q", Shown(string(of)))
	}
}

// However many there are, memory is bounded.
func TestTracedGo(t *testing.T) {
	tr := &Traced{}
	for range 50 {
		for range 1000 {
			tr.Text(strings.Repeat("x\n", 10), false)
		}
		runtime.GC()
	}
	if n := tracedShapes.count.Load(); n > 100000 {
		t.Errorf("%d places are known of 500000, all of which are gone", n)
	}
}
