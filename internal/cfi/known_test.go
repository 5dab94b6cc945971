package cfi_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// rowsOf gives the rows of a file from the begin of a section of code to its end, counted from there.
func rowsOf(t *testing.T, path, name string) (out []cfi.Row) {
	t.Helper()
	f := opened(t, path)
	rows, err := cfi.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.CodeSections() {
		if s.Name != name {
			continue
		}
		out = []cfi.Row{{Rule: ruleAt(rows, s.Addr)}}
		for _, r := range rows {
			if r.Addr > s.Addr && r.Addr < s.End() {
				out = append(out, cfi.Row{Addr: r.Addr - s.Addr, Rule: r.Rule})
			}
		}
	}
	return out
}

// TestStubs: those of a program have the same rows whether the linker tells of them or not.
func TestStubs(t *testing.T) {
	const source = "#include <stdio.h>\nint main(int argc, char **argv) { return printf(\"%d\\n\", argc); }\n"
	const lazy = "0 rsp+16 u c-8 | 6 rsp+24 u c-8 | 10 stub 11 u c-8"
	for _, c := range []struct {
		command, section string
		machine          elf.Machine
		want             string
	}{
		{"gcc -O1 -Wl,-z,lazy -Wl,--ld-generated-unwind-info", ".plt", elf.EM_X86_64, lazy},
		{"gcc -O1 -Wl,-z,lazy -Wl,--no-ld-generated-unwind-info", ".plt", elf.EM_X86_64, lazy},
		{"gcc -O1 -Wl,-z,now -Wl,--no-ld-generated-unwind-info", ".plt.got", elf.EM_X86_64, "0 rsp+8 u c-8"},
		{"gcc -O1 -static", ".plt", elf.EM_X86_64, "0 rsp+8 u c-8"},
		{"aarch64-linux-gnu-gcc -O1 -Wl,-z,lazy", ".plt", elf.EM_AARCH64, "0 sp+0 u u | 4 sp+16 u c-8 | 20 sp+0 u u"},
		{"aarch64-linux-gnu-gcc -O1 -static", ".plt", elf.EM_AARCH64, "0 sp+0 u u"},
	} {
		t.Run(c.command, func(t *testing.T) {
			path := builtFor(t, c.machine, c.command, "main.c", source)
			if got := shown(c.machine, rowsOf(t, path, c.section)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestWithoutFrames: where a program begins, and what its handlers of signals return to, in a program that tells of one
// function only.
func TestWithoutFrames(t *testing.T) {
	for _, c := range []struct {
		command, source string
		machine         elf.Machine
		want            string
	}{
		{"gcc -nostdlib -static", `
	.globl _start
	.skip 3, 0x90
_start:
	call work
	.skip 95, 0x90
restorer:
	mov $15, %rax
	syscall
	.skip 91, 0x90
work:
	.cfi_startproc
	ret
	.cfi_endproc
`, elf.EM_X86_64, "0 none | 3 stop | 43 none | 66 signal | 70 none | cb rsp+8 u c-8"},
		{"aarch64-linux-gnu-gcc -nostdlib -static", `
	.globl _start
_start:
	bl work
	.skip 96
restorer:
	mov x8, #139
	svc #0
	.skip 92
work:
	.cfi_startproc
	ret
	.cfi_endproc
`, elf.EM_AARCH64, "0 stop | 40 none | 60 signal | 6c none | c8 sp+0 u u"},
	} {
		t.Run(c.command, func(t *testing.T) {
			path := builtFor(t, c.machine, c.command, "start.s", c.source)
			if got := shown(c.machine, rowsOf(t, path, ".text")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCompressed: .debug_frame has the same rows in each form that it is compressed in, also in the old one,
// .zdebug_frame.
func TestCompressed(t *testing.T) {
	objcopy := need.Program(t, "objcopy")
	plain := need.Built(t, "gcc -g -O2 -fno-asynchronous-unwind-tables", "small.c", many())
	want, err := cfi.Rows(opened(t, plain))
	if err != nil || len(want) < 100 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	for _, form := range []string{"zlib", "zlib-gnu"} {
		packed := filepath.Join(t.TempDir(), form)
		command := exec.Command(objcopy, "--compress-debug-sections="+form, plain, packed)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v, %s", err, out)
		}
		f := opened(t, packed)
		if s, ok, err := f.Section(".debug_frame"); ok != (form == "zlib") || err != nil {
			t.Errorf("%s: the section is not compressed so: %d bytes, %v, %v", form, s.Size, ok, err)
		}
		if got, err := cfi.Rows(f); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %d rows, %v, want %d", form, len(got), err, len(want))
		}
	}
}

// many is a C program of as many functions as make it worth to compress what is told of them.
func many() string {
	out := "int main(void) { return 0; }\n"
	for i := range 100 {
		out += fmt.Sprintf("long f%d(long n) { char s[n + %d]; s[n] = 1; return n ? f%d(n - s[0]) : s[n / 2]; }\n",
			i, i, i)
	}
	return out
}

// TestVDSO: the kernel's own code in each process tells of its frames.
func TestVDSO(t *testing.T) {
	image := vdso(t)
	f, err := elffile.Read("[vdso]", bytes.NewReader(image), int64(len(image)), elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := cfi.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := cfi.Inspect(f)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Damaged > 0 || stats.Unknown > 0 || len(rows) < 4 {
		t.Errorf("%d rows, %+v", len(rows), stats)
	}
}

func vdso(t *testing.T) []byte {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		var from, to int64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		image := make([]byte, to-from)
		if _, err := memory.ReadAt(image, from); err != nil {
			t.Fatal(err)
		}
		return image
	}
	t.Skip("needs a kernel with a vDSO; an emulator of programs has none")
	return nil
}

// TestSmallFunctions: between functions lies padding, which has the rule before it, or a small function that the file
// tells nothing about, which has none.
func TestSmallFunctions(t *testing.T) {
	const source = `
__attribute__((noinline, aligned(16))) int before(int x) { return x + 1; }
__asm__(".text\n.type small, @function\nsmall: push $0\ncall *%rax\npop %rax\nret\n.size small, .-small");
__attribute__((noinline, aligned(16))) int behind(int x) { return x * 3; }
__attribute__((noinline, aligned(16))) int last(int x) { return x * 5; }
int main(int argc, char **argv) { return before(argc) + behind(argc) + last(argc); }
`
	f := opened(t, builtFor(t, elf.EM_X86_64, "gcc -O1 -fno-toplevel-reorder", "main.c", source))
	rows, err := cfi.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, name := range []string{"before", "small", "behind", "last"} {
		found, err := f.Lookup(name)
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
		at[name] = found[0].Addr
	}
	if at["behind"]-at["before"] != 16 || at["last"]-at["behind"] != 16 {
		t.Fatalf("the functions lie at %v", at)
	}
	called := ruleAt(rows, at["before"])
	for addr, want := range map[uint64]uint32{at["small"]: wire.UnwindNone, at["behind"] - 1: wire.UnwindNone,
		at["behind"]: called, at["last"] - 1: called, at["last"]: called} {
		if got := ruleAt(rows, addr); got != want {
			t.Errorf("%#x of %v: got %#x, want %#x", addr, at, got, want)
		}
	}
}
