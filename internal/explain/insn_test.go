package explain

import (
	"testing"

	"github.com/cilium/ebpf/asm"
)

func TestInsnText(t *testing.T) {
	add := asm.AddAtomic.Mem(asm.R0, asm.R5, asm.DWord, 8)
	exchange := asm.Xchg.Mem(asm.R1, asm.R2, asm.DWord, 0)
	compare := asm.CmpXchg.Mem(asm.R1, asm.R2, asm.DWord, -16)
	tests := []struct {
		ins  asm.Instruction
		want string
	}{
		{asm.Mov.Reg(asm.R6, asm.R1), "r6 = r1"},
		{asm.Mov.Reg32(asm.R6, asm.R1), "w6 = w1"},
		{asm.Mov.Reg(asm.R2, asm.RFP), "r2 = r10"},
		{asm.Add.Imm(asm.R2, -8), "r2 += -8"},
		{asm.ArSh.Imm(asm.R2, 3), "r2 s>>= 3"},
		{asm.Neg.Imm(asm.R5, 0), "r5 = -r5"},
		{asm.HostTo(asm.BE, asm.R3, asm.Half), "r3 = be16(r3)"},
		{asm.LoadMem(asm.R1, asm.RFP, -8, asm.Word), "r1 = *(u32 *)(r10 - 8)"},
		{asm.StoreMem(asm.R8, 24, asm.R9, asm.Half), "*(u16 *)(r8 + 24) = r9"},
		{asm.StoreImm(asm.RFP, -4, 7, asm.Byte), "*(u8 *)(r10 - 4) = 7"},
		{add, "lock *(u64 *)(r0 + 8) += r5"},
		{exchange, "r2 = exchange(*(u64 *)(r1 + 0), r2)"},
		{compare, "r0 = compare_exchange(*(u64 *)(r1 - 16), r0, r2)"},
		{asm.LoadImm(asm.R4, 1<<40, asm.DWord), "r4 = 1099511627776"},
		{asm.LoadMapPtr(asm.R1, 0).WithReference("ring"), "r1 = map ring"},
		{asm.LoadMapValue(asm.R4, 0, 16).WithReference("const"), "r4 = memory of const + 16"},
		{jumpBy(asm.JSGT.Imm(asm.R5, -1, ""), 4), "if r5 s> -1 goto 105"},
		{jumpBy(asm.JNE.Reg(asm.R5, asm.R7, ""), -11), "if r5 != r7 goto 90"},
		{jumpBy(asm.JLT.Imm32(asm.R5, 3, ""), 0), "if w5 < 3 goto 101"},
		{jumpBy(asm.Ja.Label(""), 1), "goto 102"},
		{asm.FnProbeReadUserStr.Call(), "call bpf_probe_read_user_str"},
		{asm.Return(), "exit"},
	}
	for _, tt := range tests {
		if got := insnText(&tt.ins, 100); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.ins, got, tt.want)
		}
	}
}

func jumpBy(ins asm.Instruction, off int16) asm.Instruction {
	ins.Offset = off
	return ins
}
