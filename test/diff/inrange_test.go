package diff

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A range asks about ints only, be it captured or written out: of another value the interpreter has an error and no
// answer, so that a kernel half is refused.
func TestInRange(t *testing.T) {
	need.Loading(t)
	for _, of := range []string{"f_R", "range(3)"} {
		for _, x := range []string{"e.args.s", "e.args.flag", `"a"`, "FAULT", "None", "(e.args.u8, 1)"} {
			p := &Program{Name: "f", Text: "f_R = range(3)\ndef f(e):\n    return " + x + " in " + of + "\n"}
			if _, err := compileFor(scriptOf([]*Program{p}), facts(t), StrMax, options()); err == nil ||
				strings.Contains(err.Error(), "panic") {
				t.Errorf("%s in %s: %v", x, of, err)
			}
		}
		c := &checker{facts: facts(t), inputs: Inputs(1, 24)}
		p := &Program{Name: "f", Text: "f_R = range(3)\ndef f(e):\n    return (e.args.s8 in " + of +
			", e.args.u8 not in " + of + ", len(f_R), bool(f_R), f_R[1])\n"}
		c.check([]*Program{p})
		c.checkPlaced([]*Program{p})
		if len(c.found) > 0 || c.programs != 2 {
			t.Errorf("%d programs ran: %v", c.programs, c.found)
		}
	}
}
