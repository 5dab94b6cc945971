package ctypes

import (
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/smallkernel"
)

func small(t testing.TB) *kernel.BTF {
	t.Helper()
	btf, err := kernel.ParseBTF(smallkernel.BTF(t, smallkernel.Types()...))
	if err != nil {
		t.Fatal(err)
	}
	return btf
}

// A maker makes random declarations, and the lines of a C program that print how a compiler lays them out.
type maker struct {
	r      *rand.Rand
	fields int
	// paths are the fields of the struct that is being made.
	paths []path
}

// A path leads to a field, which is a bit-field or has an address; bool says that its only value is 1.
type path struct {
	name string
	bits bool
	bool bool
}

func (m *maker) pick(list ...string) string { return list[m.r.IntN(len(list))] }

func (m *maker) one(n int) bool { return m.r.IntN(n) == 0 }

var numberTypes = []string{"char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned",
	"long", "unsigned long long", "long long int", "_Bool", "enum small", "enum large", "u3"}

// member is one declaration of a member, with the fields that it adds below prefix.
func (m *maker) member(prefix string, depth int) string {
	m.fields++
	name := fmt.Sprintf("f%d", m.fields)
	add := func(p path) { p.name = prefix + p.name; m.paths = append(m.paths, p) }
	end := m.pick("", "", "", "", "", " __attribute__((packed))", " __attribute__((aligned(8)))",
		" __attribute__((aligned(2), packed))") + ";\n"
	switch k := m.r.IntN(12); {
	case k < 4:
		typ := m.pick(numberTypes...)
		most := map[string]int{"char": 8, "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16,
			"_Bool": 1, "int": 32, "unsigned": 32, "enum small": 32, "enum large": 32, "u3": 32}[typ]
		if most == 0 {
			most = 64
		}
		if m.one(8) {
			return typ + fmt.Sprintf(" : %d;\n", m.r.IntN(most+1))
		}
		add(path{name, true, typ == "_Bool"})
		return fmt.Sprintf("%s %s : %d;\n", typ, name, 1+m.r.IntN(most))
	case k < 7 || depth > 2:
		add(path{name, false, false})
		typ := m.pick(append([]string{"float", "double", "long double", "struct before", "packed_t", "__int128",
			"char *", "struct nowhere *", "wide_t"}, numberTypes...)...)
		return typ + " " + name + end
	case k == 7:
		add(path{name, false, false})
		return fmt.Sprintf("%s %s[%d][%s]%s", m.pick("char", "int", "struct before", "void *"), name, 1+m.r.IntN(3),
			m.pick("2", "sizeof(long)", "B + 1", "(3 << 1) % 4"), end)
	case k == 8:
		add(path{name, false, false})
		return fmt.Sprintf("%s (*%s)(int, struct nowhere *)%s", m.pick("int", "void", "char *"), name, end)
	case k == 9:
		add(path{name, false, false})
		return fmt.Sprintf("int (*%s[2])[3]%s", name, end)
	}
	word := m.pick("struct", "union")
	attribute := m.pick("", "", " __attribute__((packed))", " __attribute__((aligned(4)))")
	inner, at := prefix, ""
	if m.one(2) {
		at, inner = " "+name, prefix+name+"."
	}
	return word + attribute + " {\n" + m.body(inner, depth+1) + "}" + at + end
}

func (m *maker) body(prefix string, depth int) (out string) {
	for range 1 + m.r.IntN(6) {
		out += m.member(prefix, depth)
	}
	m.fields++
	ends := m.one(4) // with bits that reach to the end of a unit
	m.paths = append(m.paths, path{fmt.Sprintf("%sf%d", prefix, m.fields), ends, false})
	if ends {
		return out + fmt.Sprintf("short f%d : 13;\n%s : 0;\n", m.fields, m.pick("char", "short", "int", "long"))
	}
	return out + fmt.Sprintf("char f%d;\n", m.fields)
}

const before = `
enum small { A, B = 3, C = -4 };
enum large { D = 0x7fffffff, E = 0x80000000 };
enum __attribute__((packed)) tiny { F = 200 };
typedef unsigned int u3;
struct before { char a; short b : 5; int : 4; enum tiny t; };
typedef struct __attribute__((packed)) { char c; long l; } packed_t;
typedef int wide_t __attribute__((aligned(16)));
`

