package places

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// Skips of tests without a compiler.

// Need is Run in a test, which is skipped without the compiler or what runs its programs. PLACES_SEED makes other
// functions, PLACES_FUNCTIONS so many.
func (c Compiler) Need(t *testing.T) (binary string, calls []Call) {
	t.Helper()
	n, seed := setting.Int(t, "PLACES_FUNCTIONS", 80), setting.Int(t, "PLACES_SEED", len(c.Command))
	if testing.Short() {
		n = min(n, 20)
	}
	need.Program(t, strings.Fields(c.Command)[0])
	if _, err := exec.LookPath(c.Runner); c.Arch == runtime.GOARCH && err != nil {
		c.Runner = "" // without it, for this test itself may run in an emulator that the kernel knows nothing of
	} else if c.Runner == "" {
		t.Skipf("needs a machine of %s", c.Arch)
	} else {
		need.Program(t, c.Runner)
	}
	binary, calls, err := c.Run(t.TempDir(), uint64(seed), n)
	if err != nil {
		t.Fatal(err)
	}
	return binary, calls
}
