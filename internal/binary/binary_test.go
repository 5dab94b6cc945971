package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/test/need"
)

// assembly are functions of known instructions, by architecture.
var assembly = map[string][][2]string{
	"amd64": {
		{"plain", "push %rbp; mov %rsp,%rbp; pop %rbp; ret"}, {"locked", "lock incl (%rdi); ret"},
		{"landed", "nop; ret"}, {"tailed", "test %rdi,%rdi; je 1f; jmp landed; 1: ret"}, {"onward", "jmp tailed"},
		{"elsewhere", "jmp *(%rdi)"},
		{"mixed", "test %rdi,%rdi; je elsewhere; jmp elsewhere"}, {"maybe", "test %rdi,%rdi; je landed; ret"},
		{"turn", "dec %rdi; jmp about"}, {"about", "dec %rdi; jne 1f; ret; 1: jmp turn"}, {"never", "ud2"},
	},
	"arm64": {
		{"plain", "stp x29,x30,[sp,-16]!; ldp x29,x30,[sp],16; ret"},
		{"locked", "ldaxr w1,[x0]; stlxr w2,w1,[x0]; ret"},
		{"landed", "nop; ret"}, {"tailed", "cbz x0,1f; b landed; 1: ret"}, {"onward", "b tailed"},
		{"elsewhere", "ldr x1,[x0]; br x1"},
		{"mixed", "cbz x0,elsewhere; b elsewhere"}, {"maybe", "cbz x0,landed; ret"},
		{"turn", "sub x0,x0,1; b about"}, {"about", "subs x0,x0,1; bne 1f; ret; 1: b turn"}, {"never", "nop; udf 0"},
	},
}

// source is a program that has them, and looks like one in which exceptions pass.
func source() string {
	var out strings.Builder
	for _, f := range assembly[runtime.GOARCH] {
		fmt.Fprintf(&out, "__asm__(\".globl %[1]s\\n.type %[1]s, %%function\\n"+
			"%[1]s: %[2]s\\n.size %[1]s, .-%[1]s\\n\");\n", f[0], f[1])
	}
	out.WriteString("void plain(void);\nvoid locked(int *);\nvoid __gxx_personality_v0(void) {}\n" +
		"int main(void) { int n = 0; plain(); locked(&n); return 0; }\n")
	return out.String()
}

// compiler is a C compiler for the architecture of this program, which may run in an emulator.
func compiler(t *testing.T) string {
	t.Helper()
	target := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, name := range []string{target + "-gcc", "gcc"} {
		if out, err := exec.Command(name, "-dumpmachine").Output(); err == nil &&
			strings.HasPrefix(string(out), strings.TrimSuffix(target, "linux-gnu")) {
			return name
		}
	}
	t.Skipf("needs a gcc that builds for %s (gcc-%s)", runtime.GOARCH, strings.ReplaceAll(target, "_", "-"))
	return ""
}

