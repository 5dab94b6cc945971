package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
)

// Words of the kernel's memory read by a program.

// Words reads words of 8 bytes of the kernel's memory, one at each address, and gives 0 where nothing can be read. It
// loads a program and runs it twice for each word, since the result of a run has 4 bytes. An error says that programs
// cannot be loaded or run.
func Words(addrs []uint64) (words []uint64, err error) {
	prog, err := bpf.Load(&bpf.Program{Name: "startrace_word", Type: ebpf.RawTracepoint, Instructions: asm.Instructions{
		asm.LoadMem(asm.R3, asm.R1, 0, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 4),
		asm.FnProbeReadKernel.Call(), // what it cannot read is 0
		asm.LoadMem(asm.R0, asm.RFP, -8, asm.Word), asm.Return(),
	}}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, prog.Close()) }()
	for _, addr := range addrs {
		low, err := bpf.Run(prog, []uint64{addr})
		if err != nil {
			return nil, err
		}
		high, err := bpf.Run(prog, []uint64{addr + 4})
		if err != nil {
			return nil, err
		}
		words = append(words, uint64(high)<<32|uint64(low))
	}
	return words, nil
}
