package code

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/kernel"
)

// TestStartsOfOtherCalls: the start of a call does not clear the texts that other calls of the probe keep, as a name
// and two lists of execve, of which each has 128 words.
func TestStartsOfOtherCalls(t *testing.T) {
	facts := smallKernel(t)
	const words = 128
	alone := start(t, "syscall:execve", facts)
	for _, more := range []string{"close", "close,dup,fchdir"} {
		both := start(t, "syscall:{execve,"+more+"}", facts)
		if most := alone + words; both > most {
			t.Errorf("the start of {execve,%s} has %d instructions, want at most %d: that of execve has %d",
				more, both, most, alone)
		}
	}
}

// start is how many instructions the start of the calls of a point has.
func start(t *testing.T, point string, facts *kernel.Facts) (n int) {
	t.Helper()
	script := `probe("` + point + `", lambda e: printf("%s %v\n", e.func, e.args))`
	for name, p := range compile(t, "starts.star", script, facts, bpfgen.Options{}).Spec.Programs {
		if strings.HasSuffix(name, "_in") {
			n += len(p.Instructions)
		}
	}
	return n
}
