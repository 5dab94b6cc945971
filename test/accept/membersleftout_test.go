package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// describedInPart has functions that use one member of a struct in registers: clang describes that one alone.
const describedInPart = `struct mixed { int i; double d; };
struct longs { long a, b; };
struct words { short v[3]; char c; };
volatile long sink;
#define N __attribute__((noinline)) static
N long mixed_i(int k, struct mixed p) { sink += k; sink += p.i; return 5; }
N long mixed_d(int k, struct mixed p) { sink += k; sink += p.d; return 5; }
N long longs_a(struct longs p, int k) { sink += k; sink += p.a; return 5; }
N long longs_b(struct longs p, int k) { sink += k; sink += p.b; return 5; }
N long words_v(struct words p, int k) { sink += k; sink += p.v[1]; return 5; }
int main(void) {
    struct mixed m = { 7, 0.5 }, n = { -8, 1.5 };
    struct longs l = { 1, -2 };
    struct words w = { { 1, -2, 3 }, 'c' };
    mixed_i(1, m); mixed_i(2, n); mixed_d(3, m); mixed_d(4, n);
    longs_a(l, 5); longs_b(l, 6); words_v(w, 7);
    return 0;
}
`

// A member that debug information does not describe is FAULT, in both halves, and the others are what they are.
func TestMembersThatAreNotDescribed(t *testing.T) {
	needTracing(t)
	parts := map[string]map[string]string{
		"mixed": {"i": "7|-8", "d": "0.5|1.5"}, "longs": {"a": "1", "b": "-2"},
		"words": {"v[0]": "1", "v[1]": "-2", "v[2]": "3", "c": "99"},
	}
	functions := []string{"mixed_i", "mixed_d", "longs_a", "longs_b", "words_v"}
	lost := 0
	for _, level := range []string{"-O1", "-O2", "-O3", "-Os"} {
		binary := need.Built(t, "clang -g "+level, "parts.c", describedInPart)
		var script strings.Builder
		for _, f := range functions {
			for part := range parts[strings.Split(f, "_")[0]] {
				line := "probe('uprobe:BIN:FUNC', lambda e: print('FUNC PART', VALUE, VALUE == FAULT)MORE)\n"
				write := func(value, more string) {
					_, _ = strings.NewReplacer("BIN", binary, "FUNC", f, "PART", part, "VALUE", value, "MORE", more).
						WriteString(&script, line)
				}
				write("e.args.p."+part, "")
				write("e.value", ", kernel = lambda e: e.args.p."+part)
			}
		}
		e := startrace(t, "-q", "-e", script.String(), "-c", binary).ok(t)
		counts := map[string]int{}
		for line := range strings.Lines(e.stdout) {
			words := strings.Fields(line)
			name, part := words[0], words[1]
			value, fault := strings.Join(words[2:len(words)-1], " "), words[len(words)-1]
			counts[line]++
			switch {
			case fault == "True" && value == "<optimized out>":
				lost++
			case fault == "True" || !strings.Contains("|"+parts[strings.Split(name, "_")[0]][part]+"|", "|"+value+"|"):
				t.Errorf("%s: %s", level, line)
			}
		}
		for line, n := range counts {
			if n%2 != 0 {
				t.Errorf("%s: the halves differ: %s", level, line)
			}
		}
	}
	if lost == 0 {
		t.Error("clang describes all members: nothing was tried")
	}
}

const unusedText = `__attribute__((noinline)) static int unused(const char *name, int k) { __asm__ volatile(""); return 3; }
__attribute__((noinline)) int used(const char *name, int k) { return name[0] + k; }
int main(void) { char s[] = "abc"; return unused(s, 3) + used(s, 3) - 103; }
`

// A comparison with what the compiler has optimized out says so, whatever type it had, in both halves. It says nothing
// where another point has the value.
func TestComparisonWithOptimizedOut(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "clang -g -O2", "unusedtext.c", unusedText)
	const more = `, where = lambda e: e.args.name == "abc" or e.func == "unused"`
	for _, handler := range []string{`print(e.args.name == "abc")`, `print(e.args.name in ("abc", "d"))`} {
		for point, want := range map[string][]string{"unused": {"False"}, "{unused,used}": {"False", "True"}} {
			for _, where := range []string{"", more} {
				text := fmt.Sprintf("probe('uprobe:%s:%s', lambda e: %s%s)\n", binary, point, handler, where)
				e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
				equalLines(t, lines(e.stdout), want)
				const told = "what the compiler has optimized out is compared with a string: they are never equal"
				got := strings.Contains(e.stderr, told)
				if got != (point == "unused") || strings.Contains(e.stderr, "an int") {
					t.Errorf("%s: %s", text, e.stderr)
				}
			}
		}
	}
}
