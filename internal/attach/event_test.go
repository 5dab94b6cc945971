package attach

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

func TestExplainCounter(t *testing.T) {
	for _, c := range []struct {
		group    string
		err      unix.Errno
		counters bool
		want     string
	}{
		{"hardware", unix.ENOENT, false, "the kernel sees no counters of the CPU on this machine"},
		{"hardware", unix.EOPNOTSUPP, false, "QEMU: -cpu host,pmu=on); profile:99hz samples by time"},
		{"hardware", unix.ENOENT, true, "this CPU does not count cycles; perf list shows what it counts"},
		{"hardware", unix.EINVAL, true, "this CPU does not count cycles"},
		{"hardware", unix.EOPNOTSUPP, true, "does not interrupt for it"},
		{"hardware", unix.EBUSY, true, "kernel.nmi_watchdog=0"},
		{"hardware", unix.EACCES, true, "permission denied"},
		{"software", unix.EINVAL, true, "this kernel does not have the event"},
		{"software", unix.EACCES, true, "permission denied"},
	} {
		a := tree.Counter{Group: c.group, Name: "cycles", Period: 1000}
		got := explainCounter(a, fmt.Errorf("perf_event_open: %w", c.err), c.counters)
		if !errors.Is(got, c.err) || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s, %v, counters %v: got %q, want %q", c.group, c.err, c.counters, got, c.want)
		}
	}
}

// Where an instruction that was caught is caught for ever, no watchpoint is set.
func TestStepsOver(t *testing.T) {
	for _, c := range []struct {
		arch         string
		major, minor int
		want         bool
	}{{"amd64", 5, 10, true}, {"arm64", 6, 5, false}, {"arm64", 6, 6, true}, {"arm64", 7, 2, true}} {
		release := func() (kernel.Version, error) {
			return kernel.Version{Text: "this", Major: c.major, Minor: c.minor}, nil
		}
		if err := stepsOver(c.arch, release); (err == nil) != c.want {
			t.Errorf("%s %d.%d: %v", c.arch, c.major, c.minor, err)
		}
	}
}
