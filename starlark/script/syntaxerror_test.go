package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
)

// TestForeignWords checks the table of other tracers' words: a hint that says
// what a word is here names something that exists, and no word is ours.
func TestForeignWords(t *testing.T) {
	for name, ours := range foreignWords {
		if _, ok := builtins.Lookup(name); ok {
			t.Errorf("%s is a builtin, so its hint is never seen", name)
		}
		word, ok := strings.CutPrefix(ours, "here it is ")
		if !ok || strings.ContainsAny(word, ".(-= \"") {
			continue
		}
		if _, known := builtins.Lookup(word); !known && !strings.Contains(" len print None True False ", " "+word+" ") {
			t.Errorf("%s: %s is no builtin", name, word)
		}
	}
}

// FuzzSyntax parses and runs any text: mistakes have a place inside the text
// and a message.
func FuzzSyntax(f *testing.F) {
	for _, text := range []string{"x = (1", "def f(e)\n  x\n", "kprobe:f { @[comm] = count(); }", "x = \"", "x = 1\x00",
		"\xff", "x = '''", "\tx", "a.if", "f\"x\"", ")"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := New(Options{Runtime: builtins.Idle{}})
		h.Thread().SetMaxExecutionSteps(10_000)
		err := h.ParseText("f.star", []byte(text))
		if err == nil {
			err = h.Run(nil)
		}
		var found Errors
		if !errors.As(err, &found) {
			return
		}
		last := strings.Count(text, "\n") + 2
		for _, e := range h.AllMistakes(found, nil, func(*plan.Plan) error { return nil }) {
			if e.Msg == "" || e.Pos.Filename() == "f.star" && (e.Pos.Line < 1 || int(e.Pos.Line) > last) {
				t.Errorf("%q: %v", text, e)
			}
		}
	})
}
