package usdt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// text writes an operand shortly.
func (op Operand) text() string {
	sign := "u"
	if op.Signed {
		sign = "s"
	}
	if op.Float {
		sign = "f"
	}
	head := fmt.Sprintf("%s%d ", sign, op.Size)
	switch op.Kind {
	case Constant:
		return head + fmt.Sprint(op.Const)
	case InRegister:
		return head + op.Register.text()
	case InMemory:
		out := fmt.Sprintf("%s[%s", head, op.Register.text())
		if op.Index.Name != "" {
			out += fmt.Sprintf(" + %s*%d", op.Index.text(), op.Scale)
		}
		return out + fmt.Sprintf(" %+d]", op.Disp)
	case InVector:
		return head + "vector " + op.Register.Name
	}
	return "? " + op.Problem
}

func (r Register) text() string {
	if r.Bytes == 8 || r.Name == "" {
		return r.Name
	}
	out := fmt.Sprintf("%s:%d", r.Name, r.Bytes)
	if r.Shift > 0 {
		out += fmt.Sprintf(">>%d", r.Shift)
	}
	if r.Signed {
		out += "s"
	}
	return out
}

func variables(name string) (uint64, bool) {
	addr, ok := map[string]uint64{"counter": 0x4010, "a.b$c": 0x4020, "_ZN1a1bE": 0x4030}[name]
	return addr, ok
}

