package kernel

import (
	"fmt"
	"runtime"
	"testing"
)

func TestRegisterOffsets(t *testing.T) {
	for arch, want := range map[string]string{
		"amd64": "[112 104 96 56 72 64] 120/8 128 152 80",
		"arm64": "[0 8 16 24 32 40] 280/4 256 248 0",
	} {
		r := RegisterOffsets(arch)
		got := fmt.Sprintf("%v %d/%d %d %d %d", r.SyscallArgs, r.SyscallNr, r.SyscallNrSize, r.IP, r.SP, r.Ret)
		if got != want {
			t.Errorf("%s: got %s, want %s", arch, got, want)
		}
	}
	if RegisterOffsets("riscv64") != nil {
		t.Error("riscv64 is not known")
	}
	if RegisterOffsets("") != nil && RegisterOffsets("").IP != RegisterOffsets(runtime.GOARCH).IP {
		t.Error("\"\" is not this machine")
	}
}

// The offsets against the struct of this kernel.
func TestKernelPtRegs(t *testing.T) {
	needOurArch(t)
	b := kernelBTF(t)
	regs := RegisterOffsets("")
	if regs == nil {
		t.Skip("needs amd64 or arm64, not", runtime.GOARCH)
	}
	id := named(t, b, KindStruct, "pt_regs")
	check := func(name string, want int) {
		if f, err := b.Field(id, name); err != nil || f.Off != want {
			t.Errorf("%s: got %+v, %v, want %d", name, f, err, want)
		}
	}
	if runtime.GOARCH == "arm64" {
		check("syscallno", regs.SyscallNr)
		check("pc", regs.IP)
		check("sp", regs.SP)
		check("orig_x0", regs.Names["orig_x0"])
		return
	}
	for name, off := range regs.Names {
		check(name, off)
	}
}

func TestPtrSpaceLimit(t *testing.T) {
	for _, arch := range []string{"", "amd64", "arm64"} {
		limit := PtrSpaceLimit(arch)
		for addr, user := range map[uint64]bool{
			0: true, 0x7fff_ffff_f000: true, 0x00ff_ffff_ffff_f000: true, // five levels
			0xff00_0000_0000_0000: false, 0xffff_8880_0000_0000: false, 0xfff0_0000_0000_0000: false,
		} {
			if got := addr < limit; got != user {
				t.Errorf("%s: %x is user: %v", arch, addr, got)
			}
		}
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string]Version{
		"6.18.44-fc-v669":        {6, 18, 44, "6.18.44-fc-v669"},
		"7.2.13+deb14-cloud":     {7, 2, 13, "7.2.13+deb14-cloud"},
		"5.10-rc1":               {5, 10, 0, "5.10-rc1"},
		"6":                      {6, 0, 0, "6"},
		"":                       {},
		"99999999999999999999.1": {Text: "99999999999999999999.1"},
	} {
		if got := parseRelease(text); got != want {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	v, err := Release()
	if err != nil || !v.AtLeast(4, 0) || v.AtLeast(v.Major, v.Minor+1) || v.AtLeast(v.Major+1, 0) {
		t.Errorf("got %+v, %v", v, err)
	}
}
