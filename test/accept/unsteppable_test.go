package accept

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const lockedSource = `int c; volatile int g;
__attribute__((noinline)) void f(int n) {
	g = n;
	__atomic_fetch_add(&c, 1, __ATOMIC_SEQ_CST); /* 4 */
	g = n + 1;
}
__attribute__((noinline)) int fetch(int n) {
	int old = __atomic_fetch_add(&c, n, __ATOMIC_SEQ_CST); g = old; return old; /* 8 */
}
__attribute__((noinline)) int begins(int *p, int n) {
	return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST); /* 11 */
}
int main(void) { for (int i = 0; i < 10; i++) { f(i); fetch(1); begins(&c, 1); } return c - 30; }
`

// At a line, an offset or an address whose instruction the kernel cannot probe nothing counts 0 in silence: it is
// refused, or an instruction of the same line is probed that runs as often.
//
// > The kernel cannot probe each instruction: on amd64 none with the prefix `lock`, and not all vector instructions.
// > A line that begins with one is probed at the next instruction of the line that always runs with it, which is said.
// > Where there is none the line is refused, and the message names an instruction behind it that runs as often.
func TestPlacesThatCannotBeProbed(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, which has the prefix lock")
	}
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2 -fcf-protection=none", "clang -g -O0", "clang -g -O2"} {
		binary := need.Built(t, command, "locked.c", lockedSource)
		var points []string
		for line := 2; line <= 12; line++ {
			points = append(points, fmt.Sprintf("locked.c:%d", line))
		}
		for i := range 16 {
			points = append(points, fmt.Sprintf("f+%d", i), fmt.Sprintf("begins+%d", i))
		}
		refused := 0
		for _, point := range points {
			e := startrace(t, "-q", "count", "uprobe:"+binary+":"+point, "-c", binary)
			switch {
			case e.status == 0 && strings.TrimSpace(e.stdout) == "counts: 10":
			case e.status == 0 && strings.HasPrefix(point, "locked.c:8") && strings.TrimSpace(e.stdout) == "counts: 30":
			case e.status == 0 || strings.Contains(e.stdout, "counts"):
				t.Errorf("%s: %s: %q %q", command, point, e.stdout, e.stderr)
			case strings.Contains(e.stderr, "an instruction that the kernel cannot run at another place (prefix lock)"):
				refused++
				if strings.Contains(point, "c:4") && !strings.Contains(e.stderr, "is behind it, and runs as often") {
					t.Errorf("%s: %s: %q", command, point, e.stderr)
				}
			}
		}
		if refused == 0 && strings.HasPrefix(command, "gcc") {
			t.Errorf("%s: no instruction has the prefix lock", command)
		}
	}
}

// vectorFunctions are functions that begin with vector instructions, and whether they can be probed.
var vectorFunctions = map[string]bool{
	"vaddps %xmm1, %xmm0, %xmm0": true, "vmovups %xmm0, (%rdi)": true, "vmulsd %xmm1, %xmm0, %xmm0": true,
	"vsubps (%rdi), %ymm0, %ymm0": true, "vpshufb %xmm1, %xmm0, %xmm0": true, "vcvttss2si %xmm1, %eax": true,
	"vmovss (%rdi), %xmm0": true, "vpaddd %xmm1, %xmm0, %xmm0": true, "vpunpckhbw %xmm1, %xmm0, %xmm0": true,
	"vmovdqa %xmm0, (%rdi)": false, "vmovdqa (%rdi), %xmm0": false, "vpxor %xmm1, %xmm0, %xmm0": false,
	"vpor %xmm1, %xmm0, %xmm0": false, "vpcmpeqb %xmm1, %xmm0, %xmm0": false, "vpshufd $0x1b, %xmm1, %xmm0": false,
	"vcmpltps %xmm1, %xmm0, %xmm0": false, "vmovd %xmm0, %eax": false, "vpsubsb %xmm1, %xmm0, %xmm0": false,
	"vpbroadcastb %xmm1, %xmm0": false, "pushf; popf": false, "lock incl (%rdi)": false, "ret": true,
	"pshufb %xmm1, %xmm0": true,
}

// vectorSource has these functions, and prints what they do.
func vectorSource() (source string, names map[string]string) {
	names = map[string]string{}
	var calls, code strings.Builder
	for text := range vectorFunctions {
		name := fmt.Sprintf("v_%s_%d", strings.Fields(text)[0], len(names))
		name = strings.ReplaceAll(name, ";", "")
		names[name] = text
		fmt.Fprintf(&code, "\".globl %[1]s; .type %[1]s, @function; %[1]s: %[2]s; .fill 20, 1, 0x90; ret;"+
			" .size %[1]s, .-%[1]s\\n\"\n", name, text)
		fmt.Fprintf(&calls, "extern void %s(void); show(\"%s\", %s);\n", name, name, name)
	}
	return `#include <stdio.h>
#include <string.h>
static unsigned char mem[64] __attribute__((aligned(64))), in[64] __attribute__((aligned(64))), out[32];
__asm__(".text\n"
` + code.String() + `);
static void show(const char *name, void (*f)(void)) {
	long rax = 5;
	for (int i = 0; i < 64; i++) { mem[i] = i * 7; in[i] = i & 3 ? i * 5 : 63; }
	__asm__ volatile("sub $512, %%rsp; vmovups (%2), %%ymm0; vmovups 32(%2), %%ymm1; call *%1;"
		" vmovups %%ymm0, (%3); add $512, %%rsp"
		: "+a"(rax) : "r"(f), "r"(in), "r"(out), "D"(mem) : "memory", "cc", "xmm0", "xmm1");
	printf("%s %ld", name, rax);
	for (int i = 0; i < 32; i++) printf(" %02x%02x", mem[i], out[i]);
	printf("\n");
}
int main(void) {
` + calls.String() + `return 0;
}
`, names
}

// Functions that begin with a vector instruction are probed where the kernel runs it, and refused where it does not or
// does something else instead: what the program prints is the same, traced or not.
func TestVectorInstructionsAtEntries(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, whose instructions these are")
	}
	if cpu, err := os.ReadFile("/proc/cpuinfo"); err != nil || !strings.Contains(string(cpu), " avx2 ") {
		t.Skip("needs a processor with AVX2")
	}
	source, names := vectorSource()
	binary := need.Built(t, "gcc -O1 -mavx2", "vector.c", source)
	alone, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-q", "-e", `n = count()
probe("uprobe:`+binary+`:v_*", lambda e: n[e.func].add())
at_exit(lambda: [print("hit", f, k) for f, k in n.items()])`, "-c", binary).ok(t)
	hits := map[string]bool{}
	var printed strings.Builder
	for line := range strings.Lines(e.stdout) {
		if words := strings.Fields(line); words[0] == "hit" && words[2] == "1" {
			hits[words[1]] = true
		} else {
			printed.WriteString(line)
		}
	}
	if printed.String() != string(alone) {
		t.Errorf("traced the program prints\n%s\nalone\n%s", printed.String(), alone)
	}
	for name, text := range names {
		if hits[name] != vectorFunctions[text] {
			t.Errorf("%s is probed: %v", text, hits[name])
		}
		if vectorFunctions[text] {
			continue
		}
		e := startrace(t, "-q", "count", "uprobe:"+binary+":"+name, "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, "begins with an instruction that the kernel cannot run") {
			t.Errorf("%s: %q", text, e.stderr)
		}
	}
}
