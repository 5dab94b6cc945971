package kernel

import "errors"

// A BPFProgram is a program that the kernel runs.
type BPFProgram struct {
	// Name is that of its function, or, without types, what the kernel keeps of its
	// name: 15 characters.
	Name string
	ID   uint32
	// Func is its function in its own BTF; 0: it has no types.
	Func uint32
}

// BPFPrograms gives the programs that are loaded now.
func (f *Facts) BPFPrograms() ([]BPFProgram, error) {
	if f.opts.BPFPrograms == nil {
		return nil, errors.New("the list of BPF programs is not known")
	}
	return f.opts.BPFPrograms()
}
