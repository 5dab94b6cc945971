package accept

import (
	"os"
	"os/exec"
	"testing"

	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/test/tried"
)

// mixedLoad is work of several kinds that goes on until it is ended: programs that begin and end, connections, data
// that nobody hears, calls.
var mixedLoad = [][]string{{"execs", "endless"}, {"tcp", "endless", "1000"}, {"unheard", "endless"},
	{"getppid", "endless", "2"}}

// What takes the stacks of all processes, and of segments that are dropped, keeps to the budget while the system is
// busy.
func TestStacksOfBusySystem(t *testing.T) {
	needTracing(t)
	needGuest(t)
	const budget = memory.Default
	for _, work := range mixedLoad {
		cmd := exec.Command(program(t, "workload"), work...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	tools := []string{"offcputime", "offwaketime", "profile", "tcpdrop"}
	for _, tool := range tools {
		out, peak, err := withPeak(t, tool, "-o", os.DevNull, "--duration", "4s")
		if err != nil {
			t.Errorf("%s: %v: %s", tool, err, excerpt(string(out)))
		}
		if t.Logf("%s: %d KB", tool, peak>>10); peak > budget {
			t.Errorf("%s: %d MB resident, want at most %d", tool, peak>>20, budget>>20)
		}
	}
	tried.Many(t, "%d tools", len(tools))
}
