package procs

import (
	"io"
	"os/exec"
	"testing"
)

// waiting is a process that ends with its input, and what waits for its end.
func waiting(t *testing.T) (cmd *exec.Cmd, in io.Closer, await func()) {
	t.Helper()
	cmd = exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await, err = Ending(cmd.Process.Pid)
	if err != nil {
		t.Skip("needs pidfd_open(2), which a filter of system calls may forbid:", err)
	}
	return cmd, in, await
}

func TestEnding(t *testing.T) {
	cmd, in, await := waiting(t)
	ended := make(chan bool)
	go func() { await(); close(ended) }()
	select {
	case <-ended:
		t.Fatal("it ended before its input did")
	default:
	}
	in.Close()
	<-ended // also before anyone has waited for it
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	await, err := Ending(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	await() // at once
}
