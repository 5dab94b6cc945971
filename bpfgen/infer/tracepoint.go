package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A tracepoint is one of the kernel's, with the arguments of its format.
type tracepoint struct {
	onePoint
	kernel.TracepointName
}

// tracepoints gives the targets of tracepoint:CATEGORY:NAME.
func (u finder) tracepoints(p *plan.Pattern) []*target {
	fields(p, 2, "tracepoint:CATEGORY:NAME")
	names, err := u.facts.MatchTracepoints(p.Args[0], p.Args[1])
	if err != nil {
		wrong(p.Pos, "%v", err)
	}
	var out []*target
	for _, n := range names {
		out = append(out, &target{source: &tracepoint{TracepointName: n}, text: "tracepoint:" + n.String(),
			name: n.Name, pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := u.facts.Tracepoint(p.Args[0], p.Args[1]); err != nil && !kernel.IsPattern(p.Args[0]+p.Args[1]) {
			wrong(p.Pos, "%v", err)
		}
		wrong(p.Pos, "no tracepoint matches %s", p.Text)
	}
	return out
}

func (tp *tracepoint) attach(*target) tree.Attach {
	return tree.Attach{Way: tree.Tracepoint{Group: tp.Group, Name: tp.Name}}
}

func (tp *tracepoint) event(t *target, b *body) *event {
	format, err := b.u.facts.Tracepoint(tp.Group, tp.Name)
	if err != nil {
		wrong(t.pos, "%v", err)
	}
	return &event{b: b, point: t.text, args: &tracepointArgs{format}}
}

// args are e.args of any of its events; nil where the format cannot be read.
func (tp *tracepoint) args(u *unit) *tracepointArgs {
	format, err := u.facts.Tracepoint(tp.Group, tp.Name)
	if err != nil {
		return nil
	}
	return &tracepointArgs{format}
}

func (tp *tracepoint) argNames(u *unit) []string {
	if args := tp.args(u); args != nil {
		return args.names()
	}
	return nil
}

func (tp *tracepoint) argCount(u *unit) int {
	if args := tp.args(u); args != nil {
		return len(args.own())
	}
	return 0
}

// ownDoing: system calls are the current process's.
func (tp *tracepoint) ownDoing() bool { return tp.Group == "syscalls" || tp.Group == "raw_syscalls" }
