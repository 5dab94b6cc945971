package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/test/need"
)

// A tmuxTest is a prompt in a window of tmux.
type tmuxTest struct {
	*promptTest
	socket, path string
}

func (x *tmuxTest) tmux(args ...string) string {
	x.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", x.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+x.path, "XDG_STATE_HOME="+x.dir, "TERM=xterm")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// awaitPane waits until the window ends in a text.
func (x *tmuxTest) awaitPane(end string) string {
	x.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		pane := strings.TrimRight(x.tmux("capture-pane", "-p", "-S", "-"), " \n")
		if strings.HasSuffix(pane, end) {
			return pane
		}
		if time.Now().After(limit) {
			x.Fatalf("the window never came to end in %q:\n%s", end, pane)
		}
	}
}

// In tmux, a terminal with other sequences than xterm's: completion, a line
// that wraps while events come above it, Ctrl-C, the end.
func TestPromptTmux(t *testing.T) {
	need.Program(t, "tmux")
	x := &tmuxTest{promptTest: newPromptTest(t), path: binFolder(t)}
	x.socket = filepath.Join(x.dir, "tmux")
	x.tmux("new-session", "-d", "-x", "60", "-y", "10",
		"startrace -p "+strconv.Itoa(x.load.Process.Pid)+"; echo status $?; read wait")
	t.Cleanup(func() { x.tmux("kill-server") })
	x.awaitPane("1>")
	x.tmux("send-keys", "-l", `w = probe("tracepoint:syscalls:sys_enter_wri`)
	x.tmux("send-keys", "Tab")
	x.tmux("send-keys", "-l", `", lambda e: print("wrote", e.args.count), where = lambda e: e.args.count == 5)`)
	x.tmux("send-keys", "Enter")
	x.awaitPane("Attached 1 probe\n2>")
	line := `x = "` + strings.Repeat("longer than the window is wide, ", 3) + `"`
	x.tmux("send-keys", "-l", line[:70])
	x.round()
	x.awaitPane("wrote 5\n2> " + line[:57] + "\n" + strings.TrimRight(line[57:70], " "))
	x.tmux("send-keys", "-l", line[70:])
	x.tmux("send-keys", "Enter")
	x.awaitPane("\n3>")
	x.tmux("send-keys", "-l", `1 + `)
	x.tmux("send-keys", "C-c")
	x.tmux("send-keys", "-l", `len(x)`)
	x.tmux("send-keys", "Enter")
	pane := x.awaitPane(fmt.Sprintf("3> 1 + ^C\n3> len(x)\n%d\n4>", len(line)-6))
	if strings.Count(pane, "wrote 5") != 1 {
		t.Errorf("window\n%s", pane)
	}
	x.tmux("send-keys", "C-d")
	x.awaitPane("status 0")
}
