package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Gates: programs that stand at the points in the place of others, which can so be replaced at one moment.
//
// The kernel exchanges no program for another where it is attached. So where the run replaces probes
// (Options.Replaces), a program is not attached itself, but a gate, which only jumps to the program that an array
// names. To replace the program is to write into the array:
//
//	points ← gate ─ array[0] → p0_sys_enter_ge   of the old unit
//	                         → p1_sys_enter_ge   of the new one, from the write on
//
// An event for which the gate has jumped is seen by the old program, each later one by the new.

// isGated reports whether a program gets a gate. A raw tracepoint of the script has none, as the kernel compares its
// arguments with what the attached program reads.
func isGated(l *Loaded, p *tree.Program) bool {
	if !l.opts.Replaces || p.Tail || p.Probe < 0 || l.unit.Spec.Programs[p.Name].Flags != 0 {
		return false
	}
	switch p.Attach.Kind() {
	case tree.AttachIter, tree.AttachHook, tree.AttachRawTracepoint, tree.AttachWatchpoint:
		return false
	}
	return isSwitched(l, p)
}

// isSwitched reports whether a program takes the place of another by a gate. Of a span of system calls only the start
// does, since the ends of calls that are open belong to the old program.
func isSwitched(l *Loaded, p *tree.Program) bool {
	switch spans := l.unit.Tree.Spans; p.Attach.Kind() {
	case tree.AttachSyscallEnter:
		return true
	case tree.AttachSyscallExit: // what pairs can stand in programs that it jumps to
		return p.Attach.Span >= len(spans) || spans[p.Attach.Span].Probe != p.Probe
	}
	return !p.Pairs()
}

// putGate makes the gate of a program, by load, and has it attached in the place of the program.
func putGate(p *program, load func(asm.Instructions) (*ebpf.Program, error)) error {
	array, err := ebpf.NewMap(&ebpf.MapSpec{Name: "gate", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4,
		MaxEntries: 1})
	if err != nil {
		return err
	}
	code, err := load(asm.Instructions{
		asm.LoadMapPtr(asm.R2, array.FD()),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnTailCall.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	})
	if err != nil {
		return errors.Join(err, array.Close())
	}
	p.gate, p.code = &gate{array, p.code}, code
	return p.gate.lead(p.gate)
}

// lead makes a gate jump to the program behind another one, or to its own again.
func (g *gate) lead(to *gate) error { return g.array.Put(uint32(0), to.behind) }

// close releases a program that is attached nowhere.
func (p *program) close() error {
	err := p.code.Close()
	if p.gate != nil {
		err = errors.Join(err, p.gate.array.Close(), p.gate.behind.Close())
	}
	p.code, p.gate = nil, nil
	return err
}
