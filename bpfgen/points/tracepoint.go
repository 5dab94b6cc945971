package points

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The points tracepoint:CATEGORY:NAME, with the arguments of their formats.

// A Tracepoint is one of the kernel's, with the arguments of its format.
type Tracepoint struct {
	onePoint
	kernel.TracepointName
	// Call is set where programs are attached to the tracepoint of all system calls, and is the call that is meant.
	Call *kernel.Syscall
}

// tracepoints gives the targets of tracepoint:CATEGORY:NAME.
func (s search) tracepoints(p *plan.Pattern) []*Target {
	patterns(p)
	names, err := s.Facts.MatchTracepoints(p.Args[0], p.Args[1])
	if err != nil {
		refusal.Wrong(p.Pos, "%v", err)
	}
	var out []*Target
	for _, n := range names {
		out = append(out, &Target{Source: s.tracepoint(n), Text: p.Provider + ":" + n.String(), Name: n.Name,
			Pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := s.Facts.Tracepoint(p.Args[0], p.Args[1]); err != nil && !naming.IsPattern(p.Args[0]+p.Args[1]) {
			refusal.Wrong(p.Pos, "%v", err)
		}
		refusal.Wrong(p.Pos, "no tracepoint matches %s", p.Text)
	}
	return out
}

// tracepoint is the source of one.
func (s search) tracepoint(name kernel.TracepointName) *Tracepoint {
	tp := &Tracepoint{TracepointName: name}
	if name.Group == "syscalls" && tracepointMissesNone(s) {
		tp.Call, _ = kernel.SyscallByName(strings.TrimPrefix(name.Name, tp.side()+"_"))
	}
	return tp
}

// side is the tracepoint of all system calls, sys_enter or sys_exit, that that of one call belongs to.
func (tp *Tracepoint) side() string {
	if strings.HasPrefix(tp.Name, "sys_enter") {
		return "sys_enter"
	}
	return "sys_exit"
}

func (tp *Tracepoint) attach(*Target) tree.Attach {
	if tp.Call != nil {
		return tree.Attach{Way: tree.Tracepoint{Group: "raw_syscalls", Name: tp.side()}}
	}
	return tree.Attach{Way: tree.Tracepoint{Group: tp.Group, Name: tp.Name}}
}

// Format is the record that programs get. That of all system calls has the same number and arguments, or the same
// result, at the same places. It has no strings, which later kernels put behind the arguments (6.19).
func (tp *Tracepoint) Format(facts *kernel.Facts) (*kernel.Tracepoint, error) {
	format, err := facts.Tracepoint(tp.Group, tp.Name)
	if err != nil || tp.Call == nil {
		return format, err
	}
	own := *format
	own.Fields = slices.DeleteFunc(slices.Clone(own.Fields), func(f kernel.TracepointField) bool { return f.DataLoc })
	return &own, nil
}

// fields are what is in e.args of any of its events; none where the format cannot be read.
func (tp *Tracepoint) fields(facts *kernel.Facts) []kernel.TracepointField {
	format, err := tp.Format(facts)
	if err != nil {
		return nil
	}
	return format.OwnFields()
}

func (tp *Tracepoint) ArgNames(facts *kernel.Facts) (out []string) {
	for _, f := range tp.fields(facts) {
		out = append(out, f.Name)
	}
	return out
}

func (tp *Tracepoint) ArgCount(facts *kernel.Facts) int { return len(tp.fields(facts)) }

// OwnDoing: system calls are the current process's.
func (tp *Tracepoint) OwnDoing() bool { return tp.Group == "syscalls" || tp.Group == "raw_syscalls" }
