package bpf

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// Programs that are loaded in the kernel, with their functions' names.

// A Running is a program that is loaded.
type Running struct {
	Name string // of its function, or, without types, the 15 characters that the kernel keeps
	// ID is its number, by which it can be opened.
	ID   uint32
	Func uint32 // its function in its own BTF; 0: it has no types
}

// Programs gives the BPF programs that the kernel has loaded, by the names of
// their functions where they have types.
func Programs() ([]Running, error) {
	var out []Running
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the BPF programs: %w", err)
		}
		id = next
		p, err := describeProgram(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has gone meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("look at BPF program %d: %w", id, err)
		}
		out = append(out, p)
	}
}

func describeProgram(id ebpf.ProgramID) (out Running, err error) {
	p, err := ebpf.NewProgramFromID(id)
	if err != nil {
		return out, err
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		return out, err
	}
	out = Running{Name: info.Name, ID: uint32(id)}
	types, ok := info.BTFID()
	if !ok {
		return out, nil
	}
	h, err := btf.NewHandleFromID(types)
	if err != nil {
		return out, err
	}
	defer h.Close()
	spec, err := h.Spec(nil)
	if err != nil {
		return out, err
	}
	err = nameProgram(&out, info, spec)
	return out, err
}

// nameProgram finds the program's main function, the first.
func nameProgram(out *Running, info *ebpf.ProgramInfo, spec *btf.Spec) error {
	funcs, err := info.FuncInfos()
	if err != nil || len(funcs) == 0 {
		return nil // the kernel does not show them: it is as if there were no types
	}
	fn, err := spec.AnyTypeByName(funcs[0].Func.Name)
	if err != nil {
		return nil
	}
	number, err := spec.TypeID(fn)
	if err != nil {
		return err
	}
	out.Name, out.Func = funcs[0].Func.Name, uint32(number)
	return nil
}

// RunningProgram opens a loaded program, as the owner of its function.
func RunningProgram(id uint32) (Owner, error) {
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
	if err != nil {
		return nil, fmt.Errorf("open BPF program %d: %w", id, err)
	}
	return p, nil
}
