package procs

import (
	"os/exec"
	"testing"
)

func TestEnding(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await, err := Ending(cmd.Process.Pid)
	if err != nil {
		t.Skip("needs pidfd_open(2), which a filter of system calls may forbid:", err)
	}
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
	if await, err = Ending(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	await() // at once
}
