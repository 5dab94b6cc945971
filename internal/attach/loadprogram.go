package attach

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// One program is loaded for the link by which it is attached.

// loadProgram loads a program of the unit. It is attached nowhere yet.
func (l *Loaded) loadProgram(p *tree.Program) (*program, error) {
	if p.Code != "" {
		code, err := l.program(p.Code).code.Clone()
		if err != nil {
			return nil, fmt.Errorf("program %s: %w", p.Name, err)
		}
		return &program{Program: p, code: code}, nil
	}
	multi := l.multiType(&p.Attach)
	code, err := l.loadFor(p, multi)
	if err != nil {
		return nil, err
	}
	loaded := &program{Program: p, code: code, multi: multi != ebpf.AttachNone}
	if isGated(l, p) {
		err := putGate(loaded, func(jump asm.Instructions) (*ebpf.Program, error) { return loadAs(l, p, multi, jump) })
		if err != nil {
			return nil, errors.Join(err, loaded.close())
		}
	}
	return loaded, nil
}

// loadFor loads the code of p to be attached by a link of the type multi, or
// as its kind wants.
func (l *Loaded) loadFor(p *tree.Program, multi ebpf.AttachType) (*ebpf.Program, error) {
	spec := l.unit.Spec.Programs[p.Name]
	if spec == nil {
		return nil, fmt.Errorf("the unit has no code for program %s", p.Name)
	}
	insns, err := l.withMaps(spec.Instructions)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", p.Name, err)
	}
	return loadAs(l, p, multi, onOwnStack(insns, &p.Attach))
}

// loadAs loads instructions as those of p, to be attached as loadFor says.
func loadAs(l *Loaded, p *tree.Program, multi ebpf.AttachType, insns asm.Instructions) (*ebpf.Program, error) {
	spec := l.unit.Spec.Programs[p.Name]
	load := &bpf.Program{
		Name: p.Name, Type: spec.Type, AttachType: spec.AttachType, Flags: spec.Flags, Instructions: insns,
	}
	if multi != ebpf.AttachNone {
		load.AttachType = multi
	}
	if spec.Type == ebpf.Tracing || spec.Type == ebpf.LSM {
		load.AttachBTF = p.Attach.At()[0].BTF
		owner, err := ownerOf(&p.Attach.At()[0])
		if err != nil {
			return nil, err
		}
		defer owner.Close()
		load.AttachTo = owner.FD()
	}
	code, err := bpf.Load(load, nil)
	if err != nil {
		return nil, explainLoad(load, l.unit, err)
	}
	return code, nil
}

// withMaps is a copy of insns in which references to maps are resolved.
func (l *Loaded) withMaps(insns asm.Instructions) (asm.Instructions, error) {
	insns = slices.Clone(insns)
	for i := range insns {
		ins := &insns[i]
		if !ins.IsLoadFromMap() || ins.Reference() == "" {
			continue
		}
		m := l.maps[ins.Reference()]
		if m == nil {
			return nil, fmt.Errorf("instruction %d: no map %s", i, ins.Reference())
		}
		if err := ins.AssociateMap(m); err != nil {
			return nil, fmt.Errorf("instruction %d: %w", i, err)
		}
	}
	return insns, nil
}

// ownerOf opens what has the function of a trampoline.
func ownerOf(p *tree.Place) (bpf.Owner, error) {
	switch {
	case p.Program != 0:
		return bpf.RunningProgram(p.Program)
	case p.Module != "":
		return bpf.Module(p.Module)
	}
	return bpf.Kernel, nil
}
