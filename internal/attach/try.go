package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// What this process may do here, tried for a moment: one function for each way to attach, for the doctor.

// A Trial says what Try tries things on. The caller chooses what exists on every kernel and rarely happens. The
// programs do nothing.
type Trial struct {
	// Function is the name of a function of the kernel.
	Function string
	// Trampoline is the number of a function in the kernel's BTF; 0 if that is not known.
	Trampoline uint32
	// Iterator is the number in BTF of the function of an iterator; 0 if that is not known.
	Iterator uint32
	// Hook is the number in BTF of the function of a security hook; 0 if that is not known, or if there are none.
	Hook uint32
	// RawTracepoint is the name of a raw tracepoint.
	RawTracepoint string
	// TracepointID gives the number of the same tracepoint for perf events.
	TracepointID func() (uint64, error)
}

// Try finds out what this process may do on this kernel, by doing each thing for a moment. It gives for each way the
// error, nil where it worked. Which kernel has a way first stands at its name (kernel.Way). Try raises RLIMIT_MEMLOCK
// meanwhile.
func Try(t *Trial) map[kernel.Way]error {
	restore, raised := raiseMemlock() // as Load does
	if raised {
		defer restore()
	}
	return map[kernel.Way]error{
		kernel.WayLoad:          tryAttach(returning(ebpf.RawTracepoint, ebpf.AttachNone), nil),
		kernel.WayMemory:        tryAttach(readingMemory(), nil),
		kernel.WayRing:          tryRing(),
		kernel.WayRaw:           t.rawTracepoint(),
		kernel.WayTracepoint:    t.tracepoint(),
		kernel.WayProfile:       tryClock(),
		kernel.WayHardware:      tryCounter(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES),
		kernel.WayWatchpoint:    tryWatchpoint(),
		kernel.WayKprobe:        unlessOff(kernel.KprobesOff, t.kprobe),
		kernel.WayKprobeMulti:   unlessOff(kernel.KprobesOff, func() error { return t.kprobes(bpf.KprobeMulti) }),
		kernel.WayKprobeSession: unlessOff(kernel.KprobesOff, func() error { return t.kprobes(bpf.KprobeSession) }),
		kernel.WayFentry:        unlessOff(kernel.FunctionsOff, func() error { return tryTrampoline(t.Trampoline) }),
		kernel.WayUprobe:        tryUprobe(),
		kernel.WayUprobeMulti:   tryUprobes(false),
		kernel.WayUprobeSession: tryUprobes(true),
		kernel.WayCookies:       tryCookies(),
		kernel.WayIterator:      t.iterator(),
		kernel.WayHook:          unlessOff(kernel.FunctionsOff, t.hook),
	}
}

// unlessOff tries what nobody has switched off. Elsewhere it would say that it works; and ftrace of 7.2, which is asked
// for something while it is switched off, can end for good.
func unlessOff(off, try func() error) error {
	if err := off(); err != nil {
		return err
	}
	return try()
}

// readingMemory reads 8 bytes of the kernel's memory, from address 0, which the
// helper refuses.
func readingMemory() *bpf.Program {
	return returning(ebpf.RawTracepoint, ebpf.AttachNone,
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 8), asm.Mov.Imm(asm.R3, 0),
		asm.FnProbeReadKernel.Call())
}

func tryRing() error {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: "startrace_try", Type: ebpf.RingBuf, MaxEntries: 1 << 12})
	if err != nil {
		return err
	}
	return m.Close()
}

func (t *Trial) rawTracepoint() error {
	return tryAttach(returning(ebpf.RawTracepoint, ebpf.AttachNone), func(p *ebpf.Program) (bpf.Link, error) {
		return bpf.AttachRawTracepoint(t.RawTracepoint, p)
	})
}

func (t *Trial) tracepoint() error {
	id, err := t.TracepointID()
	if err != nil {
		return err
	}
	return tryAttach(returning(ebpf.TracePoint, ebpf.AttachNone), func(p *ebpf.Program) (bpf.Link, error) {
		return openPerf(&unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}, 0, p)
	})
}

// tryClock makes a program run once a second; it is stopped before.
func tryClock() error {
	return tryAttach(returning(ebpf.PerfEvent, ebpf.AttachNone), func(p *ebpf.Program) (bpf.Link, error) {
		attr := clockAttr(tree.Clock{Period: 1e9})
		return openPerf(&attr, 0, p)
	})
}

// tryCounter opens a counter without a program.
func tryCounter(typ uint32, config uint64) error {
	return openAndClose(&unix.PerfEventAttr{Type: typ, Config: config, Bits: unix.PerfBitDisabled})
}

// tryWatchpoint watches the address 0 of user space.
func tryWatchpoint() error {
	return openAndClose(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_BREAKPOINT, Bp_type: watchWrite, Ext2: 1, Sample: 1, Bits: unix.PerfBitDisabled,
	})
}

func openAndClose(attr *unix.PerfEventAttr) error {
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER1)
	fd, err := unix.PerfEventOpen(attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func (t *Trial) kprobe() error {
	pmu, err := findPMU(kernelProbes)
	if err != nil {
		return err
	}
	return tryAttach(returning(ebpf.Kprobe, ebpf.AttachNone), func(p *ebpf.Program) (bpf.Link, error) {
		at := &tree.Functions{Mech: tree.AttachKprobe}
		opened, err := openProbe(pmu, at, &tree.Place{Func: t.Function}, 0, p)
		return opened.link, err
	})
}

func (t *Trial) kprobes(kind bpf.KprobeLink) error {
	return tryAttach(returning(ebpf.Kprobe, kind.AttachType()), func(p *ebpf.Program) (bpf.Link, error) {
		return bpf.LinkKprobes(p, kind, []string{t.Function}, nil)
	})
}

// tryUprobe asks for a folder: what may have probes looks at it and says
// EINVAL, for it is no file (create_local_trace_uprobe, kernel/trace/trace_uprobe.c).
func tryUprobe() error {
	pmu, err := findPMU(userProbes)
	if err != nil {
		return err
	}
	return unless(tryAttach(returning(ebpf.Kprobe, ebpf.AttachNone), func(p *ebpf.Program) (bpf.Link, error) {
		at := &tree.Functions{Mech: tree.AttachUprobe, Binary: "/"}
		opened, err := openProbe(pmu, at, &tree.Place{}, 0, p)
		return opened.link, err
	}), unix.EINVAL)
}

// iterator does not read, so the program never runs.
func (t *Trial) iterator() error {
	if t.Iterator == 0 {
		return errors.New("there is no BTF to find iterators by")
	}
	p := returning(ebpf.Tracing, ebpf.AttachTraceIter)
	p.AttachBTF = t.Iterator
	return tryAttach(p, func(p *ebpf.Program) (bpf.Link, error) { return bpf.OpenIterator(p, nil) })
}

// hook attaches a program to a security hook for a moment, if the kernel would call it.
func (t *Trial) hook() error {
	if t.Hook == 0 {
		return errors.New("there is no BTF to find security hooks by, or the kernel was built without CONFIG_BPF_LSM")
	}
	p := returning(ebpf.LSM, ebpf.AttachLSMMac)
	p.AttachBTF = t.Hook
	return errors.Join(kernel.HooksCalled(), tryAttach(p, bpf.AttachTracing))
}
