package procs

import (
	"os"
	"testing"
)

func TestEnded(t *testing.T) {
	needOurKernel(t)
	if Ended(os.Getpid()) {
		t.Error("this process has ended")
	}
	cmd, in, await := waiting(t)
	pid, err := newNumbers().Program(cmd.Process.Pid)
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
