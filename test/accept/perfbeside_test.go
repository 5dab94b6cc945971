package accept

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPerfBeside counts events of a tracepoint by perf while a script of each shape traces the same one: what the
// program returns must not take them from perf, which belongs to somebody else.
//
// > Other tracers see what they see without startrace: perf and ftrace get the events of a point that a script probes,
// > too.
func TestPerfBeside(t *testing.T) {
	needTracing(t)
	const enter, exit = `"tracepoint:syscalls:sys_enter_getppid"`, `"tracepoint:syscalls:sys_exit_getppid"`
	for name, text := range map[string]string{
		"count":   `n = count(); probe(` + enter + `, lambda e: n[e.comm].add())`,
		"dropped": `probe(` + enter + `, lambda e: print(e.pid), where = lambda e: e.cpu == 9999)`,
		"sent":    `probe(` + enter + `, lambda e: print(e.pid, e.comm))`,
		"error":   `t = table(); probe(` + enter + `, lambda e: print(1), where = lambda e: t[e.pid] == 1)`,
		"span": `n = count(); probe(span(` + enter + `, ` + exit + `, key = lambda e: e.tid), lambda e: n.add())
n2 = count(); probe(span(` + enter + `, ` + exit + `), lambda e: n2.add())`,
		"loop": `n = count()
def f(e):
    x = 0
    for i in range(e.pid & 1023):
        x += i & e.cpu
    n[x].add()
probe(` + enter + `, f)`,
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"-q", script(t, text), "-c",
				"sh -c 'echo ready; read line'", "-o", os.DevNull}
			cmd, in := readied(t, exec.Command(program(t, "startrace"), args...))
			if got := countedByPerf(t, "syscalls/sys_enter_getppid", 10, func() { unix.Getppid() }); got != 10 {
				t.Errorf("perf counts %d of 10 calls", got)
			}
			goOn(t, cmd, in)
		})
	}
}

// countedByPerf counts the events of a tracepoint on this thread while it does something n times.
func countedByPerf(t *testing.T, event string, n int, do func()) uint64 {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text, err := os.ReadFile(filepath.Join("/sys/kernel/tracing/events", event, "id"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}, 0, -1, -1,
		unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for range n {
		do()
	}
	var word [8]byte
	if _, err := unix.Read(fd, word[:]); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint64(word[:])
}
