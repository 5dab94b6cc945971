package attach

import (
	"errors"
	"math"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Programs of entry and return as one session (kprobe and uprobe sessions).
//
// Calls of functions are seen by one program at the entry and one at the return.
// Where the kernel has sessions (of its own functions 6.10, of programs' 6.13) the
// two are put into one program, which asks where it runs: it is attached by one
// link, the kernel has one handler to run instead of two at each entry, and none
// at the returns of calls that the part for the entry did not want.

// NoSessions gives the probes of which programs were meant to be sessions and
// are two.
func (l *Loaded) NoSessions() []int {
	return l.probesOf(func(p *program) bool { return p.Attach.Functions().Session != nil && !p.session })
}

// loadSessions loads the programs that can be sessions. Those that the kernel
// refuses are loaded as two, which tells why if that is refused too.
func (l *Loaded) loadSessions() {
	for _, p := range l.unit.Tree.Programs {
		at := l.sessionType(p)
		if at == ebpf.AttachNone {
			continue
		}
		insns, ok := l.joined(p)
		if !ok {
			continue
		}
		spec := l.unit.Spec.Programs[p.Name]
		code, err := bpf.Load(&bpf.Program{Name: p.Name, Type: spec.Type, AttachType: at,
			Instructions: onOwnStack(insns, &p.Attach)}, nil)
		if err == nil {
			l.programs = append(l.programs, &program{Program: p, code: code, session: true})
		}
	}
}

// sessionType is the attach type of a session whose program at the entry is p;
// AttachNone where the kernel has none.
func (l *Loaded) sessionType(p *tree.Program) ebpf.AttachType {
	a := &p.Attach
	switch {
	case a.Functions().Session == nil || l.opts.Features == nil || l.turnsRound(p):
	case a.Kind() == tree.AttachUprobe:
		if l.opts.Features().UprobeSession {
			return uprobeSession(a.Functions()).AttachType()
		}
	case l.multiType(a) != ebpf.AttachNone && l.opts.Features().KprobeSession:
		return bpf.KprobeSession.AttachType()
	}
	return ebpf.AttachNone
}

// uprobeSession describes a session at places of a file of programs.
func uprobeSession(f *tree.Functions) *bpf.UprobeMulti {
	u := uprobes(f)
	u.Session = true
	return u
}

// inSession reports whether p is a part of a session that was loaded.
func (l *Loaded) inSession(p *tree.Program) bool {
	return slices.ContainsFunc(l.programs, func(s *program) bool {
		return s.session && (s.Program == p || s.Attach.Functions().Session.Return == p.Name)
	})
}

// joined are the instructions of a session: what asks where it runs, the program
// at the entry, the one at the return, then the functions that these call. ok is
// false where they cannot be one.
func (l *Loaded) joined(p *tree.Program) (_ asm.Instructions, ok bool) {
	var parts, functions [2]asm.Instructions
	for i, name := range []string{p.Name, p.Attach.Functions().Session.Return} {
		spec := l.unit.Spec.Programs[name]
		if spec == nil || l.standsAlone(spec.Instructions) {
			return nil, false
		}
		insns, err := l.withMaps(spec.Instructions)
		if err != nil {
			return nil, false
		}
		parts[i], functions[i] = apart(insns)
	}
	renameFunctions(parts[1], functions[1])
	entry := parts[0]
	size := 0
	for _, ins := range entry {
		size += int(ins.Width())
	}
	if size > math.MaxInt16 {
		return nil, false
	}
	ask := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1), // calls leave R6 as it is
		asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall,
			Constant: int64(p.Attach.Functions().Session.IsReturn)},
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Instruction{OpCode: asm.JNE.Op(asm.ImmSource), Dst: asm.R0, Offset: int16(size)},
	}
	ask[0] = ask[0].WithSymbol(p.Name)
	for i := range parts {
		parts[i][0] = parts[i][0].WithSymbol("") // it begins no function any more
	}
	return slices.Concat(ask, entry, parts[1], functions[0], functions[1]), true
}

// standsAlone reports whether a program cannot be put together with another:
// programs that it jumps to are loaded for the same link, and are no sessions;
// functions that the kernel calls (bpf_loop) have types by their places.
func (l *Loaded) standsAlone(insns asm.Instructions) bool {
	return slices.ContainsFunc(insns, func(ins asm.Instruction) bool {
		spec := l.unit.Spec.Maps[ins.Reference()]
		tails := ins.IsLoadFromMap() && spec != nil && spec.Type == ebpf.ProgramArray
		return tails || ins.IsFunctionReference() && ins.OpCode.IsDWordLoad()
	})
}

// apart splits a program from the functions that it calls, which follow it and
// begin with their names.
func apart(insns asm.Instructions) (program, functions asm.Instructions) {
	for i := 1; i < len(insns); i++ {
		if insns[i].Symbol() != "" {
			return insns[:i], insns[i:]
		}
	}
	return insns, nil
}

// renameFunctions tells functions of one program from those of the other.
func renameFunctions(program, functions asm.Instructions) {
	const mark = ".return"
	for i := range functions {
		if name := functions[i].Symbol(); name != "" {
			functions[i] = functions[i].WithSymbol(name + mark)
		}
	}
	for _, insns := range []asm.Instructions{program, functions} {
		for i := range insns {
			if insns[i].IsFunctionReference() {
				insns[i] = insns[i].WithReference(insns[i].Reference() + mark)
			}
		}
	}
}

// openSession attaches a session, or, where the kernel refuses one of its
// places, the two programs of which it is made.
func (l *Loaded) openSession(p *program) ([]spot, error) {
	at, err := linkSession(p.Attach.Functions(), p.code)
	switch {
	case err == nil:
		return []spot{at}, nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return nil, err
	}
	atReturn, err := l.loadProgram(l.treeProgram(p.Attach.Functions().Session.Return))
	if err != nil {
		return nil, err
	}
	l.programs = slices.Insert(l.programs, slices.Index(l.programs, p), atReturn)
	atEntry, err := l.loadProgram(p.Program)
	if err != nil {
		return nil, err
	}
	err = p.code.Close()
	if p.code, p.multi, p.session = atEntry.code, atEntry.multi, false; err != nil {
		return nil, err
	}
	if atReturn.points, err = l.openFunctions(atReturn); err != nil {
		return nil, err
	}
	points, err := l.openFunctions(p)
	if err != nil {
		l.detach([]*program{atReturn})
	}
	return points, err
}

// linkSession makes the link of a session.
func linkSession(f *tree.Functions, prog *ebpf.Program) (spot, error) {
	if f.Mech == tree.AttachUprobe {
		link, err := bpf.LinkUprobes(prog, uprobeSession(f))
		return spot{link: link, kind: probePoint}, err
	}
	link, err := linkKprobes(f, bpf.KprobeSession, prog)
	return spot{link: link, kind: countingPoint}, err
}

// treeProgram finds a program of the unit, loaded or not, by its name.
func (l *Loaded) treeProgram(name string) *tree.Program {
	i := slices.IndexFunc(l.unit.Tree.Programs, func(p *tree.Program) bool { return p.Name == name })
	return l.unit.Tree.Programs[i]
}
