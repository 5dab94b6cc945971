package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// A tracer that gets a fifth of a CPU, as in a container with a quota, while what it traces gets all of the others,
// ends with its results: nothing is wrong with a handler that had no time, and what was not handled is said to be lost.
func TestCPUQuota(t *testing.T) {
	needTracing(t)
	procs := limitedBy(t, "cpu", cgroupLimit{"cgroup2", "cpu.max", "20000 100000", nil},
		cgroupLimit{"cgroup", "cpu.cfs_quota_us", "20000", []string{"-o", "cpu"}})
	ends := map[string]func(t *testing.T, tracer *exec.Cmd){
		"--duration": func(*testing.T, *exec.Cmd) {},
		"SIGTERM": func(t *testing.T, tracer *exec.Cmd) {
			time.Sleep(2 * time.Second)
			if err := tracer.Process.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) { underQuota(t, procs, name == "--duration", end) })
	}
	tried.Many(t, "%d ends", len(ends))
}

// underQuota traces calls at full rate in a cgroup. SIGTERM comes to a tracer that has attached.
func underQuota(t *testing.T, procs string, timed bool, end func(*testing.T, *exec.Cmd)) {
	work := exec.Command(program(t, "workload"), "-report", os.DevNull, "getppid", fmt.Sprint(1<<40), "2")
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = work.Process.Kill()
		_ = work.Wait() // it was killed
	}()
	shown := filepath.Join(t.TempDir(), "shown")
	words := []string{"-c", `echo $$ >"$0" && exec "$@"`, procs, program(t, "startrace"), "-p",
		fmt.Sprint(work.Process.Pid), "-o", shown, script(t, `
n = count()
def counted(e):
    n.add()
    return True
probe("syscall:getppid", lambda e: print("hit"), kernel = counted)
announce("attached")
at_exit(lambda: printf("%d calls\n", n.value))
`)}
	if timed {
		words = append(words, "--duration", "2s")
	}
	cmd := exec.Command("sh", words...)
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	e := ended{}
	buf := make([]byte, 4096)
	for asked := false; ; {
		n, err := messages.Read(buf)
		if e.stderr += string(buf[:n]); err != nil {
			break
		}
		if !asked && strings.Contains(e.stderr, "attached") {
			asked = true
			end(t, cmd)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, excerpt(e.stderr))
	}
	text, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	blamed := regexp.MustCompile(`(?m)^.*(cannot be ended|did not end by itself).*$`)
	if wrong := blamed.FindString(e.stderr); wrong != "" {
		t.Errorf("a handler that only prints is blamed: %s", wrong)
	}
	calls := number(t, string(text), `(?m)^(\d+) calls$`)
	if calls == 0 && e.skipped(t) == 0 {
		t.Errorf("nothing was counted: %s", e.stderr)
	}
	checkAccount(t, e, strings.Count(string(text), "hit\n"), calls)
}
