package points

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// How programs know a system call of a program of 32 bits (int 0x80, AArch32) or of x32.

// A call of the kernel's 32-bit interface (int 0x80, AArch32) has a number of another table and other registers. The
// kernel marks the thread while it is in one: TS_COMPAT in thread_info.status (arch/x86/include/asm/thread_info.h); on
// arm64 a 32-bit program's threads have TIF_32BIT in thread_info.flags (arch/arm64/include/asm/thread_info.h).
var compatMarks = map[string]struct {
	field string
	mask  int64
}{"amd64": {"status", 0x0002}, "arm64": {"flags", 1 << 22}}

// CompatMark is where the mark is; nil where the kernel's types do not tell it.
func CompatMark(facts *kernel.Facts) *tree.CompatMark {
	mark, ok := compatMarks[runtime.GOARCH]
	btf, err := facts.BTF()
	if !ok || err != nil {
		return nil
	}
	at, err := btf.OffsetOf("task_struct", "thread_info", mark.field)
	if err != nil {
		return nil
	}
	return &tree.CompatMark{Offset: int64(at), Mask: mark.mask}
}

// HasX32 reports whether the kernel has the system calls of x32. It is asked for each pattern and each probe, in each
// round of the compiler, and so it is kept.
func HasX32(facts *kernel.Facts) bool {
	btf, err := facts.BTF()
	if err != nil {
		return false
	}
	return kernel.Once(btf, "x32", func() any {
		_, there := btf.Named(kernel.KindFunc, "__x64_compat_sys_execve")
		return there
	}).(bool)
}
