package infer

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The warning about a comparison of the name of a system call with a text that names none.

// warnNoCall warns of a comparison that is never true: of the name of a system call, or of its point, with a text that
// names no system call. Some such texts are functions that only C libraries have. Where another point of the probe has
// the name, as ufunc:c:fopen beside syscall:openat, the comparison is true there.
func (b operators) warnNoCall(label, s string, pos plan.Pos) {
	if b.pr.hasPoint(label, s) {
		return
	}
	prefix := ""
	if label == "syscall_point" {
		prefix = "syscall:"
	}
	name := strings.TrimPrefix(s, prefix)
	if calls := kernel.MatchSyscalls(name); len(calls) > 0 && !strings.ContainsAny(name, "*?[{") {
		b.u.warnAlways(pos, "no system call has the name %q: the kernel's name is %q", s, prefix+calls[0].Name)
		return
	}
	near := ""
	if sc, found := kernel.SyscallByName(naming.Suggest(name, kernel.SyscallNames())); found {
		near = " (did you mean " + prefix + sc.Name + "?)"
	}
	b.u.warnAlways(pos, "no system call has the name %q%s", s, near)
}

// hasPoint reports whether e.func, or e.probe by the label syscall_point, is s at a point of the probe.
func (pr *probe) hasPoint(label, s string) bool {
	return slices.ContainsFunc(pr.targets, func(t *points.Target) bool {
		return slices.ContainsFunc(t.Points(), func(p tree.Point) bool {
			return label == "syscall_point" && p.Name == s || label != "syscall_point" && p.Func == s
		})
	})
}
