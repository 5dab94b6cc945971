package attach

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// What the run may not attach is told by what it lacks, and not at the place of a probe: EACCES is what
// perf_event_open gives for kernel.perf_event_paranoid.
func TestLacksRights(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EPERM:  true,
		unix.EACCES: true,
		fmt.Errorf("perf_event_open: %w", unix.EACCES): true,
		kernel.ErrLockdown:       true,
		unix.ENOENT:              false,
		errors.New("no counter"): false,
	} {
		if got := (&Error{Err: err}).LacksRights(); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
