package points

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A Tracepoint is one of the kernel's, with the arguments of its format.
type Tracepoint struct {
	onePoint
	kernel.TracepointName
}

// tracepoints gives the targets of tracepoint:CATEGORY:NAME.
func (s search) tracepoints(p *plan.Pattern) []*Target {
	fields(p, 2, "tracepoint:CATEGORY:NAME")
	names, err := s.Facts.MatchTracepoints(p.Args[0], p.Args[1])
	if err != nil {
		refusal.Wrong(p.Pos, "%v", err)
	}
	var out []*Target
	for _, n := range names {
		out = append(out, &Target{Source: &Tracepoint{TracepointName: n}, Text: "tracepoint:" + n.String(),
			Name: n.Name, Pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := s.Facts.Tracepoint(p.Args[0], p.Args[1]); err != nil && !kernel.IsPattern(p.Args[0]+p.Args[1]) {
			refusal.Wrong(p.Pos, "%v", err)
		}
		refusal.Wrong(p.Pos, "no tracepoint matches %s", p.Text)
	}
	return out
}

func (tp *Tracepoint) attach(*Target) tree.Attach {
	return tree.Attach{Way: tree.Tracepoint{Group: tp.Group, Name: tp.Name}}
}

// fields are what is in e.args of any of its events; none where the format cannot be read.
func (tp *Tracepoint) fields(facts *kernel.Facts) []kernel.TracepointField {
	format, err := facts.Tracepoint(tp.Group, tp.Name)
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
