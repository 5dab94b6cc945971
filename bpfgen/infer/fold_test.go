package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
)

// held are conditions on constants that hold; what stands behind their opposite is looked at in neither half.
var held = []string{
	`on`, `not off`, `zero == 0`, `three > 0`, `three >= 3 and zero < 1`, `off or three != 4`, `name == "x,y"`,
	`name != "z"`,
	`name < "z"`, `"," in name`, `"q" not in name`, `name`, `none == None`, `rate > 0`, `rate == 0.5`, `rate < three`,
	`three - 3 == zero`, `-three < 0`, `~three == -4`, `three // 2 == 1`, `three << 2 > 11`, `three % 2`, `"a" in pair`,
	`"z" not in pair`,
	`pair[0] == "a"`, `len(pair) == 2`, `len(name) > 2`, `bool(three)`, `abs(zero - 3) == 3`, `min(three, 5) == 3`,
	`max(three, 5, 1) > 4`, `int(on) == 1`, `bool() == off`, `1 in (1.0, 2)`, `(1, 1.0) == (1.0, 1)`,
	`name.startswith("x")`, `name.endswith("y")`, `pair == ("a", "b")`, `pair != ("a", "c")`, `rec.n == 3`,
	`big > 18446744073709551615`,
	`on == True`, `True > False`, `(three if on else zero) == 3`, `raw == b"ab"`,
	`sum(3) == 6`, `sum(n = 2, by = 5) == 10`, `level(three) == "high"`, `level(1) == None`,
	`level(sum(1)) == None`,
	`(lambda n: n + 1)(2) == 3`, `pair[sum(0)] == "a"`, `both(1)[1] == 2`,
}

const constants = `
on, off, zero, three, name, none, rate, pair = True, False, 0, 3, "x,y", None, 0.5, ("a", "b")
rec, big, raw = record(n = 3), 1 << 70, b"ab"

def sum(n, by = 2):
    s = 0
    for i in range(n):
        s += by
    return s

def level(n):
    if n > 2:
        return "high"
    return None

def both(n):
    return (n, n + 1)

`

// TestFoldsAlike compiles each condition in both halves, before a field that does not exist.
func TestFoldsAlike(t *testing.T) {
	facts := testFacts(t)
	for _, cond := range held {
		for half, effect := range map[string]string{"kernel": "", "user": "    print(1)\n"} {
			text := constants + "n = count()\ndef f(e):\n    if not (" + cond +
				"):\n        n[e.args.nonesuch].add()\n" + effect + "probe(\"rawtracepoint:sched_switch\", f)\n"
			if err := inferred(t, text, facts); err != nil {
				t.Errorf("not (%s) does not fold in the %s half: %v", cond, half, err)
			}
			text = strings.Replace(text, "not (", "(", 1)
			if err := inferred(t, text, facts); err == nil || !strings.Contains(err.Error(), "nonesuch") {
				t.Errorf("what is behind %s is not looked at in the %s half: %v", cond, half, err)
			}
		}
	}
}

func inferred(t *testing.T, text string, facts *kernel.Facts) error {
	t.Helper()
	_, err := infer.Plan(planOf(t, text), facts, infer.Options{})
	return err
}
