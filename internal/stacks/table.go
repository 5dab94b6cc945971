package stacks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/symbols"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// The table of stacks in the kernel read: addresses, frames of tracing left out, and the words in place of a stack that
// is not there.

// A Table has the stacks that the programs of one unit keep, each once, with the
// names of their frames.
type Table struct {
	// names is what the table belongs to.
	names *Names
	// programs are those whose stacks it has.
	programs []*tree.Program
	// table is the map, in which programs put a stack once and never change it.
	table *ebpf.Map
	// known has what was read of the map last, by the stack's id.
	known known
	of    map[uint64]*symbols.Process // by the stack's id, of programs
	// kept has what was taken out of the map.
	kept keptStacks
	// short counts why user stacks were cut, for what is said at the end.
	short shortStacks
}

// A namedStack is a stack with the names of its frames.
type namedStack struct {
	frames []value.Frame
	ending
}

// An ending says why a stack has no frames, or may have more. unfinished is set where there are callers that nobody
// found.
type ending struct {
	short      string
	unfinished bool
}

// Why there are no frames.
var noStack = map[uint64]*namedStack{
	wire.NoStack:     without("no kernel stack: reached from user mode"),
	wire.NoUserStack: without("no user stack: a thread of the kernel, or a program that begins or ends just now"),
	wire.LostStack:   without("the stack is lost: there was no room for it"),
}

// without is a stack without frames.
func without(why string) *namedStack { return &namedStack{[]value.Frame{}, ending{short: why}} }

func (t *Table) has(id uint64) bool {
	if t.known.of[id] != nil {
		return true
	}
	_, err := t.entry(id)
	return err == nil
}

func absentStack(id uint64) *namedStack {
	return without(fmt.Sprintf("stack %#x is not in the table", id))
}

// find looks a stack up: an entry never changes, so that what was read last need not be read again. One whose names
// were not read in time may get them later.
func (t *Table) find(id uint64) *namedStack {
	if none := noStack[id]; none != nil {
		return none
	}
	stack := t.known.of[id]
	if stack == nil {
		before := t.names.late()
		stack = t.read(id)
		if t.names.late() == before {
			t.known.add(id, stack)
		}
	}
	return stack
}

// An entry is a stack as the table has it: see wire.StackCheck.
type entry struct {
	addrs []uint64
	// marked has the numbers of the frames whose addresses are marked (wire.StackMarked).
	marked map[int]bool
	mark   uint16
	owner  uint32
}

// asked is how many addresses were asked for.
func (e *entry) asked() int { return int(e.mark & wire.MarkAsked) }

func (t *Table) entry(id uint64) (entry, error) {
	raw, err := t.raw(id)
	if err != nil {
		return entry{}, err
	}
	return parseEntry(raw), nil
}

// raw gives the bytes of an entry, those that have no address left out.
func (t *Table) raw(id uint64) ([]byte, error) {
	if raw, ok := t.kept.of[id]; ok {
		return raw, nil
	}
	raw := make([]byte, t.table.ValueSize())
	if err := t.table.Lookup(id, raw); err != nil {
		return nil, err
	}
	n := int(binary.NativeEndian.Uint16(raw[wire.StackCount:]))
	return raw[:min(wire.StackAddrs+8*n, len(raw))], nil
}

func parseEntry(raw []byte) entry {
	order := binary.NativeEndian
	n := min(int(order.Uint16(raw[wire.StackCount:])), (len(raw)-wire.StackAddrs)/8)
	e := entry{addrs: make([]uint64, n), mark: order.Uint16(raw[wire.StackMark:]),
		owner: order.Uint32(raw[wire.StackProcess:])}
	user := e.owner != 0 && e.owner&wire.StackProgram == 0
	for i := range e.addrs {
		e.addrs[i] = order.Uint64(raw[wire.StackAddrs+8*i:])
		if user && e.addrs[i]&wire.StackMarked != 0 && !python.IsFrame(e.addrs[i]) {
			e.unmark(i)
		}
	}
	return e
}

// unmark takes the mark from the address of frame i, and notes it.
func (e *entry) unmark(i int) {
	if e.marked == nil {
		e.marked = map[int]bool{}
	}
	e.addrs[i], e.marked[i] = e.addrs[i]&^wire.StackMarked, true
}

// see keeps a new stack and finds its process, if it has one, since that may have ended when the stack is shown.
func (t *Table) see(n processNews) {
	raw, err := t.raw(n.stack)
	if err != nil { // it is said when the stack is shown
		return
	}
	if n.pid != 0 && t.of[n.stack] == nil {
		t.of[n.stack] = t.names.Processes.SeeStack(n.pid, n.time, parseEntry(raw).addrs)
	}
	t.keep(n.stack, raw)
}

func (t *Table) read(id uint64) *namedStack {
	e, err := t.entry(id)
	if err != nil || len(e.addrs) == 0 {
		if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			t.names.messages.Lackf("startrace: read a stack: %v", err)
		}
		return absentStack(id)
	}
	asked := e.asked()
	if e.owner != 0 && e.owner&wire.StackProgram == 0 {
		return t.user(id, &e)
	}
	before := t.names.late()
	stack := t.kernel(e.addrs, asked, e.mark&wire.MarkTraced != 0)
	if e.owner != 0 && t.names.late() == before {
		t.begin(stack, int(e.owner&wire.StackProgramNumber), asked)
	}
	return stack
}

