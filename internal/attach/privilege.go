package attach

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Which capabilities a run keeps, and how the others are given up.

// kept are the capabilities that a run needs after its probes are attached:
// to load the programs that read tables (state) and to read tables at all
// where kernel.unprivileged_bpf_disabled is set (all commands of bpf(2) before
// 6.0), to name functions in stacks of other users' programs and of the
// kernel, to open files that were deleted by what processes have mapped
// (/proc/PID/map_files, since 5.9), and to end the command of -c if that became
// another user's.
const kept uint64 = 1<<unix.CAP_BPF | 1<<unix.CAP_PERFMON | 1<<unix.CAP_SYS_PTRACE |
	1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_SYSLOG | 1<<unix.CAP_KILL | 1<<unix.CAP_CHECKPOINT_RESTORE

// DropPrivileges gives up all other capabilities, for all threads of the
// process and for good: nothing that needs them can be attached afterwards,
// such as watchpoints, and perf events where kernel.perf_event_paranoid is 3.
// A process without CAP_BPF traces by CAP_SYS_ADMIN and keeps that, and so does
// one that opens events on CPUs that come later, where they need it (admin).
func DropPrivileges(admin bool) error {
	held, err := kernel.OwnCapabilities()
	if err != nil {
		return err
	}
	keep := kept
	if admin || held.Effective>>unix.CAP_BPF&1 == 0 {
		keep |= 1 << unix.CAP_SYS_ADMIN
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // of the calling thread
	var data [2]unix.CapUserData
	for i := range data {
		data[i] = unix.CapUserData{Effective: uint32((held.Effective & keep) >> (32 * i)),
			Permitted: uint32((held.Permitted & keep) >> (32 * i))}
	}
	err = inAllThreads(unix.SYS_CAPSET, unsafe.Pointer(&hdr), unsafe.Pointer(&data))
	if err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// AdminOnCPUs reports whether the events of a CPU that comes later cannot be opened
// without CAP_SYS_ADMIN: watchpoints of the kernel's memory (hw_breakpoint_parse,
// kernel/events/hw_breakpoint.c), and all where kernel.perf_event_paranoid is 3.
func AdminOnCPUs(l *Loaded) bool {
	return slices.ContainsFunc(l.programs, func(p *program) bool {
		watch, ok := p.Attach.Way.(tree.Watchpoint)
		return p.onCPUs() && paranoidPerf() || ok && watch.Address>>63 != 0
	})
}

// paranoidPerf reports whether CAP_PERFMON is not enough for perf events, as kernels of distributions can have it.
func paranoidPerf() bool {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	level, parseErr := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && parseErr == nil && level > 2
}
