package infer

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// bpfPrograms gives the targets of fentry:bpf:PROGRAM and fexit:bpf:PROGRAM. A
// trampoline needs the program's own types (5.5), and its argument is the context.
func (u finder) bpfPrograms(p *plan.Pattern) []*target {
	glob, err := kernel.CompileGlob(p.Args[1])
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	has := u.facts.Trampolines()
	u.mustHave(has.There, "trampolines ("+p.Provider+")", has.Why, p)
	list, err := u.facts.BPFPrograms()
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	fs := &functions{mech: kindOf(p).mech}
	var names []string
	for _, prog := range list {
		names = append(names, prog.Name)
		switch {
		case !glob.Match(prog.Name):
		case prog.Func == 0 && !kernel.IsPattern(p.Args[1]):
			wrong(p.Pos, "%s: program %d was loaded without types (BTF), and nothing can be attached to it", p.Text,
				prog.ID)
		case prog.Func != 0:
			fs.funcs = append(fs.funcs, u.bpfProgram(p, prog))
		}
	}
	if len(fs.funcs) == 0 {
		wrong(p.Pos, "no BPF program that is loaded now matches %s%s", p.Text, refusal.Near(p.Args[1], names))
	}
	return []*target{{source: fs, text: p.Text, name: p.Args[1], pos: p.Pos}}
}

func (u finder) bpfProgram(p *plan.Pattern, prog kernel.BPFProgram) *funcPoint {
	f := &funcPoint{
		name: prog.Name, text: p.Provider + ":bpf:" + prog.Name, program: true,
		place: tree.Place{Func: prog.Name, Program: prog.ID, BTF: prog.Func},
	}
	if btf, err := u.facts.BTF(); err == nil {
		if word, ok := btf.Named(kernel.KindInt, "long unsigned int"); ok {
			f.proto = &kernel.Function{Name: prog.Name, ID: word, BTF: prog.Func,
				Params: []kernel.Param{{Name: "ctx", Type: word}}}
		}
	}
	return f
}
