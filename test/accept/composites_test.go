package accept

import "testing"

// What a function of a kernel half returns in several places may have parts with parts of their own, of which the
// caller uses some, or none.
func TestReturnsOfParts(t *testing.T) {
	tell(t, map[string]telling{
		"tuples": {
			script: `
n = cell(0)
def parts(e):
    n.add(1)
    if n.get() > 2:
        return (e.pid, (2, (3, e.comm)), (e.tid, 9))
    return (1, (n.get(), (e.pid, "few")), (4, 5))
def half(e):
    r = parts(e)
    return record(same = r[0] == e.pid, text = r[1][1][1])
probe("syscall:getppid", lambda e: print("parts", e.same, e.text), kernel = half)
`,
			stdout: []string{`parts False few`, `parts True wl-getppid`},
		},
		"records": {
			script: `
n = cell(0)
def parts(e):
    n.add(1)
    if n.get() > 2:
        return record(a = e.pid, n = record(x = e.comm, y = 1))
    return record(a = 7, n = record(x = "few", y = e.pid))
probe("syscall:getppid", lambda e: print("first", e.a, e.x),
      kernel = lambda e: record(a = parts(e).a // 8, x = parts(e).n.x))
`,
			stdout: []string{`first 0 few`, `first [1-9]\d* wl-getppid`},
		},
	})
}
