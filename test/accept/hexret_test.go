package accept

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const resultsSource = `#define N __attribute__((noinline, noclone))
N int negative(int n) { __asm__ volatile(""); return -n; }
N short narrow(int n) { __asm__ volatile(""); return -n; }
N double real(int n) { __asm__ volatile(""); return n / 2.0; }
N void nothing(int n) { __asm__ volatile("" :: "a"(-1)); }
struct pair { long a, b; };
N struct pair both(long n) { __asm__ volatile(""); return (struct pair){n, -n}; }
int main(void) { return negative(5) + narrow(6) + (int)real(7) + (nothing(8), both(9), both(0), 0) != -8; }
`

// resultsProgram is the program above with debug information.
func resultsProgram(t *testing.T) string {
	t.Helper()
	needTracing(t)
	return need.Built(t, "gcc -w -g -O1", "results.c", resultsSource)
}

// What functions give is shown with the bits that their types have, in callindent, which has no types of its own.
func TestCallindentResults(t *testing.T) {
	binary := resultsProgram(t)
	e := startrace(t, "-q", "callindent", binary, "-c", binary).ok(t)
	for _, want := range []string{"<- negative 0xfffffffb", "<- narrow 0xfffa", "<- real <float>", "<- nothing",
		`<- both \(a = 9, b = -9\)`, `<- both \(a = 0, b = 0\)`, "<- main 0/NULL"} {
		if !regexp.MustCompile(`(?m)` + want + `$`).MatchString(e.stdout) {
			t.Errorf("no line ends with %q:\n%s\nstderr: %s", want, e.stdout, e.stderr)
		}
	}
}

// A function that returns nothing leaves what it likes in the register for results: e.ret is None, in both halves, also
// in one program for functions of several types.
//
// > `e.ret` of a function that returns nothing is None, where debug information of C, C++ or Rust says so.
func TestVoidResult(t *testing.T) {
	binary := resultsProgram(t)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:n*", lambda e: print("user", e.func, e.ret, e.ret == None))
probe("uretprobe:BIN:nothing", lambda e: print("return", e.ret, e.ret == None, e.ret or 7))
seen, total = count(), total()
def kernel_half(e):
    seen[e.func, e.ret, e.ret == None].add()
probe("ufunc:BIN:n*", kernel = kernel_half)
probe("ufunc:BIN:nothing", kernel = lambda e: total.add(e.ret))
at_exit(lambda: [print("kernel", *(k + (n,))) for k, n in seen.items()])
`, "BIN", binary)), "-c", binary).ok(t)
	var got []string
	for line := range strings.Lines(e.stdout) {
		if f := strings.Fields(line); len(f) > 2 {
			got = append(got, strings.Join(f, " "))
		}
	}
	slices.Sort(got)
	equalLines(t, got, []string{
		"kernel narrow -6 False 1", "kernel negative -5 False 1", "kernel nothing None True 1", "return None True 7",
		"user narrow -6 False", "user negative -5 False", "user nothing None True",
	})
}
