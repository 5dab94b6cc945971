package accept

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/procs"
)

// The run ends with the last of the processes that it follows, also where nobody has waited for the first.
func TestFollowedEnd(t *testing.T) {
	needTracing(t)
	for _, flags := range [][]string{nil, {"-f"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			cmd, in := readied(t,
				exec.Command("sh", "-c", "exec 3<&0; echo ready; read line; { read line; exit 7; } <&3 & exit 5"))
			pid := cmd.Process.Pid
			r := start(t, append([]string{script(t, `
probe("syscall:exit_group", lambda e: print("exits with", e.args.error_code))
`+attached), "-p", fmt.Sprint(pid)}, flags...)...)
			next := func() {
				if _, err := io.WriteString(in, "\n"); err != nil {
					t.Fatal(err)
				}
			}
			r.await(t, "attached")
			next()
			for !procs.Ended(pid) { // nobody has waited for it yet
				time.Sleep(time.Millisecond)
			}
			last := ""
			if flags != nil {
				next() // the child ends
				last = "exits with 7\n"
			}
			e := r.end(t).ok(t)
			if e.skipped(t) == 0 && !strings.HasSuffix(e.stdout, last) ||
				!strings.Contains(e.stderr, fmt.Sprintf("Process %d has ended", pid)) {
				t.Errorf("got %q, which should end in %q; stderr: %s", e.stdout, last, e.stderr)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 {
				t.Error(err)
			}
		})
	}
}
