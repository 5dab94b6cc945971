package places

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Need is Run in a test, which is skipped without the compiler or what runs its programs. PLACES_SEED makes other
// functions, PLACES_FUNCTIONS so many.
func (c Compiler) Need(t *testing.T) (binary string, calls []Call) {
	t.Helper()
	n, seed := setting(t, "PLACES_FUNCTIONS", 80), setting(t, "PLACES_SEED", len(c.Command))
	if testing.Short() {
		n = min(n, 20)
	}
	if _, err := exec.LookPath(c.Runner); c.Arch == runtime.GOARCH && err != nil {
		c.Runner = "" // without it, for this test itself may run in an emulator that the kernel knows nothing of
	} else if c.Runner == "" {
		t.Skipf("nothing runs programs of %s here", c.Arch)
	}
	for _, command := range []string{c.Command, c.Runner} {
		words := strings.Fields(command)
		if len(words) == 0 {
			continue
		}
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Skip(err)
		}
	}
	binary, calls, err := c.Run(t.TempDir(), uint64(seed), n)
	if err != nil {
		t.Fatal(err)
	}
	return binary, calls
}

func setting(t *testing.T, name string, otherwise int) int {
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
