package accept

import (
	"strings"
	"testing"
)

// A pointer that is None is None on each way by which it gets there: read at once, kept in a variable, given by a
// function, by a table that lacks it or by a condition.
func TestNoneOfPointers(t *testing.T) {
	const text = `
n = count()
kept = table()
stored = table()

def given(e):
    return e.file(e.ret) if e.ret < 0 else None

def early(e):
    if e.ret >= 0:
        return e.task
    return None

def each(e):
    if e.file(e.ret) == None:
        n["at once"].add()
    file = e.file(e.ret)
    if file == None:
        n["variable"].add()
    if not file:
        n["truth"].add()
    if given(e) == None:
        n["function"].add()
    task = early(e)
    if task == None:
        n["early"].add()
    kept[e.tid] = e.task
    if kept.get(0) == None:
        n["table"].add()
    if kept.get(e.tid) == None:
        n["none at all"].add()
    either = file if e.ret < 0 else given(e)
    if either == None:
        n["condition"].add()
    stored[e.tid] = file
    if stored.get(e.tid) == None:
        n["stored"].add()

probe("syscall:openat", kernel = each, where = lambda e: e.ret < 0 and e.args.filename.endswith("missing-0"))
at_exit(lambda: print(" ".join(["%s=%d" % (k, v) for k, v in sorted(n.take().items())])))
`
	needTracing(t)
	e := startrace(t, "-q", script(t, text), "-c", `sh -c "true < /nonexistent/missing-0; true"`)
	want := "at once=1 condition=1 early=1 function=1 stored=1 table=1 truth=1 variable=1\n"
	if e.ok(t).stdout != want {
		t.Errorf("got %s\nwant %s\nstderr: %s", e.stdout, want, strings.TrimSpace(e.stderr))
	}
}
