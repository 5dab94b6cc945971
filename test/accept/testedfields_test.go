package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A field that may be None is computed with where a test has told that it is not: of an event, of a record that a
// variable has, and of a record in a record.
func TestTestedFields(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	const noneOrMore, more = "[0, 1, 2, 8, 9]", "[8, 9]" // x is None below 3, and k from there on
	for _, c := range []struct{ where, keys string }{
		{"e.x == None or e.x > 7", noneOrMore},
		{"None == e.x or e.x > 7", noneOrMore},
		{"not e.x or e.x > 7", noneOrMore},
		{"True if e.x == None else e.x > 7", noneOrMore},
		{"e.x != None and e.x > 7", more},
		{"not (e.x == None) and e.x > 7", more},
		{"e.x and e.x > 7", more},
		{"e.x > 7 if e.x != None else False", more},
		{"e.x > 7 if e.x else False", more},
		{"not (e.x == None or e.x <= 7)", more},
		{"e.x != None and e.y != None and e.x > e.y + 2", "[7, 8, 9]"},
		{"early(e)", noneOrMore},
		{"nested(e)", more},
		{"loop(e)", more},
		{"record_of(e)", more},
		{"behind(e)", "[4, 7, 8, 9]"},
		{"within(e)", "[8, 9]"},
		{"outer(e)", "[7, 8, 9]"},
		{"(e.y if e.x and e.y else 5) == 3", "[3, 4, 8, 9]"},
		{"e.r.x != None and e.r.x > 7", more},
		{"e.r.in_r.x and e.r.in_r.x > 7 or e.r.y == 3 and e.k == 4", "[4, 8, 9]"},
	} {
		e := startrace(t, script(t, fmt.Sprintf(`def made(e):
    k = e.args.k
    if k == 99: return None
    x, y = k if k > 2 else None, 3 if k != 5 else None
    if k < 7: y = None if k == 6 else y
    if k == 7: y = 4
    return record(k = k, x = x, y = y, r = record(x = x, y = y, in_r = record(x = x)))
def early(e):
    if e.x == None: return True
    return e.x > 7
def nested(e):
    if e.x != None:
        if e.x > 7: return True
    return False
def loop(e):
    for i in range(2):
        if e.x == None: continue
        if e.x + i > 7 + i: return True
    return False
def behind(e):
    n = 0
    if e.x != None and e.y: n = e.x + e.y
    if e.x: n += 1
    return n > 10 or n == 8 or e.k == 4
def within(e):
    s = 0
    for i in range(2):
        if e.x != None:
            s += e.x
    return s > 14
def outer(e):
    if e.x != None:
        s = 0
        if e.y == None: s = 1
        elif e.y == 4: s = e.y
        if e.x > 8 - s: return True
        return e.x + s > 7
    return False
def record_of(e):
    r = record(x = e.x, k = e.k)
    return r.k > 0 and r.x != None and r.x > 7
keys = []
probe(event(("uprobe:%s:reg", made)), lambda e: keys.append(e.k), where = lambda e: %s)
at_exit(lambda: print("keys", keys))
`, binary, c.where)), "-c", binary).ok(t)
		if !strings.Contains(e.stdout, "keys "+c.keys+"\n") {
			t.Errorf("%s\n%s\n%s", c.where, e.stdout, e.stderr)
		}
	}
}
