package bpf

import (
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
)

// One run of a raw tracepoint program by BPF_PROG_TEST_RUN.

// progTestRun is BPF_PROG_TEST_RUN.
const progTestRun = 10

// runAttr is the part of struct test of union bpf_attr that 5.10 knows.
type runAttr struct {
	// prog is the descriptor of the program. The kernel sets retval to what it returned, and duration to the time of a
	// run in ns.
	prog, retval uint32
	// dataSize and data are packets in and out, which no program here has.
	dataSize [2]uint32
	data     [2]uint64
	// repeat is how often it runs; 0: once.
	repeat, duration uint32
	// contextIn is how many bytes there are at context, which the program gets; contextOutN and contextOut are for what
	// it leaves there, which nobody wants.
	contextIn, contextOutN uint32
	context                *uint64
	contextOut             uint64
	// flags are BPF_F_TEST_*, and cpu is the one to run on where they say so.
	flags, cpu uint32
}

// Run runs a raw tracepoint program once on this CPU with ctx as its
// arguments (at most 12 words) and gives its return value. From 5.10.
//
// Missing in ebpf: Program.Run allocates, and tests features first.
func Run(p *ebpf.Program, ctx []uint64) (uint32, error) {
	attr := runAttr{prog: uint32(p.FD()), contextIn: uint32(8 * len(ctx)), context: unsafe.SliceData(ctx)}
	_, err := call(progTestRun, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	runtime.KeepAlive(p)
	return attr.retval, err
}
