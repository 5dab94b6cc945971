package abi

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/keeper"
	"github.com/startrace/startrace/test/need"
)

// compilers are those of both architectures, with what runs their programs on this one. clang before 18 does not keep
// to the ABI with __int128 on the stack, and moves a long double by instructions that change what is no number.
var compilers = []struct {
	arch, compiler, runner string
	plain                  []plainType
}{
	{"amd64", "gcc", "", plainTypes},
	{"amd64", "clang", "", plainTypes[:7]},
	{"arm64", "aarch64-linux-gnu-gcc", "qemu-aarch64-static", plainTypes},
}

// signatures is how many random ones each compiler is asked about.
func signatures() int {
	if testing.Short() {
		return 25
	}
	return 200
}

// emulator skips a test without what runs programs of an architecture.
func emulator(t *testing.T, name, arch string) string {
	t.Helper()
	if name == "" {
		t.Skipf("needs a machine of %s", arch)
	}
	return need.Program(t, name)
}

// TestAgainstCompilers calls functions of random signatures, compiled by the compilers that are here. What is called
// keeps all registers and the stack as it found them; the bytes of each argument must be where Assign says.
func TestAgainstCompilers(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.compiler, func(t *testing.T) {
			need.Program(t, c.compiler)
			run := ""
			if runtime.GOARCH != c.arch {
				run = emulator(t, c.runner, c.arch)
			}
			g := &generator{plain: c.plain, Rand: rand.New(rand.NewPCG(11, uint64(len(c.compiler))))}
			lines := compileAndRun(t, c.compiler, run, g.program(c.arch))
			for i, sig := range g.calls {
				checkCall(t, c.arch, sig, strings.Fields(lines[i]))
			}
		})
	}
}

func compileAndRun(t *testing.T, compiler, runner, source string) []string {
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "calls.c"), filepath.Join(dir, "calls")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-w", "-O1", "-static", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := []string{binary}
	if runner != "" {
		command = []string{runner, binary}
	}
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(string(out), "\n")
}

// A generated call: the types of its arguments in C and as values.
type generatedCall struct {
	text   string
	values []Value
	result Value
}

type generator struct {
	*rand.Rand
	plain []plainType
	types strings.Builder
	n     int
	calls []generatedCall
}

type plainType struct {
	name string
	v    Value
}

var plainTypes = []plainType{
	{"char", Int.Value(1)}, {"short", Int.Value(2)}, {"int", Int.Value(4)}, {"long", Int.Value(8)},
	{"void *", Int.Value(8)},
	{"float", Float.Value(4)}, {"double", Float.Value(8)}, {"long double", Value{}}, {"__int128", Int.Value(16)},
}

// typ gives a random type: a plain one, or a struct of some.
func (g *generator) typ(arch string, depth int) (string, Value) {
	if depth > 0 && g.IntN(3) == 0 {
		return g.structType(arch, depth)
	}
	p := g.plain[g.IntN(len(g.plain))]
	if p.name == "long double" {
		if p.v = Long.Value(16); arch == "arm64" {
			p.v = Vector.Value(16)
		}
	}
	return p.name, p.v
}

func (g *generator) structType(arch string, depth int) (string, Value) {
	v := Value{Composite: true, Align: 1}
	packed := g.IntN(10) == 0
	var members strings.Builder
	for i := range 1 + g.IntN(4) {
		name, m := g.typ(arch, depth-1)
		if packed {
			m.Align = 1
		}
		repeat := 1
		if g.IntN(5) == 0 {
			repeat = 1 + g.IntN(4)
		}
		fmt.Fprintf(&members, " %s m%d[%d];", name, i, repeat)
		for range repeat {
			v.Size = (v.Size + m.Align - 1) / m.Align * m.Align
			for _, s := range m.Scalars {
				s.Off += v.Size
				v.Scalars = append(v.Scalars, s)
			}
			v.Size, v.Align = v.Size+m.Size, max(v.Align, m.Align)
		}
	}
	v.Size = (v.Size + v.Align - 1) / v.Align * v.Align
	g.n++
	attribute := ""
	if packed {
		attribute = "__attribute__((packed))"
	}
	fmt.Fprintf(&g.types, "struct s%d {%s } %s;\n", g.n, members.String(), attribute)
	return fmt.Sprintf("struct s%d", g.n), v
}

