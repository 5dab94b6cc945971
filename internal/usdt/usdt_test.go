package usdt

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
)

// source has probes as <sys/sdt.h> makes them (which need not be installed).
const source = `
#define STR(x) #x
#define NOTE(addr, sem, provider, name, args) \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: " addr " 990b\n" addr " _.stapsdt.base\n" addr " " sem "\n" \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif\n"
#ifdef __LP64__
#define ADDR ".8byte"
#else
#define ADDR ".4byte"
#endif
__extension__ unsigned short test_guarded_semaphore __attribute__((unused, section(".probes"))) = 0;
int counter = 42;
static inline __attribute__((always_inline)) void inlined(int value) {
	__asm__ volatile(NOTE(ADDR, "0", "test", "inlined", "-4@%0") :: "nor"(value));
}
int main(int argc, char **argv) {
	inlined(argc);
	inlined(7);
	__asm__ volatile(NOTE(ADDR, "test_guarded_semaphore", "test", "guarded__name", "8@%0 -4@%1") ::
		"nor"((long)argv), "nor"(argc));
	__asm__ volatile(NOTE(ADDR, "0", "other", "plain", ""));
#ifdef __x86_64__
	__asm__ volatile(NOTE(ADDR, "0", "other", "variable", "4@%0") :: "m"(counter));
#endif
	return counter;
}
`

// compiler is one for this architecture: in an emulator, gcc is that of the machine.
func compiler(t *testing.T) string {
	t.Helper()
	if runtime.GOARCH == "arm64" {
		if name, err := exec.LookPath("aarch64-linux-gnu-gcc"); err == nil {
			return name
		}
	}
	name, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs the program gcc:", err)
	}
	return name
}

func build(t *testing.T, flags ...string) *elffile.File {
	t.Helper()
	cc := compiler(t)
	dir := t.TempDir()
	name, out := filepath.Join(dir, "main.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(cc, append(flags, "-O2", "-o", out, name)...).CombinedOutput(); err != nil {
		if strings.Contains(strings.Join(flags, ""), "-m32") {
			t.Skipf("needs gcc for 32 bits (Debian's package gcc-multilib, on amd64): %s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	f, err := elffile.Open(out, elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestProbes(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-static"},
		{"-m32", "-nostdlib", "-ffreestanding", "-Wl,-e,main"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			f := build(t, flags...)
			probes, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			checkProbes(t, f, probes)
		})
	}
}

// nop is the first byte of the instruction.
var nop = map[elf.Machine]byte{elf.EM_X86_64: 0x90, elf.EM_386: 0x90, elf.EM_AARCH64: 0x1f}

func checkProbes(t *testing.T, f *elffile.File, probes []StaticProbe) {
	t.Helper()
	found, err := Find(probes, "test:inlined")
	if err != nil || len(found) != 1 || len(found[0].Places) != 2 || found[0].Args() != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	constant := 0
	for _, site := range found[0].Places {
		code, err := f.Code(site.Addr, 1)
		if err != nil || code[0] != nop[f.Machine] {
			t.Errorf("at %#x is no nop: % x, %v", site.Addr, code, err)
		}
		if back, ok := f.Addr(site.Offset); !ok || back != site.Addr {
			t.Errorf("%+v: the offset is of %#x", site, back)
		}
		if arg := site.Args[0]; arg.Kind == Constant && arg.Const == 7 && arg.Size == 4 && arg.Signed {
			constant++
		}
	}
	if constant != 1 {
		t.Errorf("%d sites have the constant 7: %+v", constant, found[0].Places)
	}
	checkSemaphore(t, f, probes)
	if found, err := Find(probes, "other:plain"); err != nil || len(found) != 1 || found[0].Args() != 0 ||
		found[0].Places[0].Semaphore != 0 {
		t.Errorf("got %+v, %v", found, err)
	}
	if found, err := Find(probes, "variable"); err != nil || f.Machine == elffile.Machine("amd64") && !f.Is32 &&
		!readsCounter(f, found) {
		t.Errorf("got %+v, %v", found, err)
	}
}

// checkSemaphore finds the counter in the file, whatever the dash is written as.
func checkSemaphore(t *testing.T, f *elffile.File, probes []StaticProbe) {
	t.Helper()
	for _, pattern := range []string{"guarded-name", "guarded__name", "te*:guarded-*", "*:*__na[m-o]e"} {
		found, err := Find(probes, pattern)
		if err != nil || len(found) != 1 || len(found[0].Places) != 1 || len(found[0].Places[0].Args) != 2 {
			t.Fatalf("%s: got %+v, %v", pattern, found, err)
		}
		site := found[0].Places[0]
		if addr, ok := f.Addr(site.Semaphore); !ok || addr != f.Variables()["test_guarded_semaphore"] {
			t.Errorf("the semaphore is at %#x", addr)
		}
	}
}

// readsCounter works out the address of the argument as a probe does.
func readsCounter(f *elffile.File, found []StaticProbe) bool {
	site := found[0].Places[0]
	arg := site.Args[0]
	return arg.Kind == InMemory && arg.Register.Name == "ip" && site.Addr+uint64(arg.Disp) == f.Variables()["counter"]
}

func TestFindErrors(t *testing.T) {
	if _, err := Find(nil, "a:[b"); err == nil {
		t.Error("a broken pattern is no error")
	}
	if got, err := Find([]StaticProbe{{"a", "b", nil}}, "b:a"); err != nil || len(got) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNote(t *testing.T) {
	var desc []byte
	for _, word := range []uint32{0x1000, 0x2000, 0x3000} {
		desc = binary.LittleEndian.AppendUint32(desc, word)
	}
	desc = append(desc, "p\x00n\x004@%eax\x00"...)
	want := note{0x1000, 0x2000, 0x3000, "p", "n", "4@%eax"}
	if got, err := parseNote(desc, binary.LittleEndian, true); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for n := range len(desc) - len("4@%eax\x00") {
		if got, err := parseNote(desc[:n], binary.LittleEndian, true); err == nil {
			t.Errorf("%d bytes: got %+v", n, got)
		}
	}
}

func FuzzNote(f *testing.F) {
	f.Add([]byte("\x00\x10\x00\x00\x00\x20\x00\x00\x00\x30\x00\x00p\x00n\x004@%eax\x00"), true)
	f.Add([]byte(strings.Repeat("\x01", 24)+"p\x00n\x00"), false)
	f.Fuzz(func(t *testing.T, desc []byte, is32 bool) {
		n, err := parseNote(desc, binary.LittleEndian, is32)
		if err == nil && (n.provider == "" || n.name == "" || strings.Contains(n.provider+n.name+n.args, "\x00")) {
			t.Errorf("got %+v", n)
		}
	})
}
