package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// counting is a script that counts getppid at some point by some key, and prints each key with its number. A profile
// probe at 1 kHz updates the same aggregation under a key of its own and interrupts the updates that are under way.
const counting = `
n = count()

probe(%q, lambda e: n[%s].add()%s)
%s

def report():
    for key, calls in n.items():
        printf("key %%s: %%d\n", str(key), calls)

at_exit(report)
`

// getppidPoints are the points at which a call of getppid can be counted.
func getppidPoints() map[string]string {
	number := fmt.Sprintf(", where = lambda e: e.args.id == %d", unix.SYS_GETPPID)
	return map[string]string{
		"syscall:getppid":                       "",
		"tracepoint:syscalls:sys_enter_getppid": "",
		"tracepoint:raw_syscalls:sys_enter":     number,
		"rawtracepoint:sys_enter":               number,
	}
}

const (
	byComm    = "e.comm"
	byPIDComm = "e.pid, e.comm"
)

// Three million calls are counted as three million, by comm, and by pid and comm.
func TestCountExact(t *testing.T) {
	for point, where := range getppidPoints() {
		for _, key := range []string{byComm, byPIDComm} {
			t.Run(point+" by "+key, func(t *testing.T) {
				checkCount(t, fmt.Sprintf(counting, point, key, where, ""), key, scaled(3_000_000), 1)
			})
		}
	}
}

// They are also with eight threads on all CPUs and interrupts that update the same aggregation.
//
// > Updates are exact on all CPUs.
func TestCountExactContended(t *testing.T) {
	ticks := map[string]string{
		byComm:    `probe("profile:1000hz", lambda e: n["tick"].add())`,
		byPIDComm: `probe("profile:1000hz", lambda e: n[0, "tick"].add())`,
	}
	for key, tick := range ticks {
		t.Run("by "+key, func(t *testing.T) {
			checkCount(t, fmt.Sprintf(counting, "syscall:getppid", key, "", tick), key, scaled(3_000_000), 8)
		})
	}
}

var keyLine = regexp.MustCompile(`(?m)^key (.*): (\d+)$`)

// checkCount runs the script on n calls by some threads and checks the number under the workload's key.
func checkCount(t *testing.T, text, key string, n, threads int) {
	e, d := traced(t, text, nil, "-pin", "getppid", strconv.Itoa(n), strconv.Itoa(threads))
	want := map[string]string{byComm: d.Comm, byPIDComm: fmt.Sprintf("(%d, %q)", d.PID, d.Comm)}[key]
	for _, m := range keyLine.FindAllStringSubmatch(e.stdout, -1) {
		if m[1] != want {
			continue
		}
		counted, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, e, counted, d.Calls)
		return
	}
	t.Errorf("no line for key %s\nstdout: %s\nstderr: %s", want, excerpt(e.stdout), excerpt(e.stderr))
}

// Of a million events sent as fast as the program can, each is printed or reported as lost.
func TestEventsAccounted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	const text = `probe("syscall:getppid", lambda e: printf("E %-16s %7d %d\n", e.comm, e.tid, e.ret))`
	e, d := traced(t, text, []string{"-o", out}, "getppid", strconv.Itoa(scaled(1_000_000)))
	lines, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	printed := 0
	var parent string
	for line := range strings.Lines(string(lines)) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "E" || fields[1] != d.Comm || fields[2] != strconv.Itoa(d.TIDs[0]) {
			t.Fatalf("unexpected line %q: want comm %s, tid %d", line, d.Comm, d.TIDs[0])
		}
		if parent == "" {
			parent = fields[3]
		}
		if fields[3] != parent || parent == "0" {
			t.Fatalf("line %q: the result was %s before", line, parent)
		}
		printed++
	}
	checkAccount(t, e, printed, d.Calls)
}
