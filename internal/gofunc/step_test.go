package gofunc

import (
	"encoding/binary"
	"testing"
)

// What the kernels do with each was tried on Linux 5.10, 6.18 and 7.2.
func TestSteppable(t *testing.T) {
	for code, ok := range map[string]bool{
		"\x55": true, "\xf3\x0f\x1e\xfa": true, "\x66\x0f\xef\xc0": true, "\x48\x89\xe5": true, "": true,
		"\xc3": true, "\x66\x0f\x38\x00\xc1": true, "\x9d": true,
		"\x64\x48\x8b\x04\x25": true, // ret, pshufb, popf, fs
		"\xf0\x0f\xba\xaf":     false, "\x2e\x66\x0f\x1f": false, "\x66\xf0\xff\x0f": false, "\x64\xf0\x83\x07": false,
		"\x3e\xff\xe0": false, "\xcd\x80": false, "\xf4": false, "\x9c": false, "\x8e\xd1": false, "\x8e\xc1": true,
		// vaddps, vmovups, vmulsd, vfmadd231ps, vbroadcastss, vpshufb, vcvttss2si
		"\xc5\xf8\x58\xc1": true, "\xc5\xf8\x11\x07": true, "\xc5\xfb\x59\xc1": true, "\xc4\xe2\x71\xb8\xc1": true,
		"\xc4\xe2\x79\x18\xc1": true, "\xc4\xe2\x79\x00\xc1": true,
		"\xc5\xfa\x2c\xc1": true, "\x62\xf1\x7c\x48\x58\xc1": true,
		// vmovd, vmovdqa, vpxor, vpaddb … are refused
		"\xc5\xf9\x6e\xc6": false, "\xc5\xf9\x6f\xc1": false, "\xc5\xf9\xef\xc1": false,
		"\x62\xf1\xfd\x48\x6f\xc1": false,
		// vmovdqa to memory, vpshufd, vzeroupper, vpor, vcmpps, vfnmadd132ss are run as something else
		"\xc5\xf9\x7f\x07": false, "\xc5\xf9\x70\xc1\x10": false, "\xc5\xf8\x77": false, "\xc5\xf9\xeb\xc1": false,
		"\xc5\xf8\xc2\xc1\x10": false, "\xc4\xe2\x79\x9d\xc1": false, "\x62\xf1\x7d\x48\xeb\xc1": false,
	} {
		if err := Steppable("amd64", []byte(code)); (err == nil) != ok {
			t.Errorf("% x: %v", code, err)
		}
	}
}

// The words are those of GNU as (-march=armv8.8-a+mops).
func TestSteppableARM64(t *testing.T) {
	for name, word := range map[string]uint32{
		"svc": 0xd4000001, "brk": 0xd4207d00, "ldaxr": 0x885ffc20, "stxr": 0x88027c20, "ldr q, literal": 0x9c000000,
		"ldr d, literal": 0x5c000001,
		"prfm literal":   0xd8000000, "msr tpidr_el0": 0xd51bd040, "msr daifset": 0xd50342df, "yield": 0xd503203f,
		"autiasp": 0xd50323bf, "csdb": 0xd503229f,
		"retaa": 0xd65f0bff, "retab": 0xd65f0fff, "braa": 0xd71f0801, "blraa": 0xd73f0801, "braaz": 0xd61f081f,
		"blraaz": 0xd63f081f, "cpyfp": 0x19010440,
	} {
		if err := Steppable("arm64", binary.LittleEndian.AppendUint32(nil, word)); err == nil {
			t.Errorf("%s (%#x) is refused by the kernel", name, word)
		}
	}
	for name, word := range map[string]uint32{
		"nop": 0xd503201f, "bti c": 0xd503245f, "paciasp": 0xd503233f, "pacibsp": 0xd503237f, "stp": 0xa9bf7bfd,
		"ldr x, literal": 0x58000000,
		"ldrsw literal":  0x98000000, "adrp": 0x90000000, "b": 0x14000000, "ret": 0xd65f03c0, "cbz": 0xb4000000,
		"mrs": 0xd53bd040, "ldar": 0x88dffc20,
		"cas": 0x88a07c41, "ldr q": 0x3dc00020, "mov": 0xd2800028, "add": 0x91000400, "dmb": 0xd5033bbf,
		"ldadd": 0xb8200041,
	} {
		if err := Steppable("arm64", binary.LittleEndian.AppendUint32(nil, word)); err != nil {
			t.Errorf("%s (%#x): %v", name, word, err)
		}
	}
	if err := Steppable("arm64", []byte{1, 0, 0}); err != nil {
		t.Errorf("less than an instruction: %v", err)
	}
}

// A nop of five bytes becomes a call, and only that.
func TestBecomesCall(t *testing.T) {
	for code, is := range map[string]bool{
		"\x0f\x1f\x44\x00\x00": true, "\x0f\x1f\x44\x00\x00\xc3": true, "\x0f\x1f\x40\x00": false, "\x90": false,
		"\x66\x0f\x1f\x44\x00\x00": false, "\x0f\x1f\x44": false,
	} {
		if got := BecomesCall("amd64", []byte(code)) != nil; got != is {
			t.Errorf("%x: %v, want %v", code, got, is)
		}
	}
	if BecomesCall("arm64", []byte("\x0f\x1f\x44\x00\x00")) != nil {
		t.Error("arm64 has no such instruction")
	}
}
