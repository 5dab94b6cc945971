package attach

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// What root has switched off, as kprobes by /sys, by which probes do not run.

// SwitchedOff gives the probes of which the kernel runs programs no more, for root has switched off what calls them,
// and what that is. At the beginning such points are refused, or there is another way to them.
func SwitchedOff(l *Loaded) (probes []int, why error) {
	kprobes, functions := kernel.KprobesOff(), kernel.FunctionsOff()
	for _, p := range l.programs {
		off := functions
		switch p.Attach.Kind() {
		case tree.AttachKprobe, tree.AttachKretprobe:
			if !p.multi { // such links are of ftrace alone
				off = kprobes
			}
		case tree.AttachFentry, tree.AttachFexit, tree.AttachHook:
		default:
			continue
		}
		if off != nil && p.Probe >= 0 && !slices.Contains(probes, p.Probe) {
			probes, why = append(probes, p.Probe), off
		}
	}
	return probes, why
}
