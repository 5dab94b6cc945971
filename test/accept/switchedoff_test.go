package accept

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// switches are what root can switch off, with the points that are then refused and those that are reached otherwise,
// and nothing if the kernel lacks the switch.
var switches = []struct {
	file            string
	refused, others []string
}{
	{"/sys/kernel/debug/kprobes/enabled", []string{"kretprobe:GETPPID"},
		[]string{"func:GETPPID", "kprobe:GETPPID", "syscall:getppid"}},
	{"/proc/sys/kernel/ftrace_enabled", []string{"kprobe:GETPPID", "func:GETPPID", "fexit:GETPPID"},
		[]string{"syscall:getppid"}},
}

// Where root has switched off probes, startrace takes other ways or says so, and never counts 0.
func TestSwitchedOff(t *testing.T) {
	needGuest(t)
	needTracing(t)
	needDebugfs(t)
	points := 0
	for _, s := range switches {
		if _, err := os.Stat(s.file); err != nil {
			t.Errorf("this kernel has no %s", s.file)
			continue
		}
		turn := func(to string) {
			t.Helper()
			if err := os.WriteFile(s.file, []byte(to), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		turn("0")
		t.Cleanup(func() { turn("1") })
		points += len(s.refused) + len(s.others)
		for _, point := range s.refused {
			if e := countGetppid(t, point); e.status == 0 || !strings.Contains(e.stderr, "echo 1 > "+s.file) {
				t.Errorf("%s without %s: status %d, %q, %q", point, s.file, e.status, e.stdout, e.stderr)
			}
		}
		for _, point := range s.others {
			if e := countGetppid(t, point); e.stdout != "100\n" && e.skipped(t) == 0 {
				t.Errorf("%s without %s: got %q; %s", point, s.file, e.stdout, e.stderr)
			}
		}
		if e := startrace(t, "doctor"); !strings.Contains(e.stdout, "echo 1 > "+s.file) {
			t.Errorf("without %s the doctor says %s", s.file, e.stdout)
		}
		turn("1")
	}
	tried.Many(t, "%d points", points)
}

// needDebugfs skips the test where debugfs is not mounted and cannot be.
func needDebugfs(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/sys/kernel/debug/kprobes"); err == nil {
		return
	}
	if out, err := exec.Command("mount", "-t", "debugfs", "none", "/sys/kernel/debug").CombinedOutput(); err != nil {
		t.Skipf("needs debugfs (CONFIG_DEBUG_FS): %v: %s", err, out)
	}
}

// syscallFunction is the name of the kernel's function of a system call.
func syscallFunction(name string) string {
	return map[string]string{"amd64": "__x64_sys_", "arm64": "__arm64_sys_"}[runtime.GOARCH] + name
}

// countGetppid counts 100 calls at a point, in which GETPPID is the kernel's function.
func countGetppid(t *testing.T, point string) ended {
	t.Helper()
	point = strings.ReplaceAll(point, "GETPPID", syscallFunction("getppid"))
	return startrace(t, "-q", "-e", "n = count()", "-e", `probe("`+point+`", lambda e: n.add())`, "-e",
		"at_exit(lambda: print(n.value))", "-c", program(t, "workload")+" -report "+os.DevNull+" getppid 100")
}

// What is switched off during a run is said at its end.
func TestSwitchedOffDuringRun(t *testing.T) {
	needGuest(t)
	needTracing(t)
	const file = "/sys/kernel/debug/kprobes/enabled"
	needDebugfs(t)
	command := "sh -c 'echo 0 > " + file + "; " + program(t, "workload") + " -report " + os.DevNull + " getppid 100'"
	e := startrace(t, "-q", "-e", "n = count()", "-e",
		`probe("kprobe:`+syscallFunction("getppid")+`", lambda e: n.add())`, "-c", command)
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	counted := 0
	if _, err := fmt.Sscanf(e.stdout, "n: %d", &counted); err != nil {
		t.Fatalf("%v: %q", err, e.stdout)
	}
	// Probes by links are of ftrace, which goes on.
	if counted < 100 && !strings.Contains(e.stderr, "is missing, for kprobes are switched off") {
		t.Errorf("got %q, %q", e.stdout, e.stderr)
	}
}
