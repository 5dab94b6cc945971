package accept

import "testing"

// The form of a range tells how many rounds there are, as range(n % 4) has 3: with 4096 of them the verifier did not
// follow these loops to their end.
func TestRoundsByForm(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
t = table()
kept = cell(0)

def worked(x, y):
    z = 0
    for q in range(3):
        if q * 2 > x:
            break
        z += q + y % 9
    return z

def seen(e):
    a, b, c = e.args.count, e.ret, 7
    for i in range(e.args.count % 4):
        a, b = b, (e.args.count + 3) % 100
        t.pop((a + b) % 5)
    for i in range(3):
        if (a < c and a < 19) and (e.args.count + 4) == kept.get():
            t[worked(e.args.count, e.args.count) % 5] = 0 % 1000
    for i in range(e.args.count % 4):
        a += e.args.count % 100
        for k in range(4):
            b = worked(e.args.count % 7, c if c > a else e.args.count) % 1000
    return record(v = a * 31 + b * 7 + c)

probe("syscall:write", lambda e: print("seen", e.args.count, e.v), kernel = seen)
`), "-c", "sh -c 'echo hello'").ok(t)
	equalLines(t, linesWith(e.stdout, "seen"), []string{"seen 6 805"})
}
