package procs

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

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
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SignalFamily(unix.SIGTERM); err != nil {
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

// A child that is made while its parents are ended ends with them, however often one is just being made.
func TestSignalFamilyThatForks(t *testing.T) {
	needOurKernel(t)
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c, err := StartApart([]string{"sh", "-c", "i=0; while [ $i -lt 3000 ]; do sleep 1000 & i=$((i+1)); echo; done"},
			&Streams{Out: w})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		if err := c.Go(Stops{}); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(r)
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := c.SignalFamily(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // a sleep goes on for longer
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Errorf("something of the command goes on: %v", err)
		}
		if _, err := c.Wait(); err != nil {
			t.Error(err)
		}
		r.Close()
	}
}
