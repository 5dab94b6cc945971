package infer

import (
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The warning about a comparison of the name of a system call with a text that names none.

// warnNoCall warns of a comparison that is never true: of the name of a system call, or of its point, with a text that
// names no system call. Some such texts are functions that only C libraries have.
func (b operators) warnNoCall(label, s string, pos plan.Pos) {
	prefix := ""
	if label == "syscall_point" {
		prefix = "syscall:"
	}
	name := strings.TrimPrefix(s, prefix)
	if calls := kernel.MatchSyscalls(name); len(calls) > 0 && !strings.ContainsAny(name, "*?[{") {
		b.u.warnf(pos, "no system call has the name %q: the kernel's name is %q", s, prefix+calls[0].Name)
		return
	}
	near := ""
	if sc, found := kernel.SyscallByName(naming.Suggest(name, kernel.SyscallNames())); found {
		near = " (did you mean " + prefix + sc.Name + "?)"
	}
	b.u.warnf(pos, "no system call has the name %q%s", s, near)
}
