package attach

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The messages that the map of a container or the ring needs more memory than there is, or has keys that are too long.

// A MapError says that a container or a span of the script needs a map that is larger than this machine or its kernel
// takes.
type MapError struct {
	// Pos is where the container or span was declared.
	Pos plan.Pos
	// Msg says what was asked for, and what to do.
	Msg string
	// Err is unix.ENOMEM where memory is missing, and unix.E2BIG where the kernel has a limit of its own.
	Err error
}

func (e *MapError) Error() string { return e.Pos.String() + ": " + e.Msg }

// Place is where in the script the container was declared.
func (e *MapError) Place() plan.Pos { return e.Pos }

func (e *MapError) Unwrap() error { return e.Err }

// mapMemory is what the kernel allocates for a map at once, in bytes: hash
// tables are preallocated (htab_map_alloc and struct htab_elem of
// kernel/bpf/hashtab.c), or only their buckets are.
func mapMemory(m *ebpf.MapSpec) uint64 {
	const element, bucket = 48, 16
	entries, value := uint64(m.MaxEntries), uint64(m.ValueSize+7)&^7
	switch m.Type {
	case ebpf.Hash, ebpf.LRUHash:
		if bpfgen.OnDemand(m) {
			return entries * bucket
		}
		return entries * (element + bucket + uint64(m.KeySize+7)&^7 + value)
	case ebpf.RingBuf:
		return entries
	case ebpf.PerCPUArray:
		cpus, err := ebpf.PossibleCPU() // those that are offline are among them
		if err != nil {
			cpus = runtime.NumCPU()
		}
		return entries * value * uint64(cpus)
	}
	return entries * value
}

// checkMemory refuses a map that does not fit into three quarters of what is
// left of the machine's memory: the kernel would start to allocate it, and end
// other processes to go on. left is what the maps of one unit leave; it is read
// once a map needs more than smallMap.
func (l *Loaded) checkMemory(name string, m *ebpf.MapSpec, left *memoryLeft) error {
	need := mapMemory(m)
	if need > smallMap && !left.read {
		left.bytes, left.of = availableMemory(&l.opts)
		left.read = true
	}
	if left.of != "" && need > left.bytes/4*3 {
		return tooLarge(l, name, m, unix.ENOMEM)
	}
	left.bytes -= min(need, left.bytes)
	return nil
}

// smallMap is what every machine has.
const smallMap = 1 << 20

// availableMemory is what maps may take, in bytes, and in words what has that: the machine, or the control group of
// this process, which maps count against since 5.11; "": it is not known.
func availableMemory(o *Options) (left uint64, of string) {
	if n, ok := machineMemory(); ok {
		left, of = n, "that are free"
	}
	version, err := kernel.Release()
	if o.InGroup == nil || of == "" || err != nil || !version.AtLeast(5, 11) {
		return left, of
	}
	if n := o.InGroup(); n < left {
		return n, ofGroup
	}
	return left, of
}

const ofGroup = "that the control group (cgroup) of startrace leaves"

// machineMemory is MemAvailable of proc(5), in bytes.
func machineMemory() (uint64, bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(text), "MemAvailable:")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(fields[0], 10, 50)
	return n << 10, err == nil
}

// maxOldKey is MAX_BPF_STACK: hash tables took no longer keys before 5.16
// (kernel commit c6bde958a62b).
const maxOldKey = 512

// tooLarge explains why map m could not be made.
func tooLarge(l *Loaded, name string, m *ebpf.MapSpec, err error) error {
	what := "map " + name
	e := &MapError{Err: err}
	if c := containerOf(l.unit, name); c != nil {
		what, e.Pos = fmt.Sprintf("%s %q", c.Kind, c.Name), c.Pos
	} else if s := spanOf(l.unit, name); s != nil {
		what, e.Pos = "the state of this span", s.Pos
	}
	need, less := fmt.Sprintf("%s of %d entries needs about %s of memory (%d bytes of key and %d of value each)",
		what, m.MaxEntries, megabytes(mapMemory(m)), m.KeySize, m.ValueSize), "give it a smaller size="
	if m.Type == ebpf.RingBuf {
		need, less = "the ring buffer of events needs "+megabytes(mapMemory(m))+" of memory", "aggregate with kernel="
	}
	left, of := availableMemory(&l.opts)
	switch {
	case errors.Is(err, unix.E2BIG) && m.KeySize > maxOldKey && mapMemory(m) < 1<<32:
		e.Msg = fmt.Sprintf("the keys of %s take %d bytes, and this kernel allows %d: "+
			"shorten their strings (--str-max, cstr(p, n))", what, m.KeySize, maxOldKey)
	case errors.Is(err, unix.E2BIG):
		e.Msg = need + ", more than this kernel allows: " + less
	case of != "" && mapMemory(m) > left/4*3:
		if of == ofGroup {
			less = "raise its limit, or " + less
		}
		e.Msg = fmt.Sprintf("%s, and may take three quarters of the %s %s: %s", need, megabytes(left), of, less)
	case of != "":
		e.Msg = fmt.Sprintf("%s, which the kernel refuses though %s are free, as where a cgroup or a container has a "+
			"limit: raise that, or %s", need, megabytes(left), less)
	default:
		e.Msg = need + ", and the kernel does not have it: " + less
	}
	if !e.Pos.IsValid() {
		return fmt.Errorf("%s: %w", e.Msg, err)
	}
	return e
}

// containerOf gives the container that a map holds, nil for none.
func containerOf(u *bpfgen.Unit, name string) *tree.Container {
	for i, c := range u.Tree.Containers {
		if c != nil && name == tree.ContainerMap(i) {
			return c
		}
	}
	return nil
}

// spanOf gives the span whose open calls a map holds, nil for none.
func spanOf(u *bpfgen.Unit, name string) *tree.Span {
	for i, s := range u.Tree.Spans {
		if name == tree.SpanMap(i) {
			return s
		}
	}
	return nil
}

// megabytes is a number of bytes as text, in KB below 10 MB.
func megabytes(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