// place is where a field is: of a bit-field the bytes in which only its bits are set.
func place(t *testing.T, btf *kernel.BTF, id kernel.TypeID, p path) string {
	t.Helper()
	off := 0
	var f kernel.Field
	for _, name := range strings.Split(p.name, ".") {
		var err error
		if f, err = btf.Field(id, name); err != nil {
			return err.Error()
		}
		off, id = off+f.Off, f.Type
	}
	size, err := btf.Size(id)
	if err != nil {
		return err.Error()
	}
	if !p.bits {
		return fmt.Sprint(off, " ", size)
	}
	bits := 8*off + int(f.Bit)
	width := int(f.BitSize)
	if p.bool {
		width = 1
	}
	return fmt.Sprint("bits ", bits, " ", width)
}

// Structs and unions are laid out as a compiler does it, for the architecture that it builds for.
//
// > They are laid out as the C compilers of the machine do it, with bit-fields, anonymous members, `packed` and
// > `aligned(n)`.
func TestLayouts(t *testing.T) {
	need.Sources(t, "../..")
	for _, c := range []struct{ compiler, runner string }{
		{"gcc", ""}, {"clang", ""}, {"aarch64-linux-gnu-gcc -static", "qemu-aarch64-static"},
	} {
		t.Run(c.compiler, func(t *testing.T) { compared(t, c.compiler, c.runner, 300) })
	}
}

// output is what a program prints that a compiler has made, and the architecture that it is for. A runner, if it is not
// "", runs programs of that architecture on others.
func output(t *testing.T, compiler, runner, source string) (arch string, lines []string) {
	t.Helper()
	built := need.Built(t, compiler+" -w", "layout.c", source)
	f, err := elf.Open(built)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	command := exec.Command(built)
	if runner != "" {
		command = exec.Command(need.Program(t, runner), built)
	}
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	arch = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	return arch, strings.Split(strings.TrimSpace(string(out)), "\n")
}

