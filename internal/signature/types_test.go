package signature

import (
	"runtime"
	"testing"
)

// The types that stand before int z in a function of two parameters, by how e.args shows each: an int after a type that
// is not known has not the width that it has, and nobody says so.
const typesOfCpp = `
#include <cstddef>
struct held { int a; int sum() const { return a; } }; struct in_it { char16_t c; struct { int d; } e; };
struct based : held { int b; }; struct has_class { struct owner { owner(const owner &); ~owner(); int v; } o; };
struct nested { typedef int word; enum { no, yes } e; union { int f; unsigned g; }; static int of_all; };
struct trivial { int v; trivial(int); trivial(const trivial &) = default; ~trivial() = default;
	template <class T> trivial(T &); };
struct moving { int v; moving(moving &&); }; struct with_virtual { virtual int f() { return 0; } };
struct inherits_virtually : virtual held { int b; }; class hidden { long a, b; public: hidden(long); long f(); };
struct without { int v; without(const without &) = delete; }; struct later { int v; later(const later &); };
enum class top : unsigned long { most = ~0ul };
enum class low : signed char { least = -1 }; enum class byte : unsigned char { all = 255 };
typedef int (held::*method)() const;
extern "C" { int uses;
#define FN(name, ...) __attribute__((noinline)) int name(__VA_ARGS__ a, int z) { \
	__asm__ volatile("" : "+r"(z)); return z + uses; }
FN(wide8, char8_t) FN(wide16, char16_t) FN(wide32, char32_t) FN(no_pointer, std::nullptr_t) FN(member, int held::*)
FN(function, method) FN(text16, const char16_t *) FN(behind, in_it *) FN(value, in_it) FN(topmost, top)
FN(lowest, low) FN(one_byte, byte) FN(reference, in_it &) FN(moved, in_it &&) FN(ignored, nested) FN(inherits, based)
FN(contains, has_class) FN(declared, has_class::owner) FN(defaults, trivial) FN(only_moves, moving)
FN(has_virtual, with_virtual) FN(virtual_base, inherits_virtually) FN(with_private, hidden) FN(deletes, without)
FN(later_made, later)
}
later::later(const later &) = default;
int main() { with_virtual w; inherits_virtually i; return w.f() + i.b; }
`

func TestTypesOfCpp(t *testing.T) {
	for _, command := range []string{"g++ -std=c++20 -g -O1", "g++ -std=c++20 -gdwarf-4 -O0",
		"clang++ -std=c++20 -g -O0 -fstandalone-debug"} {
		t.Run(command, func(t *testing.T) {
			known := build(t, command, "x.cc", typesOfCpp)
			for name, want := range map[string]string{
				"wide8": "u8", "wide16": "u16", "wide32": "u32", "no_pointer": "address", "member": "s64",
				"function": "s64 s64", "text16": "address", "behind": "address", "value": "s64", "topmost": "u64",
				"lowest": "s8", "one_byte": "u8", "reference": "address", "moved": "address", "ignored": "s64",
				"inherits": "s64", "contains": "address", "declared": "address", "defaults": "s32",
				"only_moves": "address", "has_virtual": "address",
				"virtual_base": "address", "with_private": "s64 s64", "deletes": "address",
				"later_made": "address",
			} {
				if got := text(known(name)); got != "s32 ("+want+" s32)" {
					t.Errorf("%s: got %s, want s32 (%s s32)", name, got, want)
				}
			}
		})
	}
}

const typesOfC = `
enum top { most = ~0ul }; enum low { least = -1 };
struct unnamed { int : 8; };
struct flexible { int n; int list[]; }; struct none { int no[0]; long b; };
#define FN(name, ...) __attribute__((noinline)) int name(__VA_ARGS__ a, int z) { \
	__asm__ volatile("" : "+r"(z)); return z; }
FN(atomic, _Atomic int) FN(complex_int, _Complex int) FN(complex_long, _Complex long) FN(decimal, _Decimal64)
FN(behind, _Decimal32 *) FN(topmost, enum top) FN(lowest, enum low) FN(to_flexible, struct flexible *)
FN(no_element, struct none) FN(only_unnamed, struct unnamed)
int more(char *format, ...) { return *format; }
enum top returns(int z) { return most; }
int main(void) { return 0; }
`

func TestTypesOfC(t *testing.T) {
	known := build(t, "gcc -g -O1", "x.c", typesOfC)
	want := map[string]string{
		"atomic": "s32", "behind": "address", "topmost": "u64", "lowest": "s32", "to_flexible": "address",
		"no_element": "s64",
	}
	if runtime.GOARCH == "amd64" {
		want["complex_int"], want["complex_long"], want["decimal"] = "s64", "s64 s64", "float"
	}
	for name, words := range want {
		if got := text(known(name)); got != "s32 ("+words+" s32)" {
			t.Errorf("%s: got %s, want s32 (%s s32)", name, got, words)
		}
	}
	if got := text(known("only_unnamed")); got != "s32 (unknown)" {
		t.Errorf("only_unnamed: got %s", got)
	}
	if s := known("more"); s == nil || !s.Open || known("returns").Open {
		t.Errorf("got %+v: more takes more than one argument, and returns does not", s)
	}
	if got := text(known("returns")); got != "u64 (s32)" {
		t.Errorf("returns: got %s", got)
	}
}

// A result whose type stands in a section of its own is not none.
func TestResultOfOtherSection(t *testing.T) {
	known := build(t, "gcc -gdwarf-4 -fdebug-types-section -O1", "x.c", "struct pair { long a, b; };\n"+
		"__attribute__((noinline)) struct pair both(int z) { struct pair p = {z, z}; return p; }\n"+
		"int main(int n, char **v) { return (int)both(n).a; }\n")
	if s := known("both"); s != nil && s.Void {
		t.Errorf("got %s, which returns nothing", text(s))
	}
}
