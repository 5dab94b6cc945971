package accept

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// Signals at which the runtime of Go prints all goroutines end startrace plainly while it begins, and commands that
// only print at any time.
func TestEarlySignals(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT}
	lines := [][]string{{"-e", "print(1)"}, {"profile", "-c", "true"}, {"list", "syscall:*"}, {"--version"}}
	for _, signal := range signals {
		for _, words := range lines {
			said, err := signalledEarly(t, signal, words)
			by := syscall.Signal(-1)
			if exit, is := err.(*exec.ExitError); is {
				by = exit.Sys().(syscall.WaitStatus).Signal()
			}
			if by != signal || strings.Contains(said, "goroutine") {
				t.Errorf("%v at %q: %v, want its end by the signal: %s", signal, words, err, excerpt(said))
			}
		}
	}
	tried.Many(t, "%d times", len(signals)*len(lines))
}

// signalledEarly sends a signal to startrace while its packages are initialized, and gives the rest that it says. It
// writes a line for each of them, more than the pipe holds, so it waits there.
func signalledEarly(t *testing.T, signal syscall.Signal, words []string) (said string, err error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "startrace"), words...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1"), w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the process has its own
	lines := bufio.NewReaderSize(r, 16)
	for line := ""; !strings.Contains(line, "internal/sigaction/plain "); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal("it did not say that the package begins")
		}
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	return string(rest), cmd.Wait()
}
