package accept

import (
	"fmt"
	"strings"
	"testing"
)

// What stands in front of the expressions of sentParts: an event whose fields are tuples and records that a kernel half
// has made.
const sentEvent = `
def sent(e):
    n = e.args.error_code
    return record(r0 = (record(x = n + 5, y = "a"), record(x = n + 2, y = "b")), t = ((n + 5, "a"), (2, "b")),
                  r = record(a = n + 1, b = "r"), s = record(a = 2, b = "s"), q = n == 0, o = n == 1,
                  deep = ((record(x = (n, 7)),), (record(x = (n + 1, 8)),)), i = n, c = "c" if n == 0 else "d")
def one(e):
    return e.r if e.q else e.s
def other(e):
    if e.o:
        return e.r
    return e.s
def kind(x):
    if type(x) == "int":
        return x + 1
    elif type(x) == "tuple":
        return x[0]
    elif type(x) in ("record", "list"):
        return x.a
    elif type(x) == "string":
        return len(x)
    elif type(x) == "function" or type(x) == "dict" or type(x) == "bytes":
        return x.nothing
    elif "NoneType" == type(x):
        return x + 1
    return x.nothing
def rest(x):
    if type(x) != "tuple":
        return x + 1
    return x[1]
ev = event(("syscall:exit_group", sent))
`

// What a handler takes of tuples and records that a kernel half has sent, in loops and behind tests of types, is what
// the interpreter takes of such values; which of two it takes may be decided in user space.
var sentParts = []struct {
	expr, want string
	// kernel is set where a kernel half can compute it, too.
	kernel bool
}{
	{"[y.x for y in e.r0]", "[5, 2]", false},
	{"[y.x for y in e.r0 if y.y == 'b']", "[2]", false},
	{"{y.y: y.x for y in e.r0}", `{"a": 5, "b": 2}`, false},
	{"[(i, y.x) for i, y in enumerate(e.r0)]", "[(0, 5), (1, 2)]", false},
	{"[(y.x, z[0]) for y, z in zip(e.r0, e.t)]", "[(5, 5), (2, 2)]", false},
	{"[y.x for y in list(e.r0)]", "[5, 2]", false},
	{"[y.x for y in reversed(e.r0)]", "[2, 5]", false},
	{"[y.x for y in sorted(e.r0, key = lambda y: y.x)]", "[2, 5]", false},
	{"[(y.x, z.x) for y in e.r0 for z in e.r0 if y.x != z.x]", "[(5, 2), (2, 5)]", false},
	{"[a for a, b in e.t if b == 'a']", "[5]", false},
	{"[(i, b) for i, (a, b) in enumerate(e.t)]", `[(0, "a"), (1, "b")]`, false},
	{"[z for y in e.deep for w in y for z in w.x]", "[0, 7, 1, 8]", false},
	{"[w.x[1] for (w,) in e.deep]", "[7, 8]", false},
	{"(lambda l: [y.y for y in l])(e.r0)", `["a", "b"]`, false},
	{"max(e.r0, key = lambda y: y.x).y", "a", false},
	{"e.r0[e.i].x", "5", false},
	{"(e.r if e.q else e.s).a", "1", true},
	{"(e.r if e.o else e.s).a", "2", true},
	{"(e.r or e.s).b", "r", true},
	{"(e.q and e.s).a if e.q else 0", "2", false},
	{"((e.o and e.t) or e.r0)[1].x", "2", false},
	{"(lambda r: r)(e.r).a", "1", true},
	{"one(e).a + other(e).a", "3", true},
	{"kind(e.t[0])", "5", true},
	{"kind(e.r)", "1", true},
	{"kind(e.i)", "1", true},
	{"kind(e.c)", "1", true},
	{"[kind(x) for x in (e.t[0], e.r, e.i, e.c)]", "[5, 1, 1, 1]", false},
	{"rest(e.t)[1]", "b", true},
	{"e.t + 1 if type(e.t) == 'int' else 3", "3", true},
	{"3 if type(e.t) != 'int' else e.t + 1", "3", true},
	{"type(e.t) == 'int' and e.t + 1", "False", true},
	{"type(e.t) != 'int' or e.t + 1", "True", true},
	{"not type(e.t) == 'tuple' and e.t.nothing", "False", true},
	{"e.t.nothing if hasattr(e.t, 'nothing') else 4", "4", true},
	{"[x.a for x in (e.t, e.r) if type(x) == 'record']", "[1]", false},
	{"type(e.t) in ('tuple', 'list')", "True", true},
	{"type(e.r) not in ['int', 'string']", "True", false},
}

func TestPartsThatWereSent(t *testing.T) {
	needTracing(t)
	var all strings.Builder
	all.WriteString(sentEvent)
	var want []string
	for i, p := range sentParts {
		fmt.Fprintf(&all, "probe(ev, lambda e: printf(\"u%d %%s\\n\", str(%s)))\n", i, p.expr)
		want = append(want, fmt.Sprintf("u%d %s", i, p.want))
		if p.kernel {
			fmt.Fprintf(&all, "probe(ev, lambda e: printf(\"k%d %%s\\n\", str(e.value)), kernel = lambda e: %s)\n", i,
				p.expr)
			want = append(want, fmt.Sprintf("k%d %s", i, p.want))
		}
	}
	e := startrace(t, "-q", script(t, all.String()), "-c", "true").ok(t)
	equalLines(t, lines(e.stdout), want)
}

