package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// rawCall is a call of the workload raw.
func rawCall(t *testing.T, name, words string) string {
	t.Helper()
	sc, ok := kernel.SyscallByName(name)
	if !ok {
		t.Fatalf("no system call %s", name)
	}
	return fmt.Sprint(sc.Nr) + words
}

// What errno() gives is a name, or the number itself: in user code, in a record of a kernel half, and as a key.
func TestErrnoOfNoError(t *testing.T) {
	tell(t, map[string]telling{
		"numbers": {
			script: `
n, mine = count(), lambda e: e.comm == "wl-raw" and e.ret != 0
what = lambda x: [type(x), x == 18, x == "EBADF", sprintf("%s", x)]
probe("syscall:{umask,close}", lambda e: print("user", what(errno(e.ret))), where = mine)
probe("syscall:{umask,close}", lambda e: print("record", what(e.x), sprintf("%d", e.x) if e.x == 18 else ""),
      kernel = lambda e: record(x = errno(e.ret)), where = mine)
probe("syscall:{umask,close}", kernel = lambda e: n[errno(e.ret)].add(), where = mine)
at_exit(lambda: print("keys", n.items(), n.get(18), n.get("EBADF"), n.get("18")))
`,
			work: []string{"raw", rawCall(t, "umask", ",12"), rawCall(t, "umask", ",0"), rawCall(t, "close", ",4d2")},
			stdout: []string{
				`user \["int", True, False, "18"\]`, `user \["string", False, True, "EBADF"\]`,
				`record \["int", True, False, "18"\] 18`, `record \["string", False, True, "EBADF"\] `,
				`keys .* [12] 1 None`,
			},
		},
	})
}

// keysOf counts three calls in a table and an aggregation by a key. In the end each key that items() gives must find
// its entry, and one that no entry can have finds none.
const keysOf = `
t, n = table(), count()

def h(e):
    t[KEY] += 1
    n[KEY].add()
    SEEN

probe("syscall:close", h, where = lambda e: e.comm == "wl-raw" and e.args[0] > 2000)

def report():
    print("items", sorted([str(i) for i in t.items()]), sorted([str(i) for i in n.items()]), len(t))
    for k in ("nope", "", -1, 1 << 70, (1, 2), None, b"x", True, record(a = 1), "x" * 600):
        got = (t.get(k), t.get(k, 5), t.pop(k), t.pop(k, 6), t.remove(k), n.get(k))
        if k in t or got != (None, 5, None, 6, None, None):
            print("found", k)
    for k, v in t.items():
        ways = [k in t, t[k] == v, t.get(k) == v, n.get(k) == v]
        t[k] += 1
        ways.append(t[k] == v + 1)
        t[k] = 9
        ways += [t.pop(k) == 9, k not in t, not t.remove(k)]
        print("ways", all(ways), ways)
    print("left", len(t))

at_exit(report)
`

// Keys are what scripts see of them, in a table that a kernel half fills as in one of a user half, and numbers of one
// text are one key.
//
// > The keys of a table are what a script sees of them, so a key of text that `items()` gives finds its entry.
// > Some labels give many numbers one text: `strftime`, `ksym`, `names(v, "mode")`, and `names` of ints of 64 bits,
// > for -8 and `0xfffffff8` are the same flags.
// > A handler with such a key of a table runs in user space, and `kernel=` refuses it, because a map would have an
// > entry for each number.
// > Aggregations add such entries up.
// > `t[k]` of a missing key ends the handler, which is counted.
// > `get` and `pop` of a missing key give None.
// > `t[k] += n` starts at 0, and so do the other operators.
func TestTableKeysBothWays(t *testing.T) {
	needTracing(t)
	for i, key := range []string{
		"e.args.fd", "errno(e.ret)", "signal(e.args.fd & 15)", `names(e.args.fd, "O_")`, "inet(e.args.fd)",
		"dev_name(e.args.fd)", "syscall_name(e.args.fd & 15)",
		"e.func", "e.comm", "e.probe", `strftime("%Y", e.time)`, `names(e.args.fd, "mode")`, "ksym(e.args.fd)",
		`names((1 << 32) - e.args.fd if e.args.fd == 801 else -e.args.fd, "O_")`,
		"(errno(e.ret), e.comm)", "(inet(e.args.fd), e.args.fd, e.func)",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if testing.Short() && i%5 != 3 {
				t.Skip("needs the long form (make test, make test-vm)")
			}
			outputs := map[string]string{}
			for _, seen := range []string{"", `print("seen")`} {
				text := strings.NewReplacer("KEY", key, "SEEN", seen).Replace(keysOf)
				e, _ := traced(t, text, []string{"-q"}, "raw", rawCall(t, "close", ",801"), rawCall(t, "close", ",802"),
					rawCall(t, "close", ",801"))
				outputs[seen] = strings.ReplaceAll(e.stdout, "seen\n", "")
				if !strings.Contains(e.stdout, "ways True") || strings.Contains(e.stdout, "ways False") ||
					strings.Contains(e.stdout, "found") || !strings.Contains(e.stdout, "left 0") {
					t.Errorf("%s with %q: %s%s", key, seen, e.stdout, e.stderr)
				}
			}
			if kernel, user := outputs[""], outputs[`print("seen")`]; kernel != user {
				t.Errorf("the kernel half gives\n%sthe user half\n%s", kernel, user)
			}
		})
	}
}
