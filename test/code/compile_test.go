package code

import (
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/kernel"
)

// BenchmarkSyscalls compiles the largest script there is: all arguments of all
// system calls.
func BenchmarkSyscalls(b *testing.B) {
	facts := kernel.Open(kernel.Options{})
	if _, err := facts.BTF(); err != nil {
		b.Skipf("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux): %v", err)
	}
	n := 0
	for b.Loop() {
		u := compile(b, "syscalls.star", `probe("syscall:*", lambda e: print(e))`, facts, bpfgen.Options{})
		n = 0
		for _, p := range u.Spec.Programs {
			n += len(p.Instructions)
		}
	}
	b.ReportMetric(float64(n), "insns")
}
