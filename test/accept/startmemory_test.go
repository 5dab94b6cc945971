package accept

import (
	"os"
	"slices"
	"testing"

	"github.com/startrace/startrace/stdlib"
	"github.com/startrace/startrace/test/tried"
)

// hungry are the tools that read most when they begin: debug information of libraries, tables of unwinding, symbols of
// the kernel.
var hungry = []string{"execsnoop", "gethostlatency", "memleak", "offcputime", "offwaketime", "opensnoop", "profile",
	"threadsnoop"}

// The start of a tool stays within the budget of a run, too, whatever it reads of libraries and of the kernel.
func TestStartsWithinMemory(t *testing.T) {
	needTracing(t)
	const budget = 64 << 20
	tools := 0
	for _, m := range stdlib.Modules() {
		if !m.Tool || m.Verb || soak(t) == 1 && !slices.Contains(hungry, m.Name) {
			continue
		}
		out, peak, err := withPeak(t, m.Name, "-o", os.DevNull, "-c", program(t, "workload")+" getppid 1")
		if err != nil {
			t.Logf("%s does not work here: %s", m.Name, excerpt(string(out)))
			continue
		}
		t.Logf("%s: %d KB", m.Name, peak>>10)
		if tools++; peak > budget {
			t.Errorf("%s: %d MB resident when it begins, want at most %d", m.Name, peak>>20, budget>>20)
		}
	}
	if tools == 0 {
		t.Error("no tool was tried")
	}
	tried.Many(t, "%d tools", len(hungry))
}
