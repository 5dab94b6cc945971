// Package both runs the tools of the library and the examples with their handlers on both sides: in the kernel, and in
// user space of the same events. In the end the containers of both sides must hold the same.
//
// A tool or example that is new is found by itself.
package both

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/internal/twins"
	"github.com/startrace/startrace/stdlib"
	"github.com/startrace/startrace/test/resident"
)

// asked is the environment variable by which this executable becomes the run of one script, whose answer goes to that
// file.
const asked = "STARTRACE_BOTH"

// plainly says that the run is to place handlers as they would be without this test.
const plainly = "STARTRACE_PLAINLY"

func TestMain(m *testing.M) {
	session.MaybeCommand()
	if file := os.Getenv(asked); file != "" {
		os.Exit(run(file, os.Args[1], os.Args[2:]))
	}
	resident.InGuest()
	os.Exit(m.Run())
}

// An answer is what a run found.
type answer struct {
	Exit int
	Err  string
	twins.Twins
}

// run is a run of its own process, since a session gives up its rights. All is done on one CPU: user space gets the
// events of several in the order of their times, which is not always that of what they do. No call is missed where the
// kernel preempts programs: what one side has missed cannot be compared.
func run(file, command string, args []string) int {
	os.Unsetenv(asked)
	var one unix.CPUSet
	one.Set(0)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var a answer
	o := session.Options{Args: args, Stdout: os.Stderr, Stderr: os.Stderr, Twins: &a.Twins}
	if os.Getenv(plainly) != "" {
		o.Twins = nil
	}
	exact := true
	o.Command, o.Quiet, o.Format, o.Exact = command, true, "text", &exact
	var err error
	if a.Exit, err = session.Run(o); err != nil {
		a.Err = err.Error()
	}
	text, err := json.Marshal(a)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// work is a command that does something of everything that tools look at.
func work(t *testing.T) string {
	bin, err := filepath.Abs("../../bin/workload")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("needs bin/workload: make workload builds it: %v", err)
	}
	dir := t.TempDir()
	do := func(what string) string { return bin + " -report /dev/null " + what + "; " }
	script := do("files "+dir) + do("reads 60 1,64,4096") + do("opens 60 1 "+dir) + do("execs 5") + do("exits 5") +
		do("tcp 5 1000") + do("faults 50") +
		fmt.Sprintf("mkdir %s/d; echo text >%s/d/f; cat %s/d/f; mv %s/d/f %s/d/g; rm %s/d/g; rmdir %s/d; sync; "+
			"sleep 0.01; kill -0 $$; true", dir, dir, dir, dir, dir, dir, dir)
	return "sh -c '" + script + "'"
}

// answerOf runs a script with its arguments in a process of its own.
func answerOf(t *testing.T, env, command string, args []string) (a answer, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "answer")
	cmd := exec.Command(self, append([]string{command}, args...)...)
	cmd.Env = append(os.Environ(), asked+"="+file, env)
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	found, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(found, &a); err != nil {
		t.Fatalf("%v: %s", err, found)
	}
	return a, text.String()
}

// compare runs a script and gives how many entries were compared.
func compare(t *testing.T, command string, args ...string) int {
	t.Helper()
	a, stderr := answerOf(t, plainly+"=", command, args)
	if a.Err != "" {
		if plain, _ := answerOf(t, plainly+"=1", command, args); plain.Err != "" &&
			!strings.Contains(plain.Err, "internal error") {
			t.Skipf("needs a machine that has what it traces: %s", plain.Err)
		}
		t.Fatalf("it does not run on both sides: %s\n%s", a.Err, stderr)
	}
	if len(a.Losses) > 0 {
		t.Logf("what was lost on one side makes no comparison: %+v\n%s", a.Losses, stderr)
		return 0
	}
	for _, d := range a.Differ {
		t.Errorf("not the same on both sides: %s", d)
	}
	sum := 0
	for name, n := range a.Same {
		t.Logf("%s: %d entries on both sides", name, n)
		sum += n
	}
	if len(a.Alone) > 0 {
		t.Logf("changed on one side only: %s", strings.Join(a.Alone, ", "))
	}
	return sum
}

func needTracing(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("needs a kernel with BTF (CONFIG_DEBUG_INFO_BTF)")
	}
}

// verbs are the words that the verbs among the tools need.
var verbs = map[string][]string{
	"count": {"syscall:*", "--by", "e.comm, e.func"}, "trace": {"syscall:read"}, "stack": {"t:syscalls:sys_enter_read"},
	"lhist": {"syscall:read", "e.ret", "--lo", "0", "--hi", "4096", "--step", "512"},
}

// words are those of a tool.
func words(m stdlib.Module) []string {
	if strings.HasPrefix(m.File(), "verbs/") && verbs[m.Name] == nil {
		return []string{m.Name, "syscall:read", "e.ret", "--by", "e.comm"}
	}
	return append([]string{m.Name}, verbs[m.Name]...)
}

// TestTools runs all tools of the library, in the short form every sixth.
func TestTools(t *testing.T) {
	needTracing(t)
	command := work(t)
	sum := 0
	for i, m := range stdlib.Modules() {
		if m.Tool && (!testing.Short() || i%6 == 0) {
			t.Run(m.Name, func(t *testing.T) { sum += compare(t, command, words(m)...) })
		}
	}
	if sum < 5 {
		t.Errorf("only %d entries were compared", sum)
	}
}

// TestExamples runs all examples.
func TestExamples(t *testing.T) {
	needTracing(t)
	files, err := filepath.Glob("../../examples/*.star")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("needs the source tree, which guests do not have")
	}
	command := work(t)
	sum := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { sum += compare(t, command, file) })
	}
	if sum < 10 {
		t.Errorf("only %d entries were compared", sum)
	}
}
