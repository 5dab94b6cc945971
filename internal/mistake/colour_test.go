package mistake

import (
	"bytes"
	"testing"
)

func TestPaint(t *testing.T) {
	for in, want := range map[string]string{
		"startrace: no": "\x1b[1;31mstartrace:\x1b[m no",
		"a.star:1:2: no b (did you mean c?)": "\x1b[1;31ma.star:1:2:\x1b[m no b \x1b[32m" +
			"(did you mean c?)\x1b[m",
		"--where:1:8: undefined: x\n-e:3: undefined": "\x1b[1;31m--where:1:8:\x1b[m undefined: x\n" +
			"\x1b[1;31m-e:3:\x1b[m undefined",
		"Traceback:\n  a.star:1:2: in f": "Traceback:\n  a.star:1:2: in f",
	} {
		if got := paint(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// What is no terminal has no colours.
func TestNoColours(t *testing.T) {
	var b bytes.Buffer
	if Print(&b, "startrace: no"); b.String() != "startrace: no\n" {
		t.Errorf("got %q", b.String())
	}
}