func build(t *testing.T) string {
	t.Helper()
	cc := compiler(t)
	dir := t.TempDir()
	name, out := filepath.Join(dir, "main.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(name, []byte(source()), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(cc, "-no-pie", "-o", out, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func finder(t *testing.T) *Finder {
	f := &Finder{}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// A probe stands where an instruction begins, and within the function.
func TestInside(t *testing.T) {
	f, path := finder(t), build(t)
	list, at, err := f.Functions(Query{File: path, Pattern: "plain"})
	if err != nil || len(list) != 1 || list[0].Entry != list[0].Start {
		t.Fatalf("got %+v, %v", list, err)
	}
	for offset, want := range map[string]map[uint64]string{
		"amd64": {
			0: "", 1: "", 4: "", 5: "",
			2: `middle of an instruction, which begins at plain\+0x1`, 3: `begins at plain\+0x1`,
			6: "plain ends before: it has 6 bytes", 1 << 40: "ends before",
		},
		"arm64": {
			0: "", 4: "", 8: "",
			1: `middle of an instruction, which begins at plain\+0x0`, 7: `begins at plain\+0x4`,
			12: "plain ends before: it has 12 bytes", 1 << 40: "ends before",
		},
	}[runtime.GOARCH] {
		err := f.Inside(at, list[0], offset)
		if (err == nil) != (want == "") || err != nil && !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("+%d: got %v, want %q", offset, err, want)
		}
	}
}

// An address is a function, a place in one, or no code.
func TestAddress(t *testing.T) {
	f, path := finder(t), build(t)
	e, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	fns, err := e.Lookup("plain")
	if err != nil {
		t.Fatal(err)
	}
	for inside, returns := range []bool{true, false} {
		list, _, err := f.Functions(Query{File: path, Pattern: fmt.Sprintf("%#x", fns[0].Addr+uint64(inside))})
		if err != nil || len(list) != 1 {
			t.Fatalf("got %+v, %v", list, err)
		}
		if got := list[0]; got.Name != "plain" || got.Inside != uint64(inside) ||
			got.Entry != fns[0].Offset+uint64(inside) || (got.NoReturn == "") != returns {
			t.Errorf("+%d: got %+v", inside, got)
		}
	}
	for text, want := range map[string]string{"0x10": "0x10 is not in the file's code, which lies from 0x40",
		"0xzz": "0xzz is no address"} {
		_, _, err := f.Functions(Query{File: path, Pattern: text})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// What the kernel would refuse is left out of patterns, and named when it is asked for.
func TestSteppable(t *testing.T) {
	f, path := finder(t), build(t)
	list, at, err := f.Functions(Query{File: path, Pattern: "{plain,locked,main}"})
	if err != nil || len(list) != 2 || at.Left != 1 || !strings.Contains(at.Why, "locked of ") ||
		!strings.Contains(at.Why, map[string]string{"amd64": "prefix lock",
			"arm64": "an exclusive load"}[runtime.GOARCH]) {
		t.Errorf("got %+v, left %d: %s, %v", list, at.Left, at.Why, err)
	}
	if _, _, err := f.Functions(Query{File: path, Pattern: "locked"}); err == nil ||
		!strings.Contains(err.Error(), "cannot be probed: it begins with an instruction that the kernel cannot run") {
		t.Errorf("got %v", err)
	}
}

// A call ends where the functions return to which it is left, as far as that is known.
//
// > A jump through a register is not seen.
func TestEnds(t *testing.T) {
	f, path := finder(t), build(t)
	at := map[string]uint64{}
	for _, name := range []string{"landed", "tailed", "onward", "elsewhere", "mixed", "maybe", "turn", "about"} {
		list, _, err := f.Functions(Query{File: path, Pattern: name})
		if err != nil || len(list) != 1 || list[0].NoReturn != "" {
			t.Fatalf("%s: got %+v, %v", name, list, err)
		}
		at[name] = list[0].Start
	}
	nop := map[string]uint64{"amd64": 1, "arm64": 4}[runtime.GOARCH]
	// On amd64 je is a byte and an offset of 8 bits, jmp one and 8 bits or 32; test and dec take 3.
	ret := map[string]uint64{"landed": at["landed"] + nop}
	for _, c := range []struct {
		name                 string
		returns, tails, ends int
		endTails             int
		others               []uint64
	}{
		{"landed", 1, 0, 1, 0, nil},
		{"tailed", 2, 1, 2, 0, []uint64{at["landed"]}},
		{"onward", 1, 1, 2, 0, []uint64{at["tailed"], at["landed"]}},
		{"elsewhere", 1, 1, 1, 1, nil},
		{"mixed", 1, 1, 1, 1, []uint64{at["elsewhere"]}},
		{"maybe", 1, 0, 2, 0, []uint64{at["landed"]}},
		{"turn", 1, 1, 1, 1, nil},
		{"about", 2, 1, 2, 1, nil},
	} {
		list, _, err := f.Functions(Query{File: path, Pattern: c.name})
		if err != nil {
			t.Fatal(err)
		}
		got := list[0]
		if len(got.Returns) != c.returns || got.Tails != c.tails || len(got.Ends.At) != c.ends ||
			got.Ends.Tails != c.endTails || !slices.Equal(got.Ends.Others, c.others) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c)
		}
		if through := slices.Contains([]string{"landed", "tailed", "onward", "maybe"},
			c.name); slices.Contains(got.Ends.At, ret["landed"]) != through {
			t.Errorf("%s ends at %#x, want %v: %#x", c.name, got.Ends.At, through, ret)
		}
	}
	list, _, err := f.Functions(Query{File: path, Pattern: "never"})
	if err != nil || !strings.Contains(list[0].NoReturn, "never returns") {
		t.Errorf("got %+v, %v", list, err)
	}
}

// A function of Go that never returns has no return to probe: a return probe would end the program.
func TestNeverReturns(t *testing.T) {
	need.Program(t, "go")
	dir := t.TempDir()
	name, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	const text = "package main\n//go:noinline\nfunc never(n int) { panic(n) }\n//go:noinline\n" +
		"func some(n int) int { if n > 3 { never(n) }; return n }\nfunc main() { println(some(1)) }\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("go", "build", "-o", out, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f := finder(t)
	for name, returns := range map[string]bool{"main.never": false, "main.some": true} {
		list, _, err := f.Functions(Query{File: out, Pattern: name})
		if err != nil || len(list) != 1 || (list[0].NoReturn == "") != returns ||
			(len(list[0].Ends.At) > 0) != returns {
			t.Errorf("%s: got %+v, %v", name, list, err)
		}
	}
}
