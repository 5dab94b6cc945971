package attach

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// reading is code that reads 8 bytes with a helper, from address 0.
func reading(read asm.BuiltinFunc) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 8), asm.Mov.Imm(asm.R3, 0),
		read.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return(),
	}
}

// TestLockdown needs a kernel booted with lockdown=confidentiality.
func TestLockdown(t *testing.T) {
	if mode := kernel.Lockdown(); mode != "confidentiality" {
		t.Skipf("needs a kernel booted with lockdown=confidentiality, not %q (make test-vm)", mode)
	}
	u := unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})
	l := attached(t, u)
	getppid(100)
	if got := counts(l); got[0] < 100 {
		t.Errorf("a program without reads ran %d times", got[0])
	}
	u.Spec.Programs["p0"].Instructions = reading(asm.FnProbeReadUser)
	attached(t, u)
	u.Spec.Programs["p0"].Instructions = reading(asm.FnProbeReadKernel)
	_, err := Load(u, Options{})
	if !errors.Is(err, kernel.ErrLockdown) {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}