func compared(t *testing.T, compiler, runner string, n int) {
	m := &maker{r: rand.New(rand.NewPCG(1, 2))}
	program := "#include <stdio.h>\n#include <stddef.h>\n#include <string.h>\n" + before
	program += `static void bits(const unsigned char *p, size_t n) {
	int first = -1, count = 0;
	for (size_t i = 0; i < 8 * n; i++) if (p[i / 8] >> i % 8 & 1) { if (first < 0) first = i; count++; }
	printf("bits %d %d\n", first, count);
}
`
	text, asks := before, ""
	all := map[string][]path{}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		m.paths, m.fields = nil, 0
		word := m.pick("struct", "struct", "struct", "union")
		def := fmt.Sprintf("%s %s {\n%s}%s;\n", word, name, m.body("", 0), m.pick("", "", " __attribute__((packed))",
			" __attribute__((aligned(32)))"))
		text, program = text+def, program+def
		name = word + " " + name
		asks += fmt.Sprintf("	printf(\"%%zu\\n\", sizeof(%s));\n", name)
		for _, p := range m.paths {
			if p.bits {
				value := "-1"
				if p.bool {
					value = "1"
				}
				asks += fmt.Sprintf("	{ %s s; memset(&s, 0, sizeof s); s.%s = %s; bits((void *)&s, sizeof s); }\n",
					name, p.name, value)
				continue
			}
			asks += fmt.Sprintf("	printf(\"%%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%[1]s *)0)->%[2]s));\n",
				name, p.name)
		}
		all[name] = m.paths
	}
	program += "int main(void) {\n" + asks + "	return 0;\n}\n"
	arch, lines := output(t, compiler, runner, program)
	btf := small(t)
	types, _, err := Read(btf, arch, text)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	wrong := 0
	for i := range n {
		for _, word := range []string{"struct", "union"} {
			name := fmt.Sprintf("%s s%d", word, i)
			paths, ok := all[name]
			if !ok {
				continue
			}
			id, known := types.Named(name)
			size, err := btf.Size(id)
			bad := ""
			if !known || err != nil || fmt.Sprint(size) != lines[at] {
				bad += fmt.Sprintf("\nsize %d, want %s (%v)", size, lines[at], err)
			}
			at++
			for _, p := range paths {
				if got := place(t, btf, id, p); got != lines[at] {
					bad += fmt.Sprintf("\n%s: %s, want %s", p.name, got, lines[at])
				}
				at++
			}
			if bad != "" {
				if wrong++; wrong < 5 {
					from := strings.Index(text, "\n"+name+" {")
					t.Errorf("%s:%s\n%s", name, bad, text[from:from+strings.Index(text[from:], "\n}")+40])
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d are laid out wrongly", wrong, n)
	}
}

// > A text has no preprocessor lines.
//
// A mistake has its place, and says what was found and what was wanted.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"struct s { int a }": "1:18: got }, want ; behind the member",
		"struct s {\n  itn a;\n};": "2:3: no type itn is declared before, " +
			"nor has the kernel one; did you mean int?",
		"struct s { int a; char a; };": "1:24: there is a member a already",
		"struct s { struct t x; };":    "1:12: the size of this member is not known: its type is not declared before",
		"struct s { struct s x; };":    "1:12: the size of this member is not known: its type is not declared before",
		"struct s { int a : 33; };":    "1:20: a bit-field of 33 bits; want 1 to 32",
		"struct s { float a : 3; };":   "1:22: a bit-field is an int, a bool or an enum",
		"struct s { int a[x]; };":      "1:18: no constant x is known; want a number, or a constant of an enum",
		"struct s { int a[-1]; };":     "1:17: an array of -1 elements; want 0 to 268435456",
		"#include <x.h>": "1:1: a preprocessor line; want the types as the compiler sees them, without #include " +
			"and #define",
		"int x;":                              "1:1: got int, want a struct, a union, an enum, a typedef or a provider",
		"provider { };":                       "1:10: got {, want the name of the provider",
		"provider p probe":                    "1:12: got probe, want { behind the name of the provider",
		"provider p { probe a(int n) };":      "1:29: got }, want ; behind the probe",
		"provider p { probe a(int n int m);}": "1:28: got int, want , or ) behind the parameter",
		"provider p { probe a(char t[n]); };": "1:22: the length of t is n, which is no parameter of this probe",
		"provider p { probe a(struct s { int i; } x); }": "1:22: the argument x of a static probe is one word; " +
			"want an int, an enum, a pointer, or char x[LENGTH] with the parameter that is its length",
		"struct s { int a; }; struct s { int b; };": "1:29: struct s is declared twice",
		"struct s { int a; } x;": "1:21: got x, want ; behind the declaration: " +
			"variables and functions are not declared here",
		"struct s { int a __attribute__((weak)); };": "1:33: the attribute weak is not known; " +
			"want packed or aligned(n)",
		"struct s { int (*a)(int; };":      "1:28: the parameters have no end: ) is missing",
		"struct s { unsigned double a; };": "1:12: these words make no type of C together",
		"struct s { ":                      "1:12: the members have no end: } is missing",
		"/* x":                             "1:1: this comment has no end: */ is missing",
		"typedef int;":                     "1:12: got ;, want the name that the typedef gives",
		"enum e { A, A };":                 "1:13: the constant A is declared twice",
		"enum e { A, 3 };":                 "1:13: got 3, want the name of a constant",
	} {
		_, _, err := Read(small(t), "amd64", text)
		at := (*Error)(nil)
		if !errors.As(err, &at) {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprintf("%d:%d: %v", at.Line, at.Column, at); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// The table of static probes can be read. Each argument is one word and has a name, a probe of as many arguments is
// there once, and what a script declares comes before it.
func TestKnownStaticProbes(t *testing.T) {
	btf := small(t)
	table, _, err := Read(btf, "amd64", providers)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for key, all := range table.probes {
		counts := map[int]bool{}
		for _, params := range all {
			names := map[string]bool{}
			for _, p := range params {
				if p.Name == "" || names[p.Name] {
					t.Errorf("%s: an argument has no name of its own: %q", key, p.Name)
				}
				names[p.Name] = true
			}
			if counts[len(params)] {
				t.Errorf("%s is there twice with %d arguments", key, len(params))
			}
			counts[len(params)] = true
			n++
		}
	}
	if n < 200 {
		t.Errorf("the table has %d probes", n)
	}
	own, _, err := Read(btf, "amd64", "provider python { probe line(int first); probe line(char *file, int n); };")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		types       *Types
		probe, want string
		count       int
	}{
		{&Types{}, "line", "filename funcname lineno", 3}, {&Types{}, "line", "", 2}, {&Types{}, "lines", "", 3},
		{own, "line", "file n", 3}, {own, "gc__start", "generation", 1},
	} {
		params, err := Operands(btf, tt.types, "python", tt.probe, tt.count)
		var names []string
		for _, p := range params {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != tt.want {
			t.Errorf("%s of %d: got %q, %v, want %q", tt.probe, tt.count, got, err, tt.want)
		}
	}
	if _, err := Operands(btf, own, "python", "line", 1); err == nil {
		t.Error("a declaration of two arguments is taken for a probe with one")
	}
}

// No text makes the reader panic, or read without end.
func FuzzRead(f *testing.F) {
	f.Add("struct s { int a : 3, *b, c[2]; union { enum { X } e; }; } __attribute__((packed)); typedef struct s t;")
	f.Add(before)
	f.Add("provider p { probe a-b(char t[n], int n, struct s *p); };")
	btf := small(f)
	f.Fuzz(func(_ *testing.T, text string) {
		if len(text) < 1<<10 {
			_, _, _ = Read(btf, "amd64", text)
		}
	})
}