// program makes functions that call keep() with arguments of all types, each of whose bytes is known.
func (g *generator) program(arch string) string {
	var body strings.Builder
	for i := range signatures() {
		call := generatedCall{}
		var types, names []string
		fmt.Fprintf(&body, "void call%d(void) {\n", i)
		ret, result := g.typ(arch, 2)
		if g.IntN(3) == 0 {
			ret, result = "void", Value{}
		}
		for j := range 1 + g.IntN(10) {
			name, v := g.typ(arch, 2)
			call.values = append(call.values, v)
			types, names = append(types, name), append(names, fmt.Sprintf("a%d", j))
			fmt.Fprintf(&body, "%s a%d; fill(&a%d, sizeof a%d, %d);\n", name, j, j, j, j)
		}
		call.result = result
		call.text = fmt.Sprintf("%s (*)(%s)", ret, strings.Join(types, ", "))
		fmt.Fprintf(&body, "((%s)keep)(%s); dump();\n}\n", call.text, strings.Join(names, ", "))
		g.calls = append(g.calls, call)
	}
	body.WriteString("int main(void) { char room[8192]; asm volatile(\"\" :: \"r\"(room) : \"memory\");\n")
	for i := range signatures() {
		fmt.Fprintf(&body, "call%d();\n", i)
	}
	return keeper.C(arch, 4096) + harness + g.types.String() + body.String() + "return 0; }\n"
}

// known is byte i of argument j.
func known(j, i int) byte { return byte(j*37 + i*3 + 1) }

const harness = `
static void dump(void) { hex(ints, sizeof ints); hex(floats, sizeof floats); hex(stack, sizeof stack);
#ifdef __aarch64__
	/* Copies that were passed by their address. */
	for (int i = 0; i < 8; i++) { unsigned char *p = (unsigned char *)ints[i];
		int near = p > sp - 65536 && p < sp + 65536;
		if (near) hex(p, 1024); else printf("- "); }
	for (int i = 0; i < 16; i++) {
		unsigned char *p; memcpy(&p, stack + 8 * i, 8);
		int near = p > sp - 65536 && p < sp + 65536;
		if (near) hex(p, 1024); else printf("- "); }
#endif
	printf("\n"); }
`

// checkCall compares what keep() found with what is known of each scalar.
func checkCall(t *testing.T, arch string, call generatedCall, fields []string) {
	var memory [][]byte
	for _, f := range fields {
		b, err := hex.DecodeString(f)
		if err != nil {
			b = nil
		}
		memory = append(memory, b)
	}
	c := Of(arch)
	for j, l := range c.Assign(call.values, call.result).Params {
		bytes := gather(c, l, memory)
		for _, s := range call.values[j].Scalars {
			for i := s.Off; i < s.Off+min(s.Size, x87Bytes(s)); i++ {
				if i >= len(bytes) || bytes[i] != known(j, i) {
					t.Errorf("%s, argument %d: byte %d is not at %s", call.text, j, i, text(l))
					return
				}
			}
		}
	}
}

// x87Bytes is how many bytes of a scalar are kept when it is moved: 80 bits of a long double.
func x87Bytes(s Scalar) int {
	if s.Kind == Long {
		return 10
	}
	return s.Size
}

// gather puts the bytes of a value together, from ints, floats, the stack and what pointers lead to.
func gather(c *Convention, l Location, memory [][]byte) []byte {
	var out []byte
	for _, p := range l.Places {
		switch p.Where {
		case Nowhere:
			out = append(out, make([]byte, p.Bytes)...)
		case Register:
			n := index(c.Ints, p.Name)
			if l.Indirect {
				return memory[3+n]
			}
			out = append(out, memory[0][8*n:8*n+p.Bytes]...)
		case Other:
			n := index(c.Floats, p.Name)
			out = append(out, memory[1][16*n:16*n+p.Bytes]...)
		case Stack:
			if l.Indirect {
				return memory[3+8+p.Off/8]
			}
			out = append(out, memory[2][p.Off:p.Off+p.Bytes]...)
		}
	}
	return out
}

func index(list []string, name string) int {
	for i, s := range list {
		if s == name {
			return i
		}
	}
	return -1
}
