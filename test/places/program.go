package places

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/startrace/startrace/test/keeper"
)

// Programs of C with random functions, built and run.

// A Compiler builds the programs, and Runner, if it is not "", runs them on this machine.
type Compiler struct {
	// Arch is the architecture as Go has it, Command the compiler, and Runner what runs a program of that architecture
	// here; "" where programs run by themselves.
	Arch, Command, Runner string
	// Rare: the types that it passes include long double, __int128 and complex ones.
	Rare bool
	// Wide: the types have __int128, also without Rare.
	Wide bool
	// Odd: those of which only gcc for amd64 is known to pass them so: decimal floats, ints that are complex or atomic.
	Odd bool
	// Aligned: types and members that the source aligns, which BTF does not tell, and vectors.
	Aligned bool
}

// A Value is one as the program knows it: its Bytes, of which those count whose bits are set in Mask. Others are
// padding.
type Value struct{ Bytes, Mask []byte }

// A Call is what one call of function fN had at its first instruction, and what its result was.
type Call struct {
	// Function is the function's name, Text the same with the types of its parameters and its result.
	Function, Text string
	// Args are the values that it was given, Entry is what registers and the stack held at its first instruction.
	Args  []Value
	Entry State
	// Result is the value that it returned, Return is what registers and the stack held by then.
	Result Value
	Return State
}

// A State is what registers and the stack held.
type State struct {
	Ints, Floats, Stack []byte // 8 bytes for each, 16 for each, and from the stack pointer
	// At is what lies where an integer register points to, if it points to the stack; Through where the word on the
	// stack does.
	At, Through [][]byte
}

// Run compiles a program of n functions into dir, runs it, and gives its path and the calls.
func (c Compiler) Run(dir string, seed uint64, n int) (binary string, calls []Call, err error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 14)), rare: c.Rare, wide: c.Wide, odd: c.Odd, aligned: c.Aligned}
	source, calls := g.program(c.Arch, n)
	file, binary := filepath.Join(dir, "places.c"), filepath.Join(dir, "places")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return "", nil, err
	}
	words := append(strings.Fields(c.Command), "-w", "-static", "-o", binary, file)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%v: %w\n%s", words, err, out)
	}
	out, err := exec.Command(append(strings.Fields(c.Runner), binary)[0],
		append(strings.Fields(c.Runner), binary)[1:]...).Output()
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", binary, err)
	}
	lines := strings.Split(string(out), "\n")
	for i := range calls {
		if err := calls[i].read(strings.Fields(lines[i])); err != nil {
			return "", nil, fmt.Errorf("%s: %w", calls[i].Text, err)
		}
	}
	return binary, calls, nil
}

// program makes the source.
func (g *generator) program(arch string, n int) (source string, calls []Call) {
	var body, main strings.Builder
	for i := range n {
		call, text := g.call(i)
		calls = append(calls, call)
		body.WriteString(text)
		fmt.Fprintf(&main, "call%d();\n", i)
	}
	return keeper.C(arch, 2048) + harness + throughs[arch] + g.types.String() + body.String() +
		"int main(void) { char room[1 << 17]; asm volatile(\"\" :: \"r\"(room) : \"memory\");\n" + main.String() +
		"return 0; }\n", calls
}

// call makes a function and what calls it.
func (g *generator) call(i int) (call Call, text string) {
	var b strings.Builder
	var types, params, names []string
	fmt.Fprintf(&b, "static void call%d(void) {\n", i)
	result := g.typ(2)
	call.Args = make([]Value, g.IntN(10))
	for j := range call.Args {
		t, name := g.typ(2), fmt.Sprintf("a%d", j)
		b.WriteString(value(t, name, j))
		types, names = append(types, t.name), append(names, name)
		params = append(params, t.name+" "+name)
	}
	call.Function = fmt.Sprintf("f%d", i)
	call.Text = fmt.Sprintf("%s %s(%s)", result.name, call.Function, strings.Join(types, ", "))
	fmt.Fprintf(&b, "((%s (*)(%s))keep)(%s); entry();\n", result.name, strings.Join(types, ", "),
		strings.Join(names, ", "))
	b.WriteString(value(result, "r", 50))
	fmt.Fprintf(&b, "memcpy(&r%d, &r, sizeof r); target = r%d_of;\n", i, i)
	fmt.Fprintf(&b, "volatile %s out = ((%s (*)(void))through)(); leaving(); printf(\"\\n\");\n}\n", result.name,
		result.name)
	f := fmt.Sprintf("static %s r%d;\n__attribute__((noinline)) %s %s(%s) { asm volatile(\"\"); return r%d; }\n",
		result.name, i, result.name, call.Function, strings.Join(params, ", "), i)
	f += fmt.Sprintf("static __attribute__((noinline)) %s r%d_of(void) { asm volatile(\"\"); return r%d; }\n",
		result.name, i, i)
	return call, f + b.String()
}

// value declares a variable with bytes that are known, and prints them with the mask of those that count.
func value(t ctype, name string, j int) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"%s %s; fill(&%s, sizeof %s, %d); unsigned char m_%s[sizeof %s + 1]; memset(m_%s, 0, sizeof m_%s);\n",
		t.name, name, name, name, j, name, name, name, name)
	fmt.Fprintf(&b, "{ %s k;\n", t.name)
	for _, l := range t.leaves {
		fmt.Fprintf(&b, "memset(&k, 0, sizeof k); %s join(m_%s, &k, sizeof k);\n", l.set("k"), name)
	}
	b.WriteString("}\n")
	for i, l := range t.leaves {
		if l.kind == truth {
			fmt.Fprintf(&b, "%s%s = %d;\n", name, l.path, (i+j)%2)
		}
	}
	fmt.Fprintf(&b, "hex(&%s, sizeof %s); hex(m_%s, sizeof %s);\n", name, name, name, name)
	return b.String()
}

// read takes the fields that the program printed for a call.
func (c *Call) read(fields []string) error {
	at := 0
	next := func() (b []byte, err error) {
		if at++; at > len(fields) {
			return nil, fmt.Errorf("%d fields were printed", len(fields))
		}
		if fields[at-1] == "-" {
			return nil, nil
		}
		return hex.DecodeString(fields[at-1])
	}
	var all []*[]byte
	for i := range c.Args {
		all = append(all, &c.Args[i].Bytes, &c.Args[i].Mask)
	}
	all = append(all, c.Entry.parts()...)
	all = append(all, &c.Result.Bytes, &c.Result.Mask)
	all = append(all, c.Return.parts()...)
	for _, to := range all {
		b, err := next()
		if err != nil {
			return err
		}
		*to = b
	}
	return nil
}

func (s *State) parts() []*[]byte {
	out := []*[]byte{&s.Ints, &s.Floats, &s.Stack}
	s.At, s.Through = make([][]byte, 8), make([][]byte, 32)
	for i := range s.At {
		out = append(out, &s.At[i])
	}
	for i := range s.Through {
		out = append(out, &s.Through[i])
	}
	return out
}

// Differs says where a value is not what was found, "" if nowhere.
func (v Value) Differs(found []byte) string {
	for i, m := range v.Mask {
		switch {
		case m == 0:
		case i >= len(found):
			return fmt.Sprintf("byte %d is nowhere", i)
		case found[i]&m != v.Bytes[i]&m:
			return fmt.Sprintf("byte %d is %#x, found %#x", i, v.Bytes[i]&m, found[i]&m)
		}
	}
	return ""
}
