package attach

import (
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// The BPF programs that are loaded now, for fentry:bpf:.

// Programs lists the BPF programs that are loaded now. Trampolines can be put only on those that have types, whose Func
// is not 0. It needs CAP_SYS_ADMIN.
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
