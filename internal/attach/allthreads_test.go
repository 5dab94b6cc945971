package attach

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// Whether the kernel lets enough signals wait is known before they are sent, and nothing is left pending behind that.
func TestSignalsThatMayBePending(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_SIGPENDING, &old); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := tryQueue(mostThreads())
		if errors.Is(err, unix.EINVAL) {
			t.Skip("needs signal 64, which qemu has for itself where it runs a program of another architecture")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, few := range []uint64{0, 1} {
		if err := unix.Setrlimit(unix.RLIMIT_SIGPENDING, &unix.Rlimit{Cur: few, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		err := tryQueue(mostThreads())
		if restored := unix.Setrlimit(unix.RLIMIT_SIGPENDING, &old); restored != nil {
			t.Fatal(restored)
		}
		if !errors.Is(err, unix.EAGAIN) {
			t.Errorf("with a limit of %d: %v, want %v", few, err, unix.EAGAIN)
		}
	}
}
