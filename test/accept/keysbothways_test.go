package accept

import (
	"fmt"
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
probe("syscall:{umask,close}", lambda e: print("record", what(e.x), sprintf("%d", e.x) if e.x == 18 else ""), kernel = lambda e: record(x = errno(e.ret)), where = mine)
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
