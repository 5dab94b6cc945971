package attach

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Watchpoints set on each CPU, the message that debug registers are in use, and those whose address is known only when
// the command runs.

// The accesses of a watchpoint (include/uapi/linux/hw_breakpoint.h).
const (
	watchRead    = 1
	watchWrite   = 2
	watchExecute = 4
)

// stepsOver is an error where the kernel goes back to the instruction that was
// caught and catches it again, for ever, if a program runs there: on arm64 before
// 6.6 (d11a69873d9a, "hw_breakpoint: fix single-stepping when using
// bpf_overflow_handler").
func stepsOver(arch string, release func() (kernel.Version, error)) error {
	if arch != "arm64" {
		return nil
	}
	v, err := release()
	if err != nil || v.AtLeast(6, 6) {
		return err
	}
	return fmt.Errorf("watchpoints need Linux 6.6 on arm64, and this is %s: "+
		"older ones never get past the instruction that was caught", v.Text)
}

// openWatchpoint sets a hardware breakpoint on each CPU. Where the address is known once the command runs, it is set
// then.
func openWatchpoint(l *Loaded, p *program) ([]spot, error) {
	w := p.Attach.Way.(tree.Watchpoint)
	if err := stepsOver(runtime.GOARCH, kernel.Release); err != nil {
		return nil, err
	}
	if w.File != "" {
		added, loaded, err := l.opts.LoadedAt(w.File)
		if p.moved, p.waits = added, !loaded && err == nil; p.waits || err != nil {
			return nil, err
		}
	}
	attr := p.watchAttr(w)
	points, err := openEverywhere(attr, p.code)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return nil, fmt.Errorf("all debug registers are in use (x86 has four): %w", err)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return nil, fmt.Errorf("this machine cannot watch %d bytes at %#x for %s (x86 has no watchpoints for reads "+
			"alone, and the address must be a multiple of the length): %w", w.Length, attr.Ext1, w.Access, err)
	}
	return points, err
}

// watchAttr describes the event of a watchpoint.
func (p *program) watchAttr(w tree.Watchpoint) unix.PerfEventAttr {
	var access uint32
	for word, bit := range map[string]uint32{"r": watchRead, "w": watchWrite, "x": watchExecute} {
		if strings.Contains(w.Access, word) {
			access |= bit
		}
	}
	return unix.PerfEventAttr{
		Type: unix.PERF_TYPE_BREAKPOINT, Bp_type: access, Ext1: w.Address + p.moved, Ext2: uint64(w.Length),
		Sample: 1, Bits: unix.PerfBitDisabled,
	}
}

// Moves reports whether some program of l watches memory whose address is known only once the command runs.
func Moves(l *Loaded) bool { return slices.ContainsFunc(l.programs, (*program).moves) }

func (p *program) moves() bool {
	w, ok := p.Attach.Way.(tree.Watchpoint)
	return ok && w.File != ""
}

// AttachMoved attaches what waits for the command, which has its memory by now. What is attached already is attached
// anew, since its address may be another one. Its errors are those of Attach.
func AttachMoved(l *Loaded) error {
	moved := l.selected(func(p *program) bool { return p.moves() && (p.waits || len(p.points) > 0) })
	l.detach(moved)
	return l.attach(func(p *program) bool { return slices.Contains(moved, p) })
}
