package attach

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
)

// The kprobe and uprobe sources of perf events, and the semaphore of a static probe.

// A dynamicPMU is a source of perf events that puts probes where it is told:
// kprobe and uprobe (4.17, kernel/events/core.c: perf_kprobe, perf_uprobe).
//
// typ is the number that perf_event_open takes for it, and returnBit the bit of the event's config that puts the probe
// at the return.
type dynamicPMU struct {
	typ       uint32
	returnBit uint64
}

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

// uprobeAttr describes a probe at an offset of a file of programs. The path must stay alive until the event is open.
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

// pmuFolder has a folder for each source of perf events.
const pmuFolder = "/sys/bus/event_source/devices/"

// semaphoreShift is where uprobes take the offset of a USDT semaphore
// (format/ref_ctr_offset: config:32-63; 4.20).
const semaphoreShift = 32