func TestOperands(t *testing.T) {
	for _, c := range []struct{ arch, text, want string }{
		{"amd64", "4@$-5", "u4 4294967291"}, {"amd64", "-4@$-5", "s4 -5"}, {"amd64", "-2@$65535", "s2 -1"},
		{"amd64", "1@$-5", "u1 251"},
		{"amd64", "8@$0x10", "u8 16"}, {"amd64", "-8@$-9223372036854775808", "s8 -9223372036854775808"},
		{"amd64", "8@$18446744073709551615", "u8 -1"}, {"amd64", "8@$010", "u8 8"}, {"amd64", "8@$4+4", "u8 8"},
		{"amd64", "4@5", "u4 5"},
		{"amd64", "-4@%eax", "s4 ax:4"}, {"amd64", "8@%rdi", "u8 di"}, {"amd64", "1@%ah", "u1 ax:1>>8"},
		{"amd64", "1@%sil", "u1 si:1"},
		{"amd64", "-1@%r10b", "s1 r10:1"}, {"amd64", "2@%r8w", "u2 r8:2"}, {"amd64", "4@%r15d", "u4 r15:4"},
		{"amd64", "8@%r9", "u8 r9"},
		{"amd64", "2@%bx", "u2 bx:2"}, {"amd64", "1@%bpl", "u1 bp:1"}, {"amd64", "8@%rip", "u8 ip"},
		{"amd64", "8@-8(%rbp)", "u8 [bp -8]"}, {"amd64", "4@(%rsp)", "u4 [sp +0]"},
		{"amd64", "8@(%rax,%rbx,4)", "u8 [ax + bx*4 +0]"},
		{"amd64", "8@16(%rax,%rbx)", "u8 [ax + bx*1 +16]"}, {"amd64", "-4@0x20(,%rcx,8)", "s4 [ + cx*8 +32]"},
		{"amd64", "8@-4+8(%rbp)", "u8 [bp +4]"},
		{"amd64", "4@counter+8(%rip)", "u4 [ip +12312]"}, {"amd64", "4@8+counter(%rip)", "u4 [ip +12312]"},
		{"amd64", "4@counter(%rip)", "u4 [ip +12304]"},
		{"amd64", "4@counter", "u4 [ip +12304]"}, {"amd64", "4@a.b$c(%rip)", "u4 [ip +12320]"},
		{"amd64", "8@_ZN1a1bE-8(%rip)", "u8 [ip +12328]"},
		{"amd64", "8@16(%rip)", "u8 [ip +17]"},
		{"amd64", "8f@%xmm0", "f8 vector xmm0"}, {"amd64", "4f@-4(%rbp)", "f4 [bp -4]"},
		{"amd64", "-8f@%xmm12", "f8 vector xmm12"},
		{"amd64", "%eax", "u4 ax:4"}, {"amd64", "$7", "u8 7"}, {"amd64", "8(%rsp)", "u8 [sp +8]"},
		{"amd64", "4@absent(%rip)", "? the file has no symbol absent, or several: was it stripped?"},
		{"amd64", "4@%fs:8", "? %fs:8 is in a segment (thread-local storage), which probes cannot read"},
		{"amd64", "3@%eax", "? its size is 3 bytes, want 1, 2, 4 or 8"},
		{"amd64", "16@%xmm0", "? its size is 16 bytes, want 1, 2, 4 or 8"},
		{"amd64", "4@%foo", "? %foo is no register of amd64"}, {"amd64", "4@%r16", "? %r16 is no register of amd64"},
		{"amd64", "4@%r08", "? %r08 is no register of amd64"},
		{"amd64", "4@(%rax,%rbx,3)", "? its scale is 3, want 1, 2, 4 or 8"},
		{"amd64", "4@(%al)", "? %al is no register for an address"},
		{"amd64", "4@8(%rax", `? "8(%rax" lacks its )`}, {"amd64", "4@", "? it is empty"},
		{"amd64", "4@$", "? a number or symbol is missing"},
		{"amd64", "8@$counter", "? $counter is an address that is known only once the file is loaded"},
		{"amd64", "8@counter(,%rax,4)",
			"? counter(,%rax,4) adds registers to an address that is known only once the file is loaded"},
		{"amd64", "8@%st(0)", "? %st(0) is a register of the x87, which the kernel does not show to probes"},

		{"arm64", "-4@x0", "s4 x0"}, {"arm64", "4@w7", "u4 x7:4"}, {"arm64", "8@x30", "u8 x30"},
		{"arm64", "8@lr", "u8 x30"}, {"arm64", "8@sp", "u8 sp"},
		{"arm64", "4@5", "u4 5"}, {"arm64", "-4@-5", "s4 -5"}, {"arm64", "4@#-5", "u4 4294967291"},
		{"arm64", "8@xzr", "u8 0"}, {"arm64", "4@wzr", "u4 0"},
		{"arm64", "8@[sp, 16]", "u8 [sp +16]"}, {"arm64", "8@[sp,#16]", "u8 [sp +16]"},
		{"arm64", "8@[x29, -8]", "u8 [x29 -8]"}, {"arm64", "-4@[sp]", "s4 [sp +0]"},
		{"arm64", "8@[x0, x1]", "u8 [x0 + x1*1 +0]"}, {"arm64", "8@[x0, x1, lsl 3]", "u8 [x0 + x1*8 +0]"},
		{"arm64", "8@[x0, x1, lsl #3]", "u8 [x0 + x1*8 +0]"},
		{"arm64", "4@[x0, w1, sxtw 2]", "u4 [x0 + x1:4s*4 +0]"}, {"arm64", "4@[x0, w1, uxtw]", "u4 [x0 + x1:4*1 +0]"},
		{"arm64", "4@counter", "u4 [pc +12304]"}, {"arm64", "4@[x0, #:lo12:counter]", "u4 [pc +12304]"},
		{"arm64", "4@[x3, :lo12:counter+4]", "u4 [pc +12308]"},
		{"arm64", "8f@d0", "f8 vector d0"}, {"arm64", "4@s31", "f4 vector s31"}, {"arm64", "x3", "u8 x3"},
		{"arm64", "8@x31", "? the file has no symbol x31, or several: was it stripped?"},
		{"arm64", "8@[w0]", `? "w0" is no register for an address`},
		{"arm64", "8@[x0, x1, ror 3]", `? "ror" is no extension of an index: lsl, uxtw and sxtw are`},
		{"arm64", "8@[x0", `? "[x0" lacks its ]`},
		{"arm64", "8@[x0, x1, lsl 9]", `? the index is shifted by "9", want 0 to 4`},
		{"riscv64", "8@a0", "? arguments of this machine are not known"},
	} {
		ops := ParseOperands(Program{c.arch, true, variables}, c.text, 0x1000)
		if len(ops) != 1 || ops[0].text() != c.want || ops[0].Text != c.text {
			t.Errorf("%s: %s: got %q, want %q", c.arch, c.text, texts(ops), c.want)
		}
	}
}

