package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// stacks names the frames of stacks: value.StackSource over the table in which
// programs keep each stack once.
type stacks struct {
	s     *session
	table *ebpf.Map
	known map[uint64][]value.Frame
}

func (s *session) stackSource() value.StackSource {
	m := s.loaded.Map(tree.MapStacks)
	if m == nil {
		return nil
	}
	return &stacks{s: s, table: m, known: map[uint64][]value.Frame{}}
}

// Frames looks a stack up once: an entry never changes.
func (t *stacks) Frames(id uint64) []value.Frame {
	if id == 0 {
		return []value.Frame{}
	}
	frames, ok := t.known[id]
	if !ok {
		frames = t.read(id)
		t.known[id] = frames
	}
	return frames
}

func (t *stacks) read(id uint64) []value.Frame {
	entry := make([]byte, t.table.ValueSize())
	err := t.table.Lookup(id, entry)
	if err != nil {
		if !errors.Is(err, ebpf.ErrKeyNotExist) {
			t.s.messagef("startrace: read a stack: %v", err)
		}
		return []value.Frame{{Name: fmt.Sprintf("<stack %#x is lost>", id)}}
	}
	order := binary.NativeEndian
	n := min(int(order.Uint32(entry[wire.StackCount:])), (len(entry)-wire.StackAddrs)/8)
	addrs := make([]uint64, n)
	for i := range addrs {
		addrs[i] = order.Uint64(entry[wire.StackAddrs+8*i:])
	}
	if pid := order.Uint32(entry[wire.StackProcess:]); pid != 0 {
		return t.user(int(pid), addrs)
	}
	return t.kernel(addrs)
}

func (t *stacks) user(pid int, addrs []uint64) []value.Frame {
	out := make([]value.Frame, 0, len(addrs))
	for _, f := range t.s.userSymbols.Stack(pid, addrs) {
		one := value.Frame{Name: f.Name(), Module: f.Module(), Addr: f.Addr}
		if f.Function != "" {
			one.Offset = f.Offset
		}
		out = append(out, one)
	}
	return out
}

// kernel names the frames and leaves out those of the tracing itself.
func (t *stacks) kernel(addrs []uint64) []value.Frame {
	var out []value.Frame
	for _, addr := range addrs {
		f := t.s.kernelFrame(addr)
		if len(out) == 0 && ofTracing(f.Name) && len(addrs) > 1 {
			continue
		}
		out = append(out, f)
	}
	return out
}

// tracingFunctions are what lies between a point and a program that it runs.
var tracingFunctions = []string{
	"bpf_prog_", "bpf_trampoline_", "bpf_trace_run", "__bpf_trace_", "__bpf_prog_", "__traceiter_", "perf_trace_", "trace_call_bpf", "perf_call_bpf_",
	"bpf_get_stack", "kprobe_", "kretprobe_", "aggr_pre_handler", "ftrace_", "fprobe_", "arch_ftrace_", "arch_rethook_", "rethook_", "perf_kprobe_", "kprobe_multi_",
}

func ofTracing(name string) bool {
	for _, p := range tracingFunctions {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
