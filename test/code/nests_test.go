package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
)

// nests are expressions with a part X, which is an int, and are ints themselves, so that each can be put into itself.
// p and q are tasks of the event, whose parents may be unreadable.
var nests = map[string]string{
	"a conditional":                   "(X if p.pid else q.pid)",
	"a condition":                     "(p.pid if X else 5)",
	"a sum of conditionals":           "((X if p.pid else 1) + (3 if q.pid else 4))",
	"and":                             "(X and p.pid)",
	"or":                              "(X or p.pid)",
	"not":                             "int(not (p.parent.pid if X else q.parent.pid))",
	"min":                             "min(X, p.pid, q.pid)",
	"abs":                             "abs(X - 3)",
	"division":                        "(X // (p.pid | 1))",
	"a shift":                         "((X & 7) << (p.pid & 7))",
	"a float":                         "(p.pid if (1.5 if X else 2.5) == 1.5 else 4)",
	"a float among floats":            "int((1.5 if X else 2.5) in (3.5, 4.5, 1.5))",
	"the order of floats":             "int((1.5 if X else 2.5) < 2.25)",
	"the truth of a float":            "int(bool(1.5 if X else 0.0))",
	"a tuple":                         "int(((1, 2) if X else (3, p.pid)) == (q.pid, 2))",
	"a tuple of floats":               "int(((1, 2.5) if X else (3, 3.5)) == (p.pid, 2.5))",
	"a tuple in a tuple":              "int(((1, (2, p.pid)) if X else (3, (4, 5))) == (q.pid, (2, 3)))",
	"a tuple among tuples":            "int(((1, 2) if X else (3, p.pid)) in [(q.pid, 2), (4, p.pid)])",
	"a record":                        "(record(a = 1, b = X) if p.pid else record(a = 3, b = 4)).b",
	"a lambda":                        "(lambda a: a[0] + a[1])((1, 2) if X else (3, p.pid))",
	"a function with two results":     "either(X)",
	"a part that may be unreadable":   "int((p.parent.pid if X else q.parent.pid) == 4)",
	"the order of such parts":         "int((p.parent.pid if X else q.parent.pid) < 4)",
	"the truth of such a part":        "int(bool(p.parent.pid if X else q.parent.pid))",
	"such a part among others":        "int((p.parent.pid if X else q.parent.pid) in (4, 5, 6))",
	"a pointer":                       "int((p if X else p.parent) == q)",
	"a pointer that is followed":      "(p if X else p.parent).pid",
	"a pointer that may be None":      "int((p.parent if X else None) == None)",
	"a string":                        "int(('a' if X else e.comm) == 'b')",
	"a string among strings":          "int(('a' if X else e.comm) in ('abc', 'b', e.comm))",
	"the order of strings":            "int(('a' if X else e.comm) < e.comm)",
	"the begin of a string":           "int(('a' if X else e.comm).startswith('abc'))",
	"a string that may be unreadable": "int((cstr(p) if X else cstr(q)) == 'abc')",
	"None":                            "int((X if p.pid else None) == None)",
	"an entry of a table":             "t.get(X, 3)",
	"an entry that may be None":       "int((t.get(3) if X else None) == 3)",
	"the truth of such an entry":      "int(bool(t.get(3) if X else None))",
	"a float as key":                  "floats.get(1.5 if X else 2.5, 3)",
	"a tuple with a float as key":     "pairs.get((1, 2.5) if X else (p.pid, 3.5), 3)",
}

// TestNests compiles expressions that are put into themselves. Each level has about as many instructions as the one
// before: an expression that is written down twice by the compiler doubles with each. A conditional float was written
// down 22 times where two such floats were compared, and a random program of three lines had 10,463 instructions.
func TestNests(t *testing.T) {
	facts := smallKernel(t)
	for name, form := range nests {
		t.Run(name, func(t *testing.T) {
			insns := func(depth int) int {
				x := "e.pid"
				for range depth {
					x = strings.ReplaceAll(form, "X", x)
				}
				text := fmt.Sprintf(nestScript, x)
				return instructions(compile(t, "t.star", text, facts, bpfgen.Options{Arch: "amd64", HasLoop: true}))
			}
			few, many := insns(2)-insns(1), insns(4)-insns(3)
			if most := 2*few + 24; many > most {
				t.Errorf("level 4 has %d instructions, level 2 has %d: at most %d are right", many, few, most)
			}
		})
	}
}

const nestScript = `
t = table()
floats = table()
pairs = table()
n = count()
def either(x):
    if x > 3:
        return 4
    return x
def f(e):
    p, q = e.args.prev, e.args.next
    t[1] = 1
    floats[1.5] = 1
    pairs[(1, 2.5)] = 1
    n[%s].add()
probe("rawtracepoint:sched_switch", kernel = f)
`

// instructions are those of all programs.
func instructions(u *bpfgen.Unit) (n int) {
	for _, p := range u.Spec.Programs {
		n += len(p.Instructions)
	}
	return n
}
