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
		{"tuple_of(e)", more},
		{"deep_of(e)", more},
		{"kept(e)", more},
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
def tuple_of(e):
    t = (e.k, e.x)
    return t[1] != None and t[1] > 7
def deep_of(e):
    t = (e.k, record(p = (e.x, 1)))
    if t[-1].p[0] == None: return True and False
    return t[1].p[0] + t[1].p[1] > 8
had = table()
def kept(e):
    had[e.k] = (e.k, e.x)
    t = had.get(e.k)
    if t == None or t[1] == None: return False
    return t[1] > 7
keys = []
probe(event(("uprobe:%s:reg", made)), lambda e: keys.append(e.k), where = lambda e: %s)
at_exit(lambda: print("keys", keys))
`, binary, c.where)), "-c", binary).ok(t)
		if !strings.Contains(e.stdout, "keys "+c.keys+"\n") {
			t.Errorf("%s\n%s\n%s", c.where, e.stdout, e.stderr)
		}
	}
}

// A field of an event's start that may be None is computed with where a test has told that it is not, also behind other
// tests and where two ways meet.
func TestTestedFieldsOfStarts(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	for _, c := range []struct{ where, keys string }{
		{"e.start.x == None or e.start.x > 7", "[0, 1, 2, 8, 9]"},
		{"e.start.x != None and e.start.x > 7", "[8, 9]"},
		{"e.start.x and e.start.x > 7", "[8, 9]"},
		{"e.start.x > 7 if e.start.x else False", "[8, 9]"},
		{"e.start.r.in_r.x != None and e.start.r.in_r.x > 7", "[8, 9]"},
		{"e.start.r.p[0] != None and e.start.r.p[0] + e.start.r.p[1] > 8", "[8, 9]"},
		{"behind(e)", "[8, 9]"},
		{"meets(e)", "[4, 7, 8, 9]"},
		{"variable(e)", "[8, 9]"},
		{"loop(e)", "[8, 9]"},
		{"both(e)", "[3, 4, 8, 9]"},
	} {
		e := startrace(t, script(t, fmt.Sprintf(`def made(e):
    k = e.args.k
    if k == 99: return None
    x, y = k if k > 2 else None, 3 if k not in (5, 6) else None
    if k == 7: y = 4
    return record(k = k, x = x, y = y, r = record(in_r = record(x = x), p = (x, 1)))
def behind(e):
    if e.start.x == None: return False
    return e.start.x > 7
def meets(e):
    n = 0
    if e.start.x != None and e.start.y: n = e.start.x + e.start.y
    if e.start.x: n += 1
    return n > 10 or e.start.k == 4
def variable(e):
    s = e.start
    if s.x != None and s.k: return s.x > 7
    return False
def loop(e):
    s = 0
    for i in range(2):
        if e.start.x != None:
            s += e.start.x
    return s > 14
def both(e): return (e.start.y if e.start.x and e.start.y else 5) == 3
keys = []
s = span(event(("uprobe:%[1]s:reg", made)), "uretprobe:%[1]s:reg")
probe(s, lambda e: keys.append(e.start.k), where = lambda e: %[2]s)
at_exit(lambda: print("keys", keys))
`, binary, c.where)), "-c", binary).ok(t)
		if !strings.Contains(e.stdout, "keys "+c.keys+"\n") {
			t.Errorf("%s\n%s\n%s", c.where, e.stdout, e.stderr)
		}
	}
}
