package value

import (
	"fmt"
	"testing"
)

// What a script puts around a traced string stays as it is.
func TestTraced(t *testing.T) {
	tr := &Traced{}
	if got := tr.Escape("a\nb"); got != "a\nb" {
		t.Errorf("before anything was traced: %q", got)
	}
	for _, s := range []string{"/tmp/a\nb\tc/x\ty", "\n", "plain", "x\x1b"} {
		if got, want := tr.Note([]byte(s)), s == "/tmp/a\nb\tc/x\ty" || s == "\n"; got != want {
			t.Errorf("Note(%q) = %v", s, got)
		}
	}
	for s, want := range map[string]string{
		"/tmp/a\nb\tc/x\ty":        `/tmp/a\nb\tc/x\ty`,
		"cut from it: a\nb\tc\n":   "cut from it: a\\nb\\tc\n",
		"x\ty, then\ta tab":        "x\\ty, then\ta tab",
		"line\nline\n":             "line\nline\n",
		"\n":                       `\n`,
		"both\n/tmp/a\nb\tc/x\ty!": "both\n/tmp/a\\nb\\tc/x\\ty!",
	} {
		if got := tr.Escape(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
}

// However many there are, memory is bounded and the last ones are known.
func TestTracedMany(t *testing.T) {
	tr := &Traced{}
	for i := range 3 * tracedMax {
		tr.Note(fmt.Appendf(nil, "%d\n", i))
	}
	if len(tr.texts) != tracedMax {
		t.Errorf("%d strings are kept", len(tr.texts))
	}
	if got, want := tr.Escape(fmt.Sprintf("%d\n", 3*tracedMax-1)), fmt.Sprintf(`%d\n`, 3*tracedMax-1); got != want {
		t.Errorf("the last became %q", got)
	}
}
