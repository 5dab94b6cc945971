package accept

import "testing"

// An int in the key of a table has 64 bits whatever field a kernel half takes it from, alone, in a tuple and in a
// record: user code writes, finds and removes entries that no such field can have.
//
// > A float that is equal to an int finds its entry: `t.get(1.0)`.
func TestKeysOfWholeInts(t *testing.T) {
	needTracing(t)
	e, _ := traced(t, `
signed, unsigned, pair, rec, n = table(), table(), table(), table(), count()
mine = lambda e: e.comm == "wl-getppid"
def keep(e):
    signed[e.task.prio] = 1
    unsigned[e.pid] = 1
    pair[e.task.prio, e.comm] = 1
    rec[record(prio = e.task.prio)] = 1
    n[e.task.prio].add()
probe("syscall:getppid", keep, where = mine)
def report():
    prio = signed.items()[0][0]
    for i in (1 << 40, (1 << 32) - 1, -1, -(1 << 40), (1 << 63) - 1):
        signed[i], unsigned[i], pair[i, "x"], rec[record(prio = i)] = i, i, i, i
        n[i].add(3)
        print(i, signed[i], unsigned[i], pair[i, "x"], rec[record(prio = i)], n.get(i), i in signed, signed.pop(i),
              i in signed)
    print(sorted([k for k, _ in unsigned.items() if k > 1 << 24]), len(signed), len(pair), len(rec))
    for f in (float(prio), prio + 0.5):
        print(signed.get(f), f in signed, pair.get((f, "wl-getppid")), rec.get(record(prio = f)), n.get(f))
    signed[float(prio)] += 1
    signed[2.0] = 5
    print(signed[prio], signed[2], signed.pop(2.0), signed.get(2))
at_exit(report)
`, []string{"-q"}, "getppid", "1")
	for _, line := range []string{
		"1099511627776 1099511627776 1099511627776 1099511627776 1099511627776 3 True 1099511627776 False",
		"4294967295 4294967295 4294967295 4294967295 4294967295 3 True 4294967295 False",
		"-1 -1 -1 -1 -1 3 True -1 False",
		"-1099511627776 -1099511627776 -1099511627776 -1099511627776 -1099511627776 3 True -1099511627776 False",
		`\[4294967295, 1099511627776, 9223372036854775807, 18446742974197923840, 18446744073709551615\] 1 6 6`,
		"1 True 1 1 1", "None False None None None", "2 5 5 None",
	} {
		e.has(t, "(?m)^"+line+"$")
	}
}
