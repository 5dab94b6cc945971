package bpf

import (
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
)

// progTestRun is BPF_PROG_TEST_RUN.
const progTestRun = 10

// runAttr is the part of struct test of union bpf_attr that 5.10 knows.
type runAttr struct {
	prog, retval           uint32
	dataSize               [2]uint32
	data                   [2]uint64
	repeat, duration       uint32
	contextIn, contextOutN uint32
	context                *uint64
	contextOut             uint64
	flags, cpu             uint32
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
