package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// A cgroupLimit is how a limit is set in the cgroups of one version.
type cgroupLimit struct {
	kind, file, value string
	flags             []string // of its mount
}

// limited makes a cgroup that may take so many bytes of memory, and gives the file that takes its processes.
func limited(t *testing.T, bytes int) string {
	t.Helper()
	return limitedBy(t, "memory", cgroupLimit{"cgroup2", "memory.max", fmt.Sprint(bytes), nil},
		cgroupLimit{"cgroup", "memory.limit_in_bytes", fmt.Sprint(bytes), []string{"-o", "memory"}})
}

// limitedBy makes a cgroup with the first of some limits that can be set, and gives the file that takes its processes.
func limitedBy(t *testing.T, controller string, limits ...cgroupLimit) string {
	t.Helper()
	for _, limit := range limits {
		root, err := mounted(t, limit.kind, limit.flags...)
		if err != nil {
			t.Logf("%s: %v", limit.kind, err)
			continue
		}
		// Of version 2, which may lack the controller or leave it to version 1.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0)
		group, err := os.MkdirTemp(root, "startrace-limited-") // others may run tests, or have left a group
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		})
		if err := os.WriteFile(filepath.Join(group, limit.file), []byte(limit.value), 0); err == nil {
			return filepath.Join(group, "cgroup.procs")
		}
	}
	t.Skipf("needs a cgroup with a limit of %s (CONFIG_MEMCG, CONFIG_CFS_BANDWIDTH)", controller)
	return ""
}

// A cgroup whose limit is below the budget of a run is no reason to fail at full rate: what was made is delivered or
// said to be lost.
func TestSoakMemoryLimit(t *testing.T) {
	needTracing(t)
	calls := 100_000 * soak(t)
	procs, shown := limited(t, 48<<20), filepath.Join(t.TempDir(), "shown")
	cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, procs, program(t, "startrace"), "--drain", "1m",
		"-o", shown, script(t, printsCalls), "-c",
		fmt.Sprintf("%s -report %s getppid %d", program(t, "workload"), os.DevNull, calls))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, excerpt(stderr.String()))
	}
	out, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	e := ended{stderr: stderr.String()}
	checkAccount(t, e, strings.Count(string(out), "hit\n"), calls)
	if counted := number(t, string(out), `(?m)^(\d+) calls$`); counted != calls && e.skipped(t) == 0 {
		t.Errorf("counted %d calls in the kernel, want %d", counted, calls)
	}
	tried.Many(t, "%d calls, each printed", calls/soak(t))
}

// The events that are on their way are no values of the script: in a small cgroup a tool goes on at full rate, however
// little memory is left for values, and what it could not take is said to be lost.
func TestSmallGroups(t *testing.T) {
	needTracing(t)
	const calls = 200_000
	// Where 29 MB are left a run begins, and startrace has 7 to 10 MB itself when it looks (9 on 7.2).
	for _, limit := range []int{40 << 20, 48 << 20, 64 << 20} {
		t.Run(fmt.Sprintf("%d MB", limit>>20), func(t *testing.T) {
			cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, limited(t, limit),
				program(t, "startrace"), "--drain", "1m", "trace", "syscall:getppid", "-c",
				fmt.Sprintf("%s -report %s getppid %d", program(t, "workload"), os.DevNull, calls))
			var shown, stderr strings.Builder // a file of a tmpfs would count against the cgroup
			cmd.Stdout, cmd.Stderr = &shown, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, excerpt(stderr.String()))
			}
			seen := strings.Count(shown.String(), "syscall:getppid ret=")
			checkAccount(t, ended{stderr: stderr.String()}, seen, calls)
		})
	}
	tried.Many(t, "%d limits", 3)
}

// What does not fit into a cgroup is refused with words that say so, before the kernel ends the run without any: a
// large table, and all maps of a tool together.
func TestTooSmallGroups(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 5, 11) {
		t.Skip("needs a kernel that counts maps against cgroups (5.11)")
	}
	cases := []struct {
		tool string
		mb   int
	}{{"memleak", 64}, {"offcputime", 28}, {"offcputime", 32}, {"offcputime", 33}, {"profile", 28}, {"opensnoop", 24}}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s in %d MB", c.tool, c.mb), func(t *testing.T) {
			cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, limited(t, c.mb<<20),
				program(t, "startrace"), c.tool, "-c", program(t, "workload")+" getppid 1")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != 125 ||
				!strings.Contains(stderr.String(), "the control group (cgroup) of startrace leaves") {
				t.Errorf("%v, want exit code 125 and a message: %s", err, excerpt(stderr.String()))
			}
		})
	}
	tried.Many(t, "%d limits", len(cases))
}

// What reads the names of functions and the rules of stacks is not let in where a cgroup has no room for it: the run
// goes on without, which it says, and is not ended by the kernel without a word. A program of Go without symbols, whose
// table takes much memory while it is read, runs beside it.
func TestNarrowGroups(t *testing.T) {
	needTracing(t)
	beside := exec.Command(program(t, "startrace"), "-q", "-e", `every("1ms", lambda: None)`)
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = beside.Process.Kill()
		_ = beside.Wait()
	}()
	unread, limits := 0, 0
	for tool, each := range map[string][]int{
		"offcputime": {42, 46, 50, 52, 54, 56, 58, 60, 62, 64}, "offwaketime": {50, 55, 58, 61}, "profile": {42, 50},
	} {
		for _, mb := range each {
			limits++
			t.Run(fmt.Sprintf("%s in %d MB", tool, mb), func(t *testing.T) {
				stderr, err := inNarrowGroup(t, tool, mb)
				if err != nil && !strings.Contains(stderr, "(cgroup) of startrace leaves") {
					t.Errorf("%v: %s", err, excerpt(stderr))
				}
				if strings.Contains(stderr, "are not read, so") {
					unread++
				}
			})
		}
	}
	if unread == 0 && atLeast(t, 5, 11) { // before that maps do not count against cgroups
		t.Error("nothing was left out for want of memory")
	}
	tried.Many(t, "%d limits", limits)
}

func inNarrowGroup(t *testing.T, tool string, mb int) (said string, err error) {
	cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, limited(t, mb<<20),
		program(t, "startrace"), tool, "-c", program(t, "workload")+" getppid 200000")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err = cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0 {
		return "", fmt.Errorf("it was ended: %w: %s", err, excerpt(stderr.String()))
	}
	return stderr.String(), err
}

// Values that grow without end in a control group end the run with a message, before the kernel ends it without one.
func TestSoakMemoryOfValues(t *testing.T) {
	limits := []int{48 << 20, 100 << 20, 400 << 20}
	if soak(t) == 1 {
		limits = limits[:1]
	}
	for _, limit := range limits {
		for name, grows := range map[string]string{
			"dict":   "d = {}\ndef grow():\n    for i in range(1 << 40): d[i] = str(i)",
			"list":   "l = []\ndef grow():\n    for i in range(1 << 40): l.append(i)",
			"string": "s = cell('a')\ndef grow():\n    for i in range(40): s.set(s.get() + s.get())",
		} {
			t.Run(fmt.Sprintf("%s-%d", name, limit>>20), func(t *testing.T) {
				cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, limited(t, limit),
					program(t, "startrace"), "-q", script(t, grows+"\ngrow()\n"))
				var stderr strings.Builder
				cmd.Stderr = &stderr
				err := cmd.Run()
				if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "memory") {
					t.Errorf("%v, want exit code 1 and a message: %s", err, excerpt(stderr.String()))
				}
			})
		}
	}
}
