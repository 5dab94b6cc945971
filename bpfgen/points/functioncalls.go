package points

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The point func:NAME with the best way to attach to a function of the kernel that there is.

// kernelSpan gives the target of func:NAME with the best way to attach that
// this kernel has. Trampolines are cheap but one for each function, and where
// the kernel preempts them (6.14 on) they miss calls; kprobe_multi attaches many at
// once and misses none, but keeps a bounded number of calls open before 6.14.
func (s search) kernelSpan(p *plan.Pattern) []*Target {
	patterns(p)
	_, name := moduleOf(p)
	fs := &Functions{Mech: tree.AttachKprobe}
	t := &Target{Source: &FunctionCalls{Functions: fs}, Name: name, Text: p.Text, Pos: p.Pos}
	if naming.IsPattern(t.Name) {
		t.Name = p.Provider
	}
	for _, fn := range s.matchFunctions(p, name) {
		place := tree.Place{Func: fn.Name, Module: fn.Module, BTF: fn.BTF}
		fs.Funcs = append(fs.Funcs, &Function{Name: fn.Name, Text: p.Provider + ":" + fn.Name, Place: place, Proto: fn})
	}
	has := s.Facts.Features()
	multi := has.Kprobe && has.KprobeMulti && (len(fs.Funcs) > maxTrampolines || s.Facts.MissesCalls())
	if !multi && s.Facts.Trampolines().There && s.trampolines(fs) {
		fs.Mech = tree.AttachFentry
		return []*Target{t}
	}
	if !multi {
		s.notef(p.Pos, "%s: %s, so kprobes at entry and return are used", p.Text, s.whyNoTrampoline(fs))
	}
	s.mustHave(has.Kprobe, "way to probe functions", has.Why["kprobe"], p)
	return []*Target{t}
}

// maxTrampolines is up to how many functions get trampolines: each has programs
// of its own. In an emulated guest with Linux 6.18 (startrace -v) 10 functions took
// 1.4 s to load and 0.9 s to attach, 78 by one session of kprobes 0.4 s and 0.3 s.
const maxTrampolines = 16

// FunctionCalls are the calls of functions: spans.
type FunctionCalls struct{ *Functions }

func (*FunctionCalls) IsSpan() bool { return true }

func (c *FunctionCalls) single(t *Target) []*Target { return []*Target{t} }

func (*FunctionCalls) attach(t *Target) tree.Attach { return ofSpan{}.attach(t) }

// Kept: the key is the thread's, or the goroutine's, and the depth.
func (*FunctionCalls) Kept() []string { return []string{"time", "tid"} }
