package procs

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a command has started ends with it, also behind another process; what others have started does not.
func TestSignalFamily(t *testing.T) {
	needOurKernel(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	c, err := StartApart([]string{"sh", "-c", "sh -c 'sleep 1000 & echo $! $$; wait' & wait"}, &Streams{Out: w})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := c.Go(nil); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SignalFamily(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadByte(); err == nil { // all that has the pipe ends
		t.Error("something more was written")
	}
	if status, err := c.Wait(); status != 128+int(unix.SIGTERM) || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	for _, word := range strings.Fields(line) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		await, err := Ending(pid)
		if err != nil {
			t.Fatal(err)
		}
		await()
	}
	if err := stranger.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("a process that was not the command's has ended: %v", err)
	}
}
