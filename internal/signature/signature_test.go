package signature

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/abi"
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
	table, err := Open(runtime.GOARCH, func(name string) ([]byte, error) {
		if s := f.Section(name); s != nil {
			return s.Data()
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return func(symbol string) *Signature {
		t.Helper()
		for _, s := range symbols {
			if s.Name == symbol || strings.Contains(s.Name, symbol) && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
				if IsClone(s.Name) {
					return nil
				}
				sig, err := table.Of(s.Value)
				if err != nil {
					t.Error(err)
				}
				return sig
			}
		}
		t.Fatalf("no symbol %s", symbol)
		return nil
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

// Of what a compiler may have changed, and of what no ABI promises, only a result of one word is known.
//
// > Some functions are as without debug information: those that the compiler may have changed (clones, static functions
// > of clang), functions with structs of Rust by value, generic functions of Go, and functions of files with more than
// > 64 MB of debug information.
// > A function that has one such parameter is so as a whole.
// > What is known of their results holds all the same.
// > A result of which nobody knows where it is, as a struct of Rust, is FAULT.
func TestNotCertain(t *testing.T) {
	const ofRust = "#[inline(never)] fn pair(p: (i64, f64)) -> i64 { p.0 }\n" +
		"#[inline(never)] fn two(a: i64) -> (i64, i64) { (a, a + 1) }\n" +
		"#[inline(never)] fn real(p: (i64, f64)) -> f64 { p.1 }\n" +
		"fn main() { println!(\"{} {} {}\", pair((1, 2.0)), two(3).1, real((1, 2.0))); }"
	for _, test := range []struct{ command, file, source, symbol, want string }{
		{"clang -g -O1", "x.c", ofC, "hidden", "s32 (unknown)"},
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
	nothing := func(string) ([]byte, error) { return nil, nil }
	if table, err := Open(runtime.GOARCH, nothing); table != nil || err != nil {
		t.Errorf("got %v, %v", table, err)
	}
	for _, name := range []string{"f.isra.0", "f.constprop.0", "f.part.1.isra.0", "f.cold"} {
		if !IsClone(name) {
			t.Errorf("%s is a clone", name)
		}
	}
	large := func(string) ([]byte, error) { return make([]byte, mostInfo+1), nil }
	if table, err := Open("amd64", large); table != nil || err != nil {
		t.Errorf("%v, %v", table, err)
	}
	if _, err := Open("amd64", func(string) ([]byte, error) { return []byte("damaged"), nil }); err == nil {
		t.Error("damaged debug information is an error")
	}
}
