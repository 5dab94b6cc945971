// Package need skips tests for what the kernel does not have, in the same words everywhere.
package need

import (
	"testing"

	"github.com/startrace/startrace/internal/bpf"
)

// BPF skips a test where no program can be loaded and no map made, whoever asks.
func BPF(tb testing.TB) {
	tb.Helper()
	if bpf.Missing() {
		tb.Skip("needs a kernel with bpf(2) (CONFIG_BPF_SYSCALL); an emulator of programs has none")
	}
}
