package attach

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Messages why the kernel refuses a probe at a place: no symbol, several functions of a name, no beginning of an
// instruction.

// cookieOf is the cookie of a place, nil if the program does not ask for it.
func cookieOf(f *tree.Functions, p *tree.Place) *uint64 {
	if f.Cookies {
		return &p.Cookie
	}
	return nil
}

// explainPlace says what the kernel has against a probe there.
func explainPlace(f *tree.Functions, p *tree.Place, err error) error {
	if wayOf(f.Mech).probes == userProbes {
		return explainUserPlace(f, p, err)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("the kernel has no symbol %s that could be probed: %w", p.Func, err)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Errorf("the kernel has several functions %s and does not know which is meant: %w", p.Func, err)
	case errors.Is(err, unix.EILSEQ), runtime.GOARCH == "arm64" && p.Offset%4 != 0: // where instructions have 4 bytes
		return fmt.Errorf("%s is not the beginning of an instruction: %w", p, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel refuses a probe at %s, as it does for functions that it built without a place "+
			"for probes (not in available_filter_functions) and for those that probes use themselves; "+
			"its log may say which (dmesg | tail): %w", p, err)
	}
	return err
}

// explainUserPlace says what the kernel has against a probe in a file of programs.
func explainUserPlace(f *tree.Functions, p *tree.Place, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("there is no file %s: %w", f.Binary, err)
	case errors.Is(err, bpf.ENOTSUPP):
		return fmt.Errorf("%s of %s cannot be probed: it begins with an instruction that the kernel cannot run "+
			"elsewhere: %w", p.Func, f.Binary, err)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EIO), errors.Is(err, unix.EILSEQ),
		errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("%s of %s cannot be probed: no instruction begins at offset %#x of the file, "+
			"or the kernel cannot emulate it: %w", p.Func, f.Binary, p.Offset, err)
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("there is no process %d: %w", f.Process, err)
	}
	return err
}

// placeIsAtFault tells that another place may do where this one did not. ENOTSUPP: the
// instruction cannot be stepped over (uprobe_init_insn, arch/x86/kernel/uprobes.c).
func placeIsAtFault(err error) bool {
	for _, e := range []error{unix.ENOENT, unix.EINVAL, unix.EILSEQ, unix.EADDRNOTAVAIL, unix.EOPNOTSUPP, bpf.ENOTSUPP,
		unix.ENOEXEC, unix.EBUSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