// ofEach takes fields of one of two structs, which user space or the kernel decides, and compares them with those of
// each.
const ofEach = `
known = {1: 2}
no = 5 in known
def both(e):
    p, n = e.args.prev, e.args.next
    return [
        (p if e.pid % 2 else n).pid == (p.pid if e.pid % 2 else n.pid),
        (p or n).pid == p.pid, (p and n).pid == n.pid, (n and p).comm == p.comm,
        (p if e.cpu < 0 else n).comm == n.comm, (p if e.cpu >= 0 else n).real_parent.pid == p.real_parent.pid,
        ((p if e.cpu < 0 else n) if e.cpu < 0 else p).pid == p.pid,
        ((p if e.cpu < 0 else n).real_parent if e.cpu >= 0 else p).pid == n.real_parent.pid,
        (lambda x: x)(p).pid == p.pid,
        (p if e.cpu < 0 else None or n).pid == n.pid,
    ]
def user(e):
    p, n = e.args.prev, e.args.next
    def g(k):
        return (p if k else n).pid
    q = (p if known else n).pid
    (p if known else n).pid
    return [
        (p if known else n).pid == p.pid, (p if 5 in known else n).real_parent.pid == n.real_parent.pid,
        (p if 5 in known else n).comm == n.comm, (p if known else None).pid == p.pid,
        ((p if known else n) if 5 in known else n).pid == n.pid,
        ((p if known else n).real_parent if known else n).pid == p.real_parent.pid,
        [(t if known else n).pid == p.pid for t in (p, p)] == [True, True],
        [(p if (i + e.cpu * 0) in known else n).pid == (n if i == 0 else p).pid for i in range(2)] == [True, True],
        q == p.pid, g(known) == p.pid, g(5 in known) == n.pid,
        (lambda k: (p if k else n).pid)(5 in known) == n.pid,
        ((p if known else n) and n).pid == n.pid, (no or n).pid == n.pid if no else True,
    ]
def kernel(e):
    p, n = e.args.prev, e.args.next
    return EACH
def once(e):
    print("user", [i for i, x in enumerate(both(e) + user(e)) if not x], len(both(e)) + len(user(e)))
    print("kernel", [i for i, x in enumerate(e.value) if not x], len(e.value))
    exit()
probe("rawtracepoint:sched_switch", once, kernel = kernel)
`

// > What is taken of one of two parts is read of each of them: `(a if c else b).pid` is `a.pid if c else b.pid`, and
// > `(a or b).pid` is `a.pid if a else b.pid`.
func TestPartOfOneOfTwo(t *testing.T) {
	needTracing(t)
	text := strings.Replace(ofEach, "EACH", each(ofEach), 1)
	e := startrace(t, "-q", script(t, text), "-c", "sleep 0.1").ok(t)
	equalLines(t, lines(e.stdout), []string{"user [] 24", "kernel [] 10"})
}

// calledOnce counts the calls of what decides which of two parts is taken: it is called once, as in the interpreter.
const calledOnce = `
calls = []
def yes(e):
    calls.append(1)
    return True
def never(e):
    calls.append(1)
    return e.ret == 12345
def handler(e):
    p, n = e.task, e.task.real_parent
    one = (p if yes(e) else n).pid
    other = (n if never(e) else p).pid
    print(one == p.pid, other == p.pid, (p if never(e) else n).comm == n.comm,
          ((n if yes(e) else p) if yes(e) else p).pid == n.pid, len(calls))
    exit()
probe("syscall:exit_group", handler)
`

// > What is taken of one of two parts is read of each of them: `(a if c else b).pid` is `a.pid if c else b.pid`, and
// > `(a or b).pid` is `a.pid if a else b.pid`.
func TestPartIsChosenOnce(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, calledOnce), "-c", "true").ok(t)
	equalLines(t, lines(e.stdout), []string{"True True True True 5"})
}

// Which part of the event it is may be decided in user space only where the kernel reads all that is taken, once.
func TestPartsThatUserSpaceChooses(t *testing.T) {
	needTracing(t)
	for expr, want := range map[string]string{
		`hasattr(e.task or e.task.real_parent, "comm")`:                         "ask each part before for its .comm",
		`getattr(e.task if 5 in l else e.task.real_parent, "comm", "")`:         "ask each part before for its .comm",
		`((e.task if f(e) else e.task.real_parent) or e.task).comm`:             "take .comm of each part before",
		`((e.task if f(e) else e.task.real_parent).real_parent or e.task).comm`: "take .comm of each part before",
	} {
		text := "l = []\ndef f(e):\n    l.append(1)\n    return e.ret == 3\n" +
			"probe(\"syscall:exit_group\", lambda e: print(" + expr + "))\n"
		e := startrace(t, script(t, text), "-c", "true")
		if !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %s, want %s", expr, e.stderr, want)
		}
	}
}

// each is the first list of a script, as a tuple.
func each(text string) string {
	_, rest, _ := strings.Cut(text, "return [")
	list, _, _ := strings.Cut(rest, "\n    ]")
	return "(" + list + "\n    )"
}
