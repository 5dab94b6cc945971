package points

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The points fentry:bpf:PROGRAM and fexit:bpf:PROGRAM, at programs of BPF that are loaded.

// bpfPrograms gives the targets of fentry:bpf:PROGRAM and fexit:bpf:PROGRAM. A
// trampoline needs the program's own types (5.5), and its argument is the context.
func (s search) bpfPrograms(p *plan.Pattern) []*Target {
	glob, err := naming.Compile(p.Args[1])
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	has := s.Facts.Trampolines()
	s.mustHave(has.There, "trampolines ("+p.Provider+")", has.Why, p)
	list, err := s.Facts.BPFPrograms()
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	fs := &Functions{Mech: mechanism(p)}
	var names []string
	for _, prog := range list {
		names = append(names, prog.Name)
		switch {
		case !glob.Match(prog.Name):
		case prog.Func == 0 && !naming.IsPattern(p.Args[1]):
			refusal.Wrong(p.Pos, "%s: program %d was loaded without types (BTF), and nothing can be attached to it",
				p.Text, prog.ID)
		case prog.Func != 0:
			fs.Funcs = append(fs.Funcs, s.bpfProgram(p, prog))
		}
	}
	if len(fs.Funcs) == 0 {
		refusal.Wrong(p.Pos, "no BPF program that is loaded now matches %s%s", p.Text, refusal.Near(p.Args[1], names))
	}
	return []*Target{{Source: fs, Text: p.Text, Name: p.Args[1], Pos: p.Pos}}
}

func (s search) bpfProgram(p *plan.Pattern, prog kernel.BPFProgram) *Function {
	f := &Function{
		Name: prog.Name, Text: p.Provider + ":bpf:" + prog.Name, Program: true,
		Place: tree.Place{Func: prog.Name, Program: prog.ID, BTF: prog.Func},
	}
	if btf, err := s.Facts.BTF(); err == nil {
		if word, ok := btf.Named(kernel.KindInt, "long unsigned int"); ok {
			f.Proto = &kernel.Function{Name: prog.Name, ID: word, BTF: prog.Func,
				Params: []kernel.Param{{Name: "ctx", Type: word}}}
		}
	}
	return f
}
