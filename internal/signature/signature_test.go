package signature

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/test/need"
)

// build compiles a source and gives what is known of its functions by their symbols.
func build(t *testing.T, command, file, source string) func(symbol string) *Signature {
	t.Helper()
	words := strings.Fields(command)
	need.Program(t, words[0])
	dir := t.TempDir()
	in, out := filepath.Join(dir, file), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(words[0], append(words[1:], "-o", out, in)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	table, err := openedFunctions(runtime.GOARCH, sectionsOf(f))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return func(symbol string) *Signature {
		t.Helper()
		i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol })
		if i < 0 {
			i = slices.IndexFunc(symbols, func(s elf.Symbol) bool {
				return strings.Contains(s.Name, symbol) && elf.ST_TYPE(s.Info) == elf.STT_FUNC
			})
		}
		if i < 0 {
			t.Fatalf("no symbol %s", symbol)
		}
		if AlterationOf(symbols[i].Name) != Unchanged {
			return nil
		}
		sig, err := table.Of(symbols[i].Value)
		if err != nil {
			t.Error(err)
		}
		return sig
	}
}

func text(s *Signature) string {
	if s == nil {
		return "unknown"
	}
	one := func(list []Word) string {
		var out []string
		for _, w := range list {
			switch {
			case w.Unknown:
				out = append(out, "unknown")
			case w.Where == abi.Other:
				out = append(out, "float")
			case w.Address:
				out = append(out, "address")
			case w.Signed:
				out = append(out, fmt.Sprintf("s%d", 8*w.Size))
			default:
				out = append(out, fmt.Sprintf("u%d", 8*w.Size))
			}
		}
		return strings.Join(out, " ")
	}
	if s.OnlyResult {
		return one(s.Result) + " (unknown)"
	}
	return one(s.Result) + " (" + one(s.Params) + ")"
}

const ofC = `
enum color { red, green }; typedef unsigned short port; struct pair { long a; double b; };
__attribute__((noinline)) double scaled(int a, double by, port p, const char *text,
	enum color c, _Bool b, struct pair q) {
	return a * by + p + (text != 0) + c + b + q.a; }
__attribute__((noinline)) static int hidden(int a, float f) { __asm__ volatile("" : "+r"(a)); return a + (int)f; }
__attribute__((noinline)) struct pair both(long a) { struct pair p = {a, 1}; return p; }
__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
	struct pair q = {argc, 2}; nothing();
	return (int)scaled(argc, 2, 3, *argv, red, 1, q) + hidden(argc, (float)argc) + (int)both(3).a; }
`

const ofCpp = `
struct plain { int a, b; }; class owner { public: int a; owner(const owner &o); owner(int n); ~owner(); };
owner::owner(const owner &o) : a(o.a) {} owner::owner(int n) : a(n) {} owner::~owner() { a = 0; }
namespace ns { __attribute__((noinline)) int counted(plain p, int &n, double d) { return n += p.a + (int)d; } }
__attribute__((noinline)) int owned(owner o, int n) { return o.a + n; }
int main(int argc, char **) { return ns::counted(plain{1, 2}, argc, 2) + owned(owner(3), argc); }
`

const ofGo = `package main
//go:noinline
func mixed(a int8, f float64, s string, list []byte, err error) (float64, int) {
	return f + float64(a), len(s) + len(list) }
//go:noinline
func generic[T any](t T, n int) int { return n }
//go:noinline
func twice[T any](t T, n int) (int, int) { return n, n }
func main() { mixed(1, 2, "x", nil, nil); println(generic("x", 3), generic(2, 3)); println(twice("x", 3)) }
`

// What debug information tells of functions, by language.
func TestSignatures(t *testing.T) {
	c := map[string]string{
		"scaled": "float (s32 float u16 address u32 u8 s64 float)", "both": "s64 float (s64)", "nothing": " ()",
	}
	for _, test := range []struct {
		command, file, source string
		want                  map[string]string
	}{
		{"gcc -g -O1", "x.c", ofC, c},
		{"gcc -gdwarf-4 -O0", "x.c", ofC, c},
		{"clang -g -O1", "x.c", ofC, c},
		{"g++ -g -O1", "x.cc", ofCpp, map[string]string{"counted": "s32 (s64 address float)"}},
		{"go build", "x.go", ofGo, map[string]string{"main.mixed": "float s64 (s8 float s64 s64 s64 s64 s64 s64 s64)"}},
	} {
		t.Run(test.command, func(t *testing.T) {
			known := build(t, test.command, test.file, test.source)
			for symbol, want := range test.want {
				if got := text(known(symbol)); got != want {
					t.Errorf("%s: got %s, want %s", symbol, got, want)
				}
			}
		})
	}
}

