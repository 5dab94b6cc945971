package kernel

import "errors"

// Programs of BPF that are loaded.

// BPFPrograms gives the programs that are loaded now.
func (f *Facts) BPFPrograms() ([]BPFProgram, error) {
	if f.opts.BPFPrograms == nil {
		return nil, errors.New("the list of BPF programs is not known")
	}
	return f.opts.BPFPrograms()
}
