package ssagen_test

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/kernel"
)

// The offsets by which programs read registers are those by which e.regs and e.args do, on every machine.
func TestArchRegisters(t *testing.T) {
	for name, want := range map[string]struct {
		returnPop int64  // amd64: RET takes the return address off the stack
		link      string // arm64: the return address is in a register
		mode      string
	}{
		"amd64": {8, "", "cs"},
		"arm64": {0, "lr", "pstate"},
	} {
		arch, regs, abi := ssagen.ArchOf(name), kernel.RegisterOffsets(name), gofunc.RegisterABI(name)
		if arch == nil || regs == nil || abi == nil {
			t.Errorf("%s: a table is missing: %v, %v, %v", name, arch, regs, abi)
			continue
		}
		link := int64(regs.Names[want.link]) // 0 for none
		got := [...]int64{arch.IP, int64(arch.SP), int64(arch.G), arch.ReturnPop, arch.Link, arch.Syscall,
			int64(arch.SyscallSize)}
		wanted := [...]int64{int64(regs.IP), int64(regs.SP), int64(regs.Names[abi.G]), want.returnPop, link,
			int64(regs.SyscallNr), int64(regs.SyscallNrSize)}
		if got != wanted {
			t.Errorf("%s: IP, SP, G, ReturnPop, Link, Syscall, SyscallSize are %v, want %v", name, got, wanted)
		}
		if mode, ok := regs.Names[want.mode]; ok && int64(mode) != arch.Mode {
			t.Errorf("%s: the mode is at %d, %s at %d", name, arch.Mode, want.mode, mode)
		}
		for _, r := range append(abi.Ints, abi.G, abi.Context) {
			if _, ok := regs.Names[r]; !ok {
				t.Errorf("%s: Go passes a word in %s, which struct pt_regs does not have", name, r)
			}
		}
	}
}
