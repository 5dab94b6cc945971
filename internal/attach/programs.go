package attach

import (
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// Programs lists the BPF programs that trampolines could be put on.
func Programs() ([]kernel.BPFProgram, error) {
	list, err := bpf.Programs()
	if err != nil {
		return nil, err
	}
	out := make([]kernel.BPFProgram, len(list))
	for i, p := range list {
		out[i] = kernel.BPFProgram(p)
	}
	return out, nil
}