// Addresses of a program that is always loaded at the same place are known: registers can be added to them.
func TestOperandsOfAFixedProgram(t *testing.T) {
	fixed := Program{Arch: "amd64", Variable: variables}
	const absent = "? the file has no symbol absent, or several: was it stripped?"
	for text, want := range map[string]string{
		"-8@counter(,%rdx,8)": "s8 [ + dx*8 +16400]", "4@counter+8(%rax)": "u4 [ax +16408]",
		"8@counter-4(%rax,%rbx,4)": "u8 [ax + bx*4 +16396]", "8@a.b$c(%rax,%rbx)": "u8 [ax + bx*1 +16416]",
		"8@$counter": "u8 16400", "8@$counter+4": "u8 16404", "4@counter(%rip)": "u4 [ip +12304]",
		"4@counter": "u4 [ip +12304]", "8@absent(,%rax,4)": absent, "8@$absent": absent,
		"8@counter(,%rax,3)":    "? its scale is 3, want 1, 2, 4 or 8",
		"8@counter(%rax,%al,4)": "? %al is no register for an address",
	} {
		if got := texts(ParseOperands(fixed, text, 0x1000)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func texts(ops []Operand) (out []string) {
	for _, op := range ops {
		out = append(out, op.text())
	}
	return out
}

func TestSeveralOperands(t *testing.T) {
	for _, c := range []struct {
		arch, text string
		want       []string
	}{
		{"amd64", "  8@%rdi -4@-20(%rbp)\t4@$1 ", []string{"u8 di", "s4 [bp -20]", "u4 1"}},
		{"amd64", "1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 8@-4(%rax, %rbx, 8)",
			[]string{"u1 1", "u1 2", "u1 3", "u1 4", "u1 5", "u1 6", "u1 7", "u8 [ax + bx*8 -4]"}},
		{"amd64", "4@%bad 4@%eax", []string{"? %bad is no register of amd64", "u4 ax:4"}},
		{"arm64", "8@[sp, 8] -4@[x0, w1, sxtw 2] 4@3", []string{"u8 [sp +8]", "s4 [x0 + x1:4s*4 +0]", "u4 3"}},
		{"amd64", "", nil},
	} {
		if got := texts(ParseOperands(Program{c.arch, true, variables}, c.text, 0)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: got %q, want %q", c.arch, c.text, got, c.want)
		}
	}
	if got := ParseOperands(Program{Arch: "amd64"}, strings.Repeat("1@$1 ", 1000), 0); len(got) != maxArgs {
		t.Errorf("got %d arguments", len(got))
	}
}

// Every register that an operand can name is one of struct pt_regs.
func TestRegistersAreKnown(t *testing.T) {
	check := func(arch string, r Register) {
		if _, ok := kernel.RegisterOffsets(arch).Names[r.Name]; !ok {
			t.Errorf("%s: struct pt_regs has no %q", arch, r.Name)
		}
	}
	for _, r := range amd64Names {
		check("amd64", r)
	}
	for i := 8; i < 16; i++ {
		r, ok := amd64Register(fmt.Sprintf("r%d", i))
		if !ok {
			t.Errorf("no r%d", i)
		}
		check("amd64", r)
	}
	for i := range 31 {
		r, ok := arm64Register(fmt.Sprintf("x%d", i))
		if !ok {
			t.Errorf("no x%d", i)
		}
		check("arm64", r)
	}
	check("arm64", Register{Name: "sp"})
	check("arm64", Register{Name: "pc"})
}

func FuzzOperands(f *testing.F) {
	f.Add("4@$-5 -4@%eax 8@-8(%rbp) 8@(%rax,%rbx,4) 4@counter+8(%rip) 8f@%xmm0 %ah")
	f.Add("8@[sp, 16] -4@x0 4@5 8@[x0, x1, lsl 3] 4@[x0, w1, sxtw 2] 4@[x3, :lo12:counter+4] 8@d0")
	f.Fuzz(func(t *testing.T, text string) {
		for _, arch := range []string{"amd64", "arm64"} {
			names := kernel.RegisterOffsets(arch).Names
			for _, op := range ParseOperands(Program{arch, len(text)%2 == 0, variables}, text, 0x1000) {
				switch {
				case (op.Kind == Unknown || op.Kind == InVector) != (op.Problem != ""):
					t.Errorf("%s: %q: %v with the problem %q", arch, op.Text, op.Kind, op.Problem)
				case op.Kind == Unknown || op.Kind == InVector || op.Kind == Constant:
				default:
					for _, r := range []Register{op.Register, op.Index} {
						if _, ok := names[r.Name]; r.Name != "" && !ok {
							t.Errorf("%s: %q: register %q", arch, op.Text, r.Name)
						}
					}
				}
				if op.Kind != Unknown && op.Size != 1 && op.Size != 2 && op.Size != 4 && op.Size != 8 {
					t.Errorf("%s: %q: %d bytes", arch, op.Text, op.Size)
				}
			}
		}
	})
}
