package attach

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
)

// A dynamicPMU is a source of perf events that puts probes where it is told:
// kprobe and uprobe (4.17, kernel/events/core.c: perf_kprobe, perf_uprobe).
type dynamicPMU struct {
	typ       uint32
	returnBit uint64
}

// pmuFolder has a folder for each source of perf events.
const pmuFolder = "/sys/bus/event_source/devices/"

// findPMU reads what the kernel calls a source.
func findPMU(from perfSource) (*dynamicPMU, error) {
	name := string(from)
	text, err := os.ReadFile(pmuFolder + name + "/type")
	if err != nil {
		return nil, fmt.Errorf("this kernel has no %ss: %w", name, err)
	}
	typ, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%s%s/type: %w", pmuFolder, name, err)
	}
	text, err = os.ReadFile(pmuFolder + name + "/format/retprobe")
	if err != nil {
		return nil, fmt.Errorf("find how %ss are put at returns: %w", name, err)
	}
	bit, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(string(text)), "config:"), 10, 6)
	if err != nil {
		return nil, fmt.Errorf("%s%s/format/retprobe: %w", pmuFolder, name, err)
	}
	return &dynamicPMU{uint32(typ), 1 << bit}, nil
}

// semaphoreShift is where uprobes take the offset of a USDT semaphore
// (format/ref_ctr_offset: config:32-63; 4.20).
const semaphoreShift = 32

// kprobeAttr describes a probe of a kernel function; the name must stay alive
// until the event is open.
func (m *dynamicPMU) kprobeAttr(p *tree.Place, name *byte, returns bool) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{Type: m.typ, Ext1: uint64(uintptr(unsafe.Pointer(name))), Ext2: p.Offset}
	if p.Address != 0 {
		attr.Ext1, attr.Ext2 = 0, p.Address+p.Offset
	}
	if returns {
		attr.Config = m.returnBit
	}
	return attr
}

func (m *dynamicPMU) uprobeAttr(p *tree.Place, path *byte, returns bool) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: m.typ, Config: p.Semaphore << semaphoreShift,
		Ext1: uint64(uintptr(unsafe.Pointer(path))), Ext2: p.Offset,
	}
	if returns {
		attr.Config |= m.returnBit
	}
	return attr
}

// An opener attaches a program to one of its places.
type opener func(*tree.Place) (spot, error)

// openProbes attaches a program to its places, one by one. Of several places those
// that the kernel refuses are left out and named, unless these are all. others:
// the probe has more places, which are attached.
func (l *Loaded) openProbes(prog *program, others bool) (points []spot, err error) {
	f := prog.Attach.Functions()
	pmu, err := findPMU(wayOf(f.Mech).probes)
	if err != nil {
		return nil, err
	}
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	open := func(p *tree.Place) (spot, error) { return openProbe(pmu, f, p, cpus[0], prog.code) }
	if f.Mech == tree.AttachKretprobe {
		open = l.returnOpener(prog, cpus[0], open)
	}
	var refused []string
	var last error
	for i := range f.Places {
		p, err := open(&f.Places[i])
		switch {
		case err == nil:
			points = append(points, p)
		case (others || len(f.Places) > 1) && placeIsAtFault(err):
			refused, last = append(refused, f.Places[i].String()), err
		default:
			err = explainLimit(err, len(points), len(f.Places))
			return nil, errors.Join(err, l.releaseAll(points))
		}
	}
	if len(points) == 0 && !others {
		return nil, fmt.Errorf("none of %s can be probed: %w", format.Count(len(f.Places), "function"), last)
	}
	l.refuse(prog, refused)
	return points, nil
}

// explainLimit says so if a pattern has more places than the process may have
// open files: each is one.
func explainLimit(err error, open, places int) error {
	if !errors.Is(err, unix.EMFILE) {
		return err
	}
	return fmt.Errorf("the limit of open files was reached after %d of %d places, each of which is one: "+
		"raise it (ulimit -n, as root), or name fewer: %w", open, places, err)
}

