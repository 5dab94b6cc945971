package accept

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// largeResults are calls that would make more than a budget has room for, each from what is small.
var largeResults = []string{
	`x = [0]
for i in range(40): x.extend(x)`,
	`list(range(60000000))`,
	`tuple(range(60000000))`,
	`set(range(60000000))`,
	`sorted(range(60000000))`,
	`sorted(range(60000000), key = lambda v: -v)`,
	`reversed(range(60000000))`,
	`enumerate(range(60000000))`,
	`zip(range(60000000), range(60000000))`,
	`dict(zip(range(100000), range(100000)), **{"a": 1}); dict([(i, i) for i in range(60000000)])`,
	`[i for i in range(60000000)]`,
	`[i for i in range(60000000) if i >= 0]`,
	`[i for j in range(10000) for i in range(10000)]`,
	`{i: i for i in range(60000000)}`,
	`(lambda *all: all)(*range(60000000))`,
	`list(("x" * 8000000).elems())`,
	`list(("x" * 8000000).codepoints())`,
	`list(("x" * 8000000).codepoint_ords())`,
	`list(("x" * 8000000).elem_ords())`,
	`list(bytes("x" * 8000000))`,
	`("x" * 8000000).split("x")`,
	`("x " * 4000000).split()`,
	`("x" * 8000000).rsplit("x")`,
	`("\n" * 8000000).splitlines()`,
	`("x" * 8000000).replace("x", "yyyyyyyyyyyyyyyyyyyy")`,
	`"x" * 500000000`,
	`[0] * 60000000`,
	`" ".join(["x" * 1000000] * 500)`,
	`("{0}" * 1000).format("x" * 1000000)`,
	`"%s%s" % ("x" * 15000000, "x" * 15000000)`,
	`x = [0] * 1000
for i in range(40): x = x + x`,
	`x = [0] * 1000
for i in range(40): x += x`,
	`x = "y"
for i in range(40): x += x`,
	`d = {}
for i in range(100): d.update(zip(range(i * 100000, (i + 1) * 100000), range(100000)))`,
	`s = set()
for i in range(100): s = s.union(range(i * 100000, (i + 1) * 100000))`,
	`s = set()
for i in range(100): s.update(range(i * 100000, (i + 1) * 100000))`,
	`x = []
for i in range(100000000): x.append(i)`,
	`json.decode("[" + "0," * 4000000 + "0]")`,
	`str([10000000] * 1000000 * 1)`,
	`json.encode(["abcdefgh" * 8] * 1000000)`,
	nested + `str(a)`,
	nested + `repr([a])`,
	nested + `json.encode(a)`,
	nested + `"%s" % (a,)`,
	nested + `"{}".format(a)`,
	nested + `print(a)`,
	nested + `printf("%s", a)`,
}

// nested makes a small value with a long text.
const nested = `a = ()
for i in range(60): a = [a, a]
`

// What the builtins of the interpreter make stays within the memory that a run was given: what would be more is refused
// before it is there.
func TestBuiltinsStayWithinMemory(t *testing.T) {
	const budget = 64 << 20
	for _, code := range largeResults {
		out, peak, err := withPeak(t, "--memory", "64M", "-e", code)
		t.Logf("%3d MB: %s: %s", peak>>20, code, excerpt(string(out)))
		if err == nil || !refused(out) {
			t.Errorf("%s: %v: %s", code, err, out)
		}
		if peak > budget {
			t.Errorf("%s: %d MB were resident, of 64 MB", code, peak>>20)
		}
	}
	tried.Many(t, "%d calls", len(largeResults))
}

// refused reports whether a run says that a value is too large: for the budget, or at all.
func refused(out []byte) bool {
	return bytes.Contains(out, []byte("--memory")) || bytes.Contains(out, []byte("are the most that are made at once"))
}

// hangs is after how many seconds a run is taken to hang. In a guest on a busy machine half a second can be a minute.
const hangs = "600"

// withPeak runs startrace, and gives what it writes and the most bytes of it that were resident. The workload starts
// it, for the kernel counts those of the one who does (test/workload/peak.go).
func withPeak(t *testing.T, args ...string) (out []byte, peak int64, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	out, err = exec.Command(program(t, "workload"), append([]string{"peak", file, "timeout", "-s", "KILL", hangs,
		program(t, "startrace")}, args...)...).CombinedOutput()
	text, readErr := os.ReadFile(file)
	if readErr == nil {
		peak, readErr = strconv.ParseInt(string(text), 10, 64)
	}
	if readErr != nil {
		t.Fatalf("%q: %v: %s", args, readErr, excerpt(string(out)))
	}
	return out, peak, err
}