// begin makes a stack begin with the function at whose entry or return it was
// taken. The kernel leaves it out where the function has returned, and where
// it jumps to trampolines rather than calling them (7.0 and later, for fexit).
func (t *Table) begin(stack *namedStack, program, asked int) {
	if program >= len(t.programs) || len(t.programs[program].Attach.At()) == 0 {
		return
	}
	place := t.programs[program].Attach.At()[0]
	if place.Func == "" || stack.frames[0].Name == place.Func {
		return
	}
	frames := append([]value.Frame{{Name: place.Func, Module: place.Module}}, stack.frames...)
	stack.frames = frames[:min(len(frames), asked)]
}

// user names the addresses of a stack of a process; where that was not seen, of the one that has the number now.
func (t *Table) user(id uint64, e *entry) *namedStack {
	p := t.of[id]
	if p == nil {
		p = t.names.Processes.SeeStack(t.names.Processes.sight(int(e.owner)), 0, e.addrs)
		t.of[id] = p // another one may have the number when the stack is read again
	}
	e.keep(p.Code(e.addrs))
	out := &namedStack{frames: make([]value.Frame, 0, len(e.addrs))}
	for _, f := range t.names.Processes.Stack(p, e.addrs, e.marked) {
		one := value.Frame{Name: f.Name(), Module: f.Module(), Path: f.Path, Addr: f.Addr, User: true, File: f.File,
			Line: f.Line, Inlined: f.Inlined}
		if t.names.Processes.Lines && !t.names.Processes.Expand {
			one.Source = &framePlace{&t.names.Processes, p, f.At}
		}
		if f.Function != "" {
			one.Offset = f.Offset
		}
		out.frames = append(out.frames, one)
	}
	found := finding{program: p.Program(), pythonless: withoutPython(e.addrs, out.frames)}
	if p.Seen() {
		out.ending, found.why = e.ends(p.Narrow(), out.frames)
	} else {
		t.short.unseen(int(e.owner))
	}
	found.unfinished = out.unfinished
	t.short.found(id, found)
	return out
}

// keep leaves the first addresses. A walk that went on behind them is not known to have reached the beginning.
func (e *entry) keep(addrs []uint64) {
	const whys = 1<<(16-wire.MarkWhyShift) - 1
	if len(addrs) < len(e.addrs) && e.mark>>wire.MarkWhyShift == wire.UnwindReached {
		e.mark = e.mark&^(whys<<wire.MarkWhyShift) | wire.UnwindNoMapping<<wire.MarkWhyShift
	}
	e.addrs = addrs
}

// ends says how a stack of a program with some frames ends, and why if it is unfinished. narrow: the program has 32
// bits. A walk that did not know all files can have passed frames over also where it has reached the beginning.
func (e *entry) ends(narrowProgram bool, frames []value.Frame) (end ending, why int) {
	why = min(int(e.mark>>wire.MarkWhyShift), wire.UnwindReasons-1)
	switch whole := why == wire.UnwindReached || startsProgram(frames); {
	case whole && why == wire.UnwindNoTable && !narrowProgram:
		return ending{"frames can be missing: " + reasons[why], true}, why
	case whole:
		return ending{}, 0
	case len(e.addrs) >= wire.MaxStack:
		return ending{cutAt(wire.MaxStack), true}, deeper
	case len(e.addrs) >= e.asked():
		return ending{short: cutAt(e.asked())}, 0
	case narrowProgram:
		why = narrow
	}
	return ending{"not followed further: " + reasons[why], true}, why
}

// A framePlace finds where a frame is in the source: it is that of an address of a process.
type framePlace struct {
	processes *Processes
	process   *symbols.Process
	addr      uint64
}

// Place gives the file and the line of the frame's function; one that was inlined there is passed over.
func (f *framePlace) Place() (file string, line int) { return f.processes.Source(f.process, f.addr) }

func cutAt(asked int) string { return fmt.Sprintf("cut at %d frames", asked) }

// kernel names the frames and leaves out those of the tracing itself, which
// samples have only if they hit it.
func (t *Table) kernel(addrs []uint64, asked int, traced bool) *namedStack {
	out := &namedStack{frames: make([]value.Frame, 0, len(addrs))}
	for i, addr := range addrs {
		if i == 0 {
			out.frames = append(out.frames, t.names.Kernel.Frame(addr))
		} else {
			out.frames = append(out.frames, t.names.Kernel.Caller(addr, out.frames[i-1].Name))
		}
	}
	first := 0
	for traced && first < len(out.frames) && ofTracing(out.frames[first].Name) {
		first++
	}
	if first < len(out.frames) {
		out.frames = out.frames[first:]
	}
	switch root := out.frames[len(out.frames)-1].Name; {
	case strings.HasSuffix(root, "kretprobe_trampoline"):
		out.short = "this kernel cannot see behind the probe of a return (since 5.15)"
	case len(addrs) >= asked && !startsKernel(root):
		out.short = cutAt(asked)
	}
	return out
}

// tracingFunctions are what lies between a point and a program that it runs.
var tracingFunctions = []string{
	"bpf_prog_", "bpf_trampoline_", "bpf_trace_run", "__bpf_trace_", "__bpf_prog_", "__traceiter_", "perf_trace_",
	"trace_call_bpf", "perf_call_bpf_",
	"perf_syscall_enter", "perf_syscall_exit", "perf_ftrace_", "bpf_get_stack", "kprobe_", "kretprobe_",
	"aggr_pre_handler", "ftrace_", "fprobe_",
	"arch_ftrace_", "arch_rethook_", "rethook_", "perf_kprobe_", "kprobe_multi_",
}

func ofTracing(name string) bool {
	for _, p := range tracingFunctions {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
