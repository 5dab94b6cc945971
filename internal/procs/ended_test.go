package procs

import (
	"os"
	"os/exec"
	"testing"
)

func TestEnded(t *testing.T) {
	needOurKernel(t)
	if Ended(os.Getpid()) {
		t.Error("this process has ended")
	}
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
	pid, err := InitPID(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if Ended(pid) {
		t.Error("it ended before its input did")
	}
	in.Close()
	await()
	if !Ended(pid) {
		t.Error("nobody has waited for it, but it has ended")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !Ended(pid) {
		t.Error("it is gone, but has not ended")
	}
}
