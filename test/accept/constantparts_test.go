package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What debug information says of parts of variables: a constant, or a place in memory, of a struct or an array whose
// other parts are elsewhere or nowhere.
const constantParts = `#include <stdio.h>
volatile int S;
struct q { unsigned long u; unsigned w; unsigned char c; signed char sc; unsigned long z; };
struct bits { short f0 : 11; unsigned f1; signed char f2 : 8; unsigned char f3 : 8; int f4 : 32; unsigned f5 : 32; };
__attribute__((noinline)) long constants(long a) {
	struct q x = {0xe72ca0e4e76ab6a2UL, 0xfffffff0u, 200, -5, 0x8000000000000000UL};
	unsigned long arr[4] = {~0UL, 3, 1UL << 63, 5};
	S++; // constants
	return x.u + x.w + x.c + x.sc + x.z + arr[0] + arr[1] + arr[2] + a;
}
__attribute__((noinline)) long narrow(long c, struct bits b, long d, long e, long f, long a) {
	for (int i = 0; i < 2; i++) {
		printf("%ld\n", (long)b.f0);
		printf("%ld\n", (long)b.f1);
		printf("%ld\n", (long)b.f2);
		printf("%ld\n", (long)b.f3);
		printf("%ld\n", (long)b.f4);
		printf("%ld\n", (long)b.f5);
	}
	S++; // narrow
	return a + b.f1 + c * d - e * f;
}
int main(void) {
	struct bits b = {-700, 0xfffffffeu, -57, 250, -3, 0xfffffffdu};
	for (volatile int i = 0; i < 2; i++)
		S += constants(i) + narrow(S, b, i + S, i - S, i * S, i);
	return 0;
}
`

// A part of 64 bits that the compiler knows has the sign of its type, and a bit-field as wide as its type is read from
// memory as any other is. What is optimized out says so.
func TestPartsThatAreKnown(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"gcc", "clang"} {
		for _, level := range []string{"-O0", "-O1", "-O2"} {
			binary := need.Built(t, compiler+" -g "+level, "constantparts.c", constantParts)
			checkConstants(t, binary, compiler+level)
			checkNarrow(t, binary, compiler+level)
		}
	}
}

func checkConstants(t *testing.T, binary, how string) {
	for name, want := range map[string]string{
		"x.u": "16657866026732140194", "x.w": "4294967280", "x.c": "200", "x.sc": "-5", "x.z": "9223372036854775808",
		"arr[0]": "18446744073709551615", "arr[1]": "3", "arr[2]": "9223372036854775808",
	} {
		point := fmt.Sprintf("uprobe:%s:constantparts.c:%d", binary, lineOf(constantParts, "S++; // constants"))
		e := startrace(t, "-q", "-e", fmt.Sprintf(`probe(%q, lambda e: print("at", e.vars.%[2]s))
probe(%[1]q, lambda e: print("positive", e.value), kernel = lambda e: e.vars.%[2]s > 0)`, point, name), "-c", binary)
		e.ok(t)
		positive := map[bool]string{true: "False", false: "True"}[strings.HasPrefix(want, "-")]
		if strings.Contains(e.stdout, "at <optimized out>") {
			continue
		}
		if !strings.Contains(e.stdout, "at "+want+"\n") || !strings.Contains(e.stdout, "positive "+positive+"\n") {
			t.Errorf("%s: %s: want %s, positive %s:\n%s", how, name, want, positive, e.stdout)
		}
	}
}

func checkNarrow(t *testing.T, binary, how string) {
	for name, want := range map[string]string{
		"f0": "-700", "f1": "4294967294", "f2": "-57", "f3": "250", "f4": "-3", "f5": "4294967293",
	} {
		point := fmt.Sprintf("uprobe:%s:constantparts.c:%d", binary, lineOf(constantParts, "S++; // narrow"))
		probe := fmt.Sprintf(`probe(%q, lambda e: print("at", e.vars.b.%s))`, point, name)
		e := startrace(t, "-q", "-e", probe, "-c", binary)
		e.ok(t)
		if !strings.Contains(e.stdout, "at "+want+"\n") && !strings.Contains(e.stdout, "at <optimized out>") {
			t.Errorf("%s: %s: want %s:\n%s", how, name, want, e.stdout)
		}
	}
}

// lineOf is the number of the line of a text that has a word.
func lineOf(text, word string) int {
	before, _, _ := strings.Cut(text, word)
	return strings.Count(before, "\n") + 1
}
