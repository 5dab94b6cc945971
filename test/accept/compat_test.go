package accept

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// compat32 makes a program of 64 bits that makes each of these calls by int 0x80 n times, and exits by it: no library.
func compat32(t *testing.T, n int, numbers ...uint32) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skipf("needs amd64, whose 64-bit programs can make 32-bit calls, not %s", runtime.GOARCH)
	}
	const base, head = 0x400000, 64 + 56
	const name = "/nonexistent/compat\x00"
	call := func(number uint32) []byte { // mov ebx, name; xor ecx, ecx; xor edx, edx; mov eax, number; int 0x80
		code := binary.LittleEndian.AppendUint32([]byte{0xbb}, base+head)
		return append(binary.LittleEndian.AppendUint32(append(code, 0x31, 0xc9, 0x31, 0xd2, 0xb8), number), 0xcd, 0x80)
	}
	code := []byte(name)
	for _, number := range numbers {
		code = append(code, bytes.Repeat(call(number), n)...)
	}
	code = slices.Concat(code, []byte{0x31, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80}) // exit(0)
	size := uint64(head + len(code))
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: base + head + uint64(len(name)), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Filesz: size, Memsz: size, Align: 1 << 16},
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "compat32")
	if err := os.WriteFile(file, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(file).Run(); err != nil {
		t.Skipf("needs a kernel with 32-bit calls (CONFIG_IA32_EMULATION): %v", err)
	}
	return file
}

var compatLine = regexp.MustCompile(`(?m)^startrace: (\d+) calls of .* not shown: a program made them by the kernel's 32-bit interface`)

// Calls by int 0x80 are never shown as those that have their numbers among the 64-bit ones: 5 (open, there fstat),
// 10 (unlink, there mprotect), 3 (read, there close), 1 (exit, there write). They are counted.
//
// > Calls of the kernel's 32-bit interface (`int 0x80`, AArch32) are not shown at `syscall:`.
// > Those of the probed names are counted and reported.
// > Tracepoints of single calls do not have them; at `raw_syscalls` they have their own numbers and registers.
func TestCompatCallsHaveNoWrongName(t *testing.T) {
	needTracing(t)
	file := compat32(t, 3, 5, 10, 3)
	raw := startrace(t, "-q", "-e", `probe("tracepoint:raw_syscalls:sys_enter", lambda e: print("call", e.args.id))`,
		"-e", `probe("tracepoint:syscalls:sys_enter_*stat*", lambda e: print("single"), where = lambda e: e.comm == "compat32")`, "-c", file).ok(t)
	if n := strings.Count(raw.stdout, "call 5\n"); raw.skipped(t) == 0 && (n != 3 || strings.Contains(raw.stdout, "single")) {
		t.Errorf("%d calls of number 5, want 3: %s", n, excerpt(raw.stdout))
	}
	for point, want := range map[string]int{"*": 10, "{newfstat,mprotect,close,write,newstat}": 0, "newfstat": 0, "open": 3, "open{,at,at2}": 3,
		"{open,unlink,read}": 9, "exit": 1, "{read,close}": 3, "socket": 0} {
		e := startrace(t, "-q", "-e", fmt.Sprintf(`probe("syscall:%s", lambda e: print(e.comm, e.func))`, point), "-c", file).ok(t)
		for line := range strings.Lines(e.stdout) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "compat32 ") && line != "compat32 execve" {
				t.Errorf("syscall:%s shows %q", point, line)
			}
		}
		got := "0"
		if m := compatLine.FindStringSubmatch(e.stderr); m != nil {
			got = m[1]
		}
		if got != fmt.Sprint(want) && e.skipped(t) == 0 {
			t.Errorf("syscall:%s: %s calls counted, want %d; stderr: %s", point, got, want, excerpt(e.stderr))
		}
	}
}