// Functions of which compilers put the part that seldom runs elsewhere have ranges, and begin at the first.
func TestSplitFunctions(t *testing.T) {
	const source = `
#include <stdio.h>
struct large { long a, b, c; };
__attribute__((cold, noinline)) void rare(const char *p) { puts(p); }
__attribute__((noinline)) struct large split(short a, struct large b, int *n) {
	for (int i = 0; i < a; i++) { *n += i; if (*n == 7) { rare("a"); rare("b"); *n = 9; } }
	return b; }
int main(int argc, char **argv) { struct large b = {argc}; int n = 0; return (int)split((short)argc, b, &n).a; }
`
	for _, command := range []string{"gcc -g -O2", "gcc -gdwarf-4 -O2", "gcc -g -O2 -fno-pie -no-pie"} {
		t.Run(command, func(t *testing.T) {
			known := build(t, command, "x.c", source)
			if known("split.cold") != nil {
				t.Error("split.cold is no function")
			}
			if got, want := text(known("split")), "address (s16 s64 s64 s64 address)"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// What is aligned to 16 bytes and more begins at a multiple of these on the stack, also where only the source says so.
// Structs that show to be packed are not, unions with a long double are classified from the inside, and a vector in a
// struct is one register.
func TestAlignment(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("needs a machine of amd64: the places are its own (TestPlaces has those of arm64)")
	}
	const source = `
typedef long wide __attribute__((aligned(16)));
typedef float floats __attribute__((vector_size(16)));
struct own { long a, b, c; } __attribute__((aligned(16))); struct large { long a; } __attribute__((aligned(64)));
struct member { long a; long b __attribute__((aligned(16))); long c; }; struct named { long a; wide b; long c; };
struct packed { char a; int b; char c[3]; long double d; } __attribute__((packed));
union inner { long double a; double b; }; union outer { long a; union inner b; };
struct vector { floats a; };
#define F(name, type) __attribute__((noinline)) long f_##name(int r1, int r2, int r3, int r4, int r5, int r6, int s, \
	type x) { __asm__ volatile(""); return r1; }
F(own, struct own) F(large, struct large) F(member, struct member) F(named, struct named) F(wide, wide)
F(packed, struct packed)
long f_union(union outer x, long y) { return y; }
long f_vector(struct vector x, double d1, double d2, double d3, double d4, double d5, double d6, double d7, long y) {
	return y; }
int main(void) { return 0; }
`
	want := map[string]string{ // word 7, and behind what takes two words, and eight
		"f_own": "sp+24", "f_large": "sp+72", "f_member": "sp+24", "f_named": "sp+24", "f_wide": "sp+16",
		"f_packed": "sp+16", "f_union": "di", "f_vector": "di",
	}
	word := map[string]int{"f_union": 2, "f_vector": 8}
	for _, command := range []string{"gcc -g -O1", "gcc -gdwarf-4 -O1", "clang -g -O1", "clang -gdwarf-4 -O1"} {
		t.Run(command, func(t *testing.T) {
			known := build(t, command+" -w", "x.c", source)
			for symbol, want := range want {
				n, other := word[symbol]
				if !other {
					n = 7
				}
				at := known(symbol).Params[n]
				got := at.Name
				if at.Where == abi.Stack {
					got = fmt.Sprintf("sp+%d", at.Off)
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", symbol, got, want)
				}
			}
		})
	}
}

// Types that stand in another file, as dwz makes one for several programs, are not known: neither is there nothing in a
// result, nor are they as large as nothing.
func TestTypesElsewhere(t *testing.T) {
	need.Program(t, "gcc")
	binary := need.Built(t, "gcc -gdwarf-5 -O0", "x.c", "struct s { long a; char b; };\n"+
		"long f_result(long a) { return a; }\nlong f_struct(struct s *p, long a) { return p->a + a; }\n"+
		"int main(void) { return 0; }\n")
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sections := sectionsOf(f)
	table, err := openedFunctions(runtime.GOARCH, func(name string) (dwarfinfo.Section, error) {
		s, err := sections(name)
		if name != ".debug_abbrev" || err != nil {
			return s, err
		}
		b, err := s.Bytes(0, s.Size) // DW_AT_type as DW_FORM_ref_sup4 instead of DW_FORM_ref4
		b = bytes.ReplaceAll(b, []byte{0x49, 0x13}, []byte{0x49, 0x1c})
		return dwarfinfo.Section{Reader: bytes.NewReader(b), Size: s.Size}, err
	})
	symbols, err2 := f.Symbols()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, s := range symbols {
		if !strings.HasPrefix(s.Name, "f_") {
			continue
		}
		is, err := table.Of(s.Value)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(is); got != "unknown (unknown)" {
			t.Errorf("%s: got %s", s.Name, got)
		}
	}
}

// Of what a compiler may have changed, and of what no ABI promises, only a result of one word is known.
//
// > A function that has one such parameter is so as a whole.
// > Their results are FAULT, too, where the compiler may have taken them away: of clones of gcc (`.isra`, `.part`), and
// > of functions that clang or Rust may have changed.
func TestNotCertain(t *testing.T) {
	const ofRust = "struct Two(i32, i32);\nstruct Real(f64);\n" + // which could be as in C
		"#[inline(never)] fn pair(p: Two) -> i64 { p.0 as i64 + p.1 as i64 }\n" +
		"#[inline(never)] fn two(a: i32) -> Two { Two(a, a + 1) }\n" +
		"#[inline(never)] fn real(p: Real) -> f64 { p.0 }\n" +
		"fn main() { println!(\"{} {} {}\", pair(Two(1, 2)), two(3).1, real(Real(1.0))); }"
	for _, test := range []struct{ command, file, source, symbol, want string }{
		{"clang -g -O1", "x.c", ofC, "hidden", "unknown (unknown)"},
		{"go build", "x.go", ofGo, "main.generic[", "s64 (unknown)"},
		{"go build", "x.go", ofGo, "main.twice[", "unknown (unknown)"},
		{"rustc -g", "x.rs", ofRust, "pair", "s64 (unknown)"},
		{"rustc -g", "x.rs", ofRust, "two", "unknown (unknown)"},
		{"rustc -g", "x.rs", ofRust, "real", "float (unknown)"},
	} {
		t.Run(test.symbol, func(t *testing.T) {
			if got := text(build(t, test.command, test.file, test.source)(test.symbol)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	// Without debug information there is no table.
	nothing := func(string) (dwarfinfo.Section, error) { return dwarfinfo.Section{}, nil }
	if table, err := openedFunctions(runtime.GOARCH, nothing); table != nil || err != nil {
		t.Errorf("got %v, %v", table, err)
	}
	for name, want := range map[string]Alteration{
		"f.isra.0": ChangedResult, "f.constprop.0": ChangedArguments, "f": Unchanged,
		"f.constprop.0.isra.0": ChangedResult, "f.part.1": ChangedResult, "f.cold": ChangedArguments} {
		if got := AlterationOf(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	text := []byte("damaged")
	damaged, err := openedFunctions("amd64", func(string) (dwarfinfo.Section, error) {
		return dwarfinfo.Section{Reader: bytes.NewReader(text), Size: int64(len(text))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := damaged.Of(1); !errors.Is(err, dwarfinfo.ErrDamaged) {
		t.Errorf("damaged debug information: %v", err)
	}
}

// sectionsOf gives the sections of a file as they are read.
func sectionsOf(f *elf.File) func(name string) (dwarfinfo.Section, error) {
	return func(name string) (dwarfinfo.Section, error) {
		s := f.Section(name)
		if s == nil {
			return dwarfinfo.Section{}, nil
		}
		b, err := s.Data()
		return dwarfinfo.Section{Reader: bytes.NewReader(b), Size: int64(len(b))}, err
	}
}

// Debug information without types says nothing of what functions take and return, whatever else is in its unit. One
// that has no types because no function needs one says that they return nothing.
func TestLevels(t *testing.T) {
	const some = `
int g; static volatile int calls;
__attribute__((noinline)) int counted(int n) { g += n; return n + 1; }
__attribute__((noinline)) void nothing(void) { calls++; }
int main(void) { nothing(); return counted(6) - 7; }
`
	const declared = `
typedef unsigned long word; enum kind { A, B }; struct s { struct s *next; double d; };
extern int g; extern word w; extern enum kind k; extern struct s s, *p; extern double a[4]; extern void (*f)(int);
int g; word w; enum kind k; struct s s, *p; double a[4]; void (*f)(int);
int printf(const char *, ...);
__attribute__((noinline)) int counted(int n) { g += n; a[1] += w; return n + 1 + printf(""); }
__attribute__((noinline)) void nothing(void) { g++; }
int main(void) { nothing(); return counted(6) - 7; }
`
	const none = `
__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
__attribute__((noinline)) void counted(void) { nothing(); __asm__ volatile(""); }
`
	const rust = `
#[no_mangle] #[inline(never)] pub fn counted(n: i32) -> i32 { unsafe { G += n }; n + 1 }
#[no_mangle] #[inline(never)] pub fn nothing() { unsafe { G += 1 } }
static mut G: i32 = 0;
fn main() { nothing(); println!("{}", counted(6)); }
`
	for _, c := range []struct{ command, file, source, counted, nothing string }{
		{"gcc -g1 -O0", "level.c", some, "unknown", "unknown"},
		{"gcc -g -g1 -O2", "level.c", some, "unknown", "unknown"},
		{"gcc -g1 -O2 -flto", "level.c", some, "unknown", "unknown"},
		{"gcc -g1 -gno-record-gcc-switches", "level.c", some, "unknown", "unknown"},
		{"g++ -ggdb1", "level.cc", `extern "C" {` + some + "}", "unknown", "unknown"},
		{"clang -g1", "level.c", some, "unknown", "unknown"},
		{"gcc -g1 -O0", "declared.c", declared, "unknown", "unknown"},
		{"gcc -g1 -O2", "declared.c", declared, "unknown", "unknown"},
		{"gcc -g1 -O2 -gno-record-gcc-switches", "declared.c", declared, "unknown", "unknown"},
		{"gcc -g1 -O2 -gdwarf-4 -g1", "declared.c", declared, "unknown", "unknown"},
		{"gcc -g1 -O2 -flto", "declared.c", declared, "unknown", "unknown"},
		{"g++ -g1 -O2", "declared.cc", `extern "C" {` + declared + "}", "unknown", "unknown"},
		{"clang -g1 -O2", "declared.c", declared, "unknown", "unknown"},
		{"gcc -g -O0", "declared.c", declared, "s32 (s32)", " ()"},
		{"gcc -g -O0 -gno-record-gcc-switches", "declared.c", declared, "s32 (s32)", " ()"},
		{"gcc -g1 -gdwarf-4", "level.c", some, "s32 (s32)", " ()"},
		{"gcc -g", "level.c", some, "s32 (s32)", " ()"},
		{"gcc -g -shared -fPIC", "none.c", none, " ()", " ()"},
		{"gcc -g -gno-record-gcc-switches -shared -fPIC", "none.c", none, " ()", " ()"},
		{"gcc -g1 -shared -fPIC", "none.c", none, "unknown", "unknown"},
		{"clang -g -shared -fPIC", "none.c", none, " ()", " ()"},
		{"clang -g1 -shared -fPIC", "none.c", none, "unknown", "unknown"},
		{"rustc -C debuginfo=1", "level.rs", rust, "unknown", "unknown"},
		{"rustc -C debuginfo=2", "level.rs", rust, "s32 (s32)", " ()"},
	} {
		t.Run(c.command+" "+c.file, func(t *testing.T) {
			of := build(t, c.command, c.file, c.source)
			counted, nothing := text(of("counted")), text(of("nothing"))
			if counted != c.counted || nothing != c.nothing {
				t.Errorf("got %q and %q, want %q and %q", counted, nothing, c.counted, c.nothing)
			}
		})
	}
}

// openedFunctions gives the functions of a file by its sections.
func openedFunctions(arch string, sections dwarfinfo.Sections) (*Functions, error) {
	d, err := dwarfinfo.Open(sections, dwarfinfo.Others{})
	return New(arch, d), err
}
