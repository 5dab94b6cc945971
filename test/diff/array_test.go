package diff

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

// arrays are expressions with array fields as values, and what they give in both halves.
var arrays = map[string]string{
	`e.args.p.ints == (e.args.p.ints[0], e.args.p.ints[1], e.args.p.ints[2])`: "True",
	`e.args.p.ints != (e.args.p.ints[0], e.args.p.ints[1])`:                   "True",
	`(e.args.p.words, 1) == (e.args.p.words, 1)`:                              "True",
	`(e.args.p.words, 1)[0][1] == e.args.p.words[1]`:                          "True",
	`record(a = e.args.p.ints).a == e.args.p.ints`:                            "True",
	`len(e.args.p.words if e.args.flag else e.args.p.words)`:                  "2",
	`1 if e.args.p.ints else 0`:                                               "1",
	`not e.args.p.words`:                                                      "False",
	`e.args.p.ints == 0`:                                                      "False",
	`e.args.p.ints in ((0, 0), e.args.p.ints)`:                                "True",
	`(e.args.p.ints or 7) == e.args.p.ints`:                                   "True",
}

// An array field is a tuple of its elements in both halves, and no address.
func TestArrays(t *testing.T) {
	need.Loading(t)
	(&checker{facts: facts(t)}).expect(t, arrays, Inputs(1, 1)[0])
}
