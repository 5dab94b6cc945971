package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/builtins"
)

const expressionScript = `
f = flag("by", type = expression, required = True)
where = flag("where", type = expression)
print(spelling(f), f("x") if f != None else None, where)
`

func runExpression(by string) (string, error) {
	h, rt, _ := newTest()
	if err := h.ParseText("expression.star", []byte(expressionScript)); err != nil {
		return "", err
	}
	err := h.Run([]string{"--by", by})
	return rt.out.String(), err
}

// An expression is a function of e; its parts are known as they were written.
func TestExpression(t *testing.T) {
	for by, want := range map[string]string{
		`e + "1"`:                    `["e + \"1\""] x1 None`,
		`e, len(e)`:                  `["e", "len(e)"] ("x", 1) None`,
		`(e , "é", e[0])`:            `["e", "\"é\"", "e[0]"] ("x", "é", "x") None`,
		"  e":                        `["e"] x None`,
		"lambda x: x * 2":            `["lambda x: x * 2"] xx None`,
		"e if e else\\\n 3":          `["e if e else\\3"] x None`,
		"[c for c in [e]][0]":        `["[c for c in [e]][0]"] x None`,
		"lambda x: (x, x * 2)":       `["x", "x * 2"] ("x", "xx") None`,
		"lambda x: [x, 2]":           `["lambda x: [x, 2]"] ["x", 2] None`,
		"lambda *e: e[0]":            `["lambda *e: e[0]"] x None`,
		"lambda e, y=1: e":           `["lambda e, y=1: e"] x None`,
		"lambda e=1, *, z=1, **k: e": `["lambda e=1, *, z=1, **k: e"] x None`,
	} {
		if got, err := runExpression(by); err != nil || got != want+"\n" {
			t.Errorf("%q: got %q, %v, want %q", by, got, err, want)
		}
	}
}

// Mistakes are placed in what was typed, and nothing leaves the expression.
func TestExpressionMistakes(t *testing.T) {
	for by, want := range map[string]string{
		"":                  "--by:1:1: an empty text",
		"e) or (e":          "--by:1:2: unexpected ')'",
		"e\nprint(1)":       "--by:2:1: got ",
		"x = 3":             "--by:1:3: got '='",
		"e + nothing_":      "--by:1:5: undefined: nothing_",
		"e +":               "--by:1:4: got the end",
		"e\x00":             "--by:1:2: a NUL character",
		"e + 1":             "--by:1:3: ",
		"lambda e, f: 1":    "--by:1:1: this lambda is called with one argument",
		"lambda e, *, f: 1": "--by:1:1: this lambda is called with one argument",
		"lambda **e: 1":     "--by:1:1: this lambda is called with one argument",
		"lambda: 1":         "--by:1:1: this lambda is called with one argument",
	} {
		var found Errors
		if _, err := runExpression(by); !errors.As(err, &found) || !strings.HasPrefix(found[0].Error(), want) {
			t.Errorf("%q: got %v, want %s", by, err, want)
		}
	}
}

// Two expressions of one place are two functions.
func TestExpressionNames(t *testing.T) {
	_, rt := runTest(t, `
f, g = expression("e + 1"), expression("e + 2")
print(f(1), g(1), spelling(f), spelling(g))
`)
	if got := rt.out.String(); got != "2 3 [\"e + 1\"] [\"e + 2\"]\n" {
		t.Errorf("got %s", got)
	}
}

func TestRequiredFlag(t *testing.T) {
	h, _, _ := newTest()
	if err := h.ParseText("expression.star", []byte(expressionScript)); err != nil {
		t.Fatal(err)
	}
	var usage *builtins.UsageError
	if err := h.Run(nil); !errors.As(err, &usage) || usage.Msg != "--by is missing" {
		t.Errorf("got %v", err)
	}
}
