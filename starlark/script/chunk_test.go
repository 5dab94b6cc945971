package script_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/starlark/script"
)

// A chunk of the prompt is checked before it runs, as a script is.
func TestChunkUnassigned(t *testing.T) {
	h := script.New(script.Options{Runtime: builtins.Idle{}})
	_, err := h.RunChunk("prompt", 1, "n = 0\ndef f(e):\n    n += 1\n")
	var found script.Errors
	if !errors.As(err, &found) || !strings.HasPrefix(err.Error(), "prompt:3:5: n has no value yet: ") {
		t.Errorf("got %v", err)
	}
	if h.Globals()["n"] != nil || h.Globals()["f"] != nil {
		t.Errorf("it ran: %v", h.Globals())
	}
	for i, text := range []string{"n = 1", "def g():\n    return n + 1\n", "n += g()\nprobe"} {
		c, err := h.RunChunk("prompt", 4+i, text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if i == 2 && (c.Value == nil || h.Globals()["n"].String() != "3") {
			t.Errorf("n is %v, the chunk gives %v", h.Globals()["n"], c.Value)
		}
	}
}
