package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// charsInWords has texts of char[N] in structs that are passed in registers, at all places in words, and in a variable
// that debug information has as a constant where the compiler keeps none (gcc -O2). Each call says what it has.
const charsInWords = `
#include <stdio.h>
struct whole { char s[8]; };
struct mixed { int v; char n[5]; char m[7]; };
struct twice { char s[16]; };
static struct kept { long pad[3]; long v; char n[4]; char text[20]; } kept = {{0}, 2222, "bbb", "sixteen chars + 3"};
#define CALL __attribute__((noinline))
#define END(x) __asm__ volatile("" :: "r"((long)(x)) : "memory"); return (long)(x)
CALL long ofwhole(struct whole s) { END(s.s[0]); }
CALL long ofmixed(struct mixed s) { END(s.n[0]); }
CALL long oftwice(struct twice s) { END(s.s[0]); }
#define WHOLE(x) sum += ofwhole((struct whole){x}), printf("ofwhole %.8s\n", (struct whole){x}.s)
#define TWICE(x) sum += oftwice((struct twice){x}), printf("oftwice %.16s\n", (struct twice){x}.s)
int main(void) {
	long sum = 0;
	WHOLE("abc"), WHOLE("abcdefgh"), WHOLE("ab\0defg"), WHOLE("");
	TWICE("0123456789abcde"), TWICE("0123456789abcdef"), TWICE("01234\0""789abcdef"), TWICE("01234567\0""9abcdef");
	sum += ofmixed((struct mixed){7, "abcde", "fghijkl"}), printf("ofmixed abcde fghijkl\n");
	sum += ofmixed((struct mixed){7, "\0bcd", "f\0hij"}), printf("ofmixed  f\n");
	return sum == 0;
}
`

// keptProbe shows the variable that no code uses, which clang leaves out.
var keptProbe = map[bool]string{true: `
probe("uprobe:BIN:ofmixed", lambda e: print(e.globals.kept.n == "bbb", e.globals.kept.text))
`}

// What lies behind the first NUL is no part of the text: texts with the same bytes before it are one key.
//
// > A `char[N]` in it is a string, as it is in memory, and FAULT as a whole where the compiler keeps only some of its
// > bytes.
func TestCharsInRegisters(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O0"} {
		binary := need.Built(t, command, "chars.c", charsInWords)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
def counted(e):
    n[e.args.s.s].add()
    return (e.args.s.s, e.args.s.s == "abc", e.args.s.s.startswith("abc"), len(e.args.s.s))
def shown(e):
    s, same, begins, length = e.value
    if (same, begins, length) != (s == "abc", s.startswith("abc"), len(s)) or s != e.args.s.s:
        print("differs", e.value, e.args.s.s)
    print("  " + e.func, s)
probe("uprobe:BIN:of{whole,twice}", shown, kernel = counted)
probe("uprobe:BIN:ofmixed", lambda e: print("  " + e.func, e.args.s.n, e.args.s.m))
at_exit(lambda: print(sorted(n.items())))
`+keptProbe[strings.HasPrefix(command, "gcc")], "BIN", binary)), "-c", binary).ok(t)
		var said, saw, kept []string
		for _, line := range strings.Split(e.stdout, "\n") {
			is, own := strings.CutPrefix(line, "  ")
			switch {
			case own:
				saw = append(saw, is)
			case strings.HasPrefix(line, "of"):
				said = append(said, line)
			case line != "":
				kept = append(kept, line)
			}
		}
		if !slices.Equal(saw, said) {
			t.Errorf("%s: saw %q, want %q", command, saw, said)
		}
		want := []string{`[("", 1), ("01234", 1), ("01234567", 1), ("0123456789abcde", 1), ("0123456789abcdef", 1), ` +
			`("ab", 1), ("abc", 1), ("abcdefgh", 1)]`}
		if keep := "True sixteen chars + 3"; strings.HasPrefix(command, "gcc") {
			want = append([]string{keep, keep}, want...)
		}
		if !slices.Equal(kept, want) {
			t.Errorf("%s: got %q, want %q", command, kept, want)
		}
	}
}
