package accept

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// With -p only the process itself is seen, with -f also what it starts, and what that starts.
//
// > `-p PID` traces one.
// > `-c CMD` starts one, and what it starts belongs to it (at the prompt it waits for `go()`).
func TestFollow(t *testing.T) {
	needTracing(t)
	for _, tt := range []struct {
		flags []string
		want  int
	}{{nil, 0}, {[]string{"-f"}, 100}} {
		t.Run(strings.Join(append(tt.flags, "p"), ""), func(t *testing.T) {
			cmd, in := waitingShell(t, fmt.Sprintf("(%s -report %s getppid 100; exit 0)", program(t, "workload"),
				filepath.Join(t.TempDir(), "report")))
			args := append([]string{script(t, `
n = count()
probe("syscall:getppid", lambda e: n.add(), where = lambda e: e.comm == "wl-getppid")
`+attached+`
at_exit(lambda: printf("%d calls\n", n.value))
`), "-p", fmt.Sprint(cmd.Process.Pid)}, tt.flags...)
			r := start(t, args...)
			r.await(t, "attached")
			goOn(t, cmd, in)
			e := r.interrupt(t).ok(t)
			if want := fmt.Sprintf("%d calls\n", tt.want); e.stdout != want && e.skipped(t) == 0 {
				t.Errorf("got %q, want %q; stderr: %s", e.stdout, want, e.stderr)
			}
		})
	}
}

// waitingShell starts a shell that runs a command with the first line on its input.
func waitingShell(t *testing.T, command string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	return readied(t, exec.Command("sh", "-c", "echo ready; read line; "+command))
}

// readied starts a command that says that it is ready, and waits for a line on its input.
func readied(t *testing.T, cmd *exec.Cmd) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	in, line := speaking(t, cmd)
	if line != "ready\n" {
		t.Fatalf("%q is not ready: %q", cmd.Args, line)
	}
	return cmd, in
}

// goOn gives a command that is ready its line, and waits for its end.
func goOn(t *testing.T, cmd *exec.Cmd, in io.Writer) {
	t.Helper()
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// speaking starts a command and gives its input and the first line that it prints.
func speaking(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, line string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q: %q, %v", cmd.Args, line, err)
	}
	return in, line
}
