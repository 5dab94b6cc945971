// Package need skips tests for what the machine does not have, in the same words everywhere.
package need

import (
	"os"
	"testing"

	"github.com/cilium/ebpf/rlimit"

	"github.com/startrace/startrace/internal/bpf"
)

// Skips of tests where no program can be loaded.

// BPF skips a test where no program can be loaded and no map made, whoever asks.
func BPF(tb testing.TB) {
	tb.Helper()
	if bpf.Missing() {
		tb.Skip("needs a kernel with bpf(2) (CONFIG_BPF_SYSCALL); an emulator of programs has none")
	}
}

// Loading skips a test of who may not load programs and make maps, and lifts the limit of locked memory, against which
// these count before Linux 5.11.
func Loading(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("needs root (uid 0) to load BPF programs")
	}
	BPF(tb)
	if err := rlimit.RemoveMemlock(); err != nil {
		tb.Skipf("needs CAP_SYS_RESOURCE to lift RLIMIT_MEMLOCK: %v", err)
	}
}
