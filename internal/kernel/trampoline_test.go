package kernel_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// Functions by which tables of programs are locked have no trampolines, whatever their arguments are.
func TestNoTrampolineAtLocks(t *testing.T) {
	locks := []string{"_raw_spin_lock", "_raw_spin_unlock_irqrestore", "_raw_read_lock", "_raw_write_unlock_bh",
		"native_queued_spin_lock_slowpath", "htab_map_update_elem", "pcpu_freelist_pop", "bpf_ringbuf_reserve"}
	others := []string{"vfs_read", "spin_lock_other", "bpf_lsm_file_open", "queue_work_on"}
	facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...)})
	for _, name := range locks {
		why := facts.NoTrampoline(&kernel.Function{Name: name})
		if !strings.Contains(why, "hold locks of their tables") {
			t.Errorf("%s: %q", name, why)
		}
	}
	for _, name := range others {
		if why := facts.NoTrampoline(&kernel.Function{Name: name}); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
}
