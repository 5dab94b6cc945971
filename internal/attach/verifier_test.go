package attach

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/bpf"
)

func TestRejectionOfLogs(t *testing.T) {
	for _, c := range []struct {
		name, log string
		insn      int
		reason    string
	}{
		{"6.18", "0: R1=ctx() R10=fp0\n0: (b7) r0 = 0 ; R0_w=0\n7: (61) r2 = *(u32 *)(r3 +0)\nR3 !read_ok\n" +
			"processed 2 insns (limit 1000000) max_states_per_insn 0\n", 7, "R3 !read_ok"},
		{"5.10", "0: (b7) r0 = 0\n1: (79) r1 = *(u64 *)(r10 -8)\ninvalid read from stack off -8+0 size 8\n" +
			"processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0\n\n", 1,
			"invalid read from stack off -8+0 size 8"},
		{"structure", "unreachable insn 5\nprocessed 0 insns (limit 1000000)\n", 5, "unreachable insn 5"},
		{"loop", "back-edge from insn 12 to 3\n", 12, "back-edge from insn 12 to 3"},
		{"empty", "", -1, "no reason given"},
		{"huge number", "99999999999999999999: (b7) r0 = 0\n", -1, "no reason given"},
	} {
		if got := rejectedInsn(c.log); got != c.insn {
			t.Errorf("%s: instruction %d, want %d", c.name, got, c.insn)
		}
		if got := rejection(c.log); got != c.reason {
			t.Errorf("%s: %q, want %q", c.name, got, c.reason)
		}
	}
}

func TestExplainTooComplex(t *testing.T) {
	for _, errno := range []error{unix.E2BIG, unix.EFAULT} {
		var c *ComplexityError
		if err := explainLoad(&bpf.Program{Name: "p"}, &bpfgen.Unit{}, errno); !errors.As(err, &c) ||
			!errors.Is(err, errno) {
			t.Errorf("%v became %v", errno, err)
		}
	}
}

func TestLockedHelper(t *testing.T) {
	for log, want := range map[string]bool{
		"program of this type cannot use helper bpf_probe_read_kernel#113": true,
		"unknown func bpf_probe_read_kernel#113":                           true,
		"unknown func bpf_loop#181":                                        false,
	} {
		if got := lockedHelper().MatchString(log); got != want {
			t.Errorf("%q: %v", log, got)
		}
	}
}
