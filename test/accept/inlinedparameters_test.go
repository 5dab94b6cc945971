package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A function that was inlined wherever it is called is not found by its parameters where debug information does not
// tell these, which the message says; it is never the one with other parameters.
func TestParametersOfInlined(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"g++ -g -O1", "clang++ -g -O1"} {
		binary := need.Built(t, compiler, "tiny.cc", `static volatile int s;
#define INLINE static inline __attribute__((always_inline))
namespace ns {
INLINE int tiny(int x) { s = x; return s + 1; }
INLINE int tiny(long x) { s = 1; return s + 2; }
}
int main() { return ns::tiny(3) + ns::tiny(5L) == 0; }
`)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:ns::tiny(int)", lambda e: n.add())
at_exit(lambda: print("seen", n.value))
`, "BIN", binary)), "-c", binary)
		told := strings.Contains(e.stderr, "it was inlined wherever it is called, and debug information does not "+
			"tell the parameters of that; uprobe:"+binary+":ns::tiny means all functions of the name")
		if !told && strings.TrimSpace(e.stdout) != "seen 1" {
			t.Errorf("%s: %s%s", compiler, e.stdout, e.stderr)
		}
	}
}