// placeIsAtFault tells that another place may do where this one did not. ENOTSUPP: the
// instruction cannot be stepped over (uprobe_init_insn, arch/x86/kernel/uprobes.c).
func placeIsAtFault(err error) bool {
	for _, e := range []error{unix.ENOENT, unix.EINVAL, unix.EILSEQ, unix.EADDRNOTAVAIL, unix.EOPNOTSUPP, bpf.ENOTSUPP,
		unix.ENOEXEC, unix.EBUSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Refused are places that a pattern of a probe matched and that the kernel does
// not let be probed.
type Refused struct {
	Probe  int
	Places []string
}

// Refused gives what was left out when probes were attached first.
func (l *Loaded) Refused() []Refused {
	return slices.SortedStableFunc(slices.Values(l.refused), func(a, b Refused) int {
		return cmp.Compare(a.Probe, b.Probe)
	})
}

// refuse notes what was left out; when a program is attached again that is the
// same.
func (l *Loaded) refuse(p *program, places []string) {
	if len(places) > 0 && !p.detached {
		l.refused = append(l.refused, Refused{p.Probe, places})
	}
}

func (l *Loaded) releaseAll(points []spot) error {
	var errs []error
	for _, p := range points {
		errs = append(errs, l.release(p))
	}
	return errors.Join(errs...)
}

// openProbe opens the perf event of one place and gives it the program. The
// event is on one CPU, and the program runs on all of them (see openTracepoint).
func openProbe(pmu *dynamicPMU, f *tree.Functions, p *tree.Place, cpu int, prog *ebpf.Program) (spot, error) {
	at := wayOf(f.Mech)
	user := at.probes == userProbes
	text := p.Func
	if user {
		text = f.Binary
	}
	name, err := unix.BytePtrFromString(text)
	if err != nil {
		return spot{}, fmt.Errorf("%q: %w", text, err)
	}
	var attr unix.PerfEventAttr
	pid := -1
	if user {
		attr = pmu.uprobeAttr(p, name, at.returns)
		if f.Process > 0 {
			pid, cpu = f.Process, -1
		}
	} else {
		attr = pmu.kprobeAttr(p, name, at.returns)
	}
	event, err := bpf.OpenPerfEvent(&attr, pid, cpu, prog, cookieOf(f, p))
	runtime.KeepAlive(name) // attr holds its address as a number
	if err != nil {
		return spot{}, explainPlace(f, p, err)
	}
	return spot{link: event, kind: probePoint, module: p.Module}, nil
}

func cookieOf(f *tree.Functions, p *tree.Place) *uint64 {
	if f.Cookies {
		return &p.Cookie
	}
	return nil
}

// explainPlace says what the kernel has against a probe there.
func explainPlace(f *tree.Functions, p *tree.Place, err error) error {
	if wayOf(f.Mech).probes == userProbes {
		return explainUserPlace(f, p, err)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("the kernel has no symbol %s that could be probed: %w", p.Func, err)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Errorf("the kernel has several functions %s and does not know which is meant: %w", p.Func, err)
	case errors.Is(err, unix.EILSEQ), runtime.GOARCH == "arm64" && p.Offset%4 != 0: // where instructions have 4 bytes
		return fmt.Errorf("%s is not the beginning of an instruction: %w", p, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel refuses a probe at %s, as it does for functions that it built without a place "+
			"for probes (not in available_filter_functions) and for those that probes use themselves; "+
			"its log may say which (dmesg | tail): %w", p, err)
	}
	return err
}

func explainUserPlace(f *tree.Functions, p *tree.Place, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("there is no file %s: %w", f.Binary, err)
	case errors.Is(err, bpf.ENOTSUPP):
		return fmt.Errorf("%s of %s cannot be probed: it begins with an instruction that the kernel cannot run "+
			"elsewhere: %w", p.Func, f.Binary, err)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EIO), errors.Is(err, unix.EILSEQ),
		errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("%s of %s cannot be probed: no instruction begins at offset %#x of the file, "+
			"or the kernel cannot emulate it: %w", p.Func, f.Binary, p.Offset, err)
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("there is no process %d: %w", f.Process, err)
	}
	return err
}
