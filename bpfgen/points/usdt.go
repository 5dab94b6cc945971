package points

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/usdt"
)

// The points usdt:BINARY:PROVIDER:NAME, with names and types of their arguments.

// staticProbes gives the target of usdt:BINARY:[PROVIDER:]NAME. Each site of a
// probe has its own places of the arguments; sites that agree share a program.
func (s search) staticProbes(p *plan.Pattern) []*Target {
	file, pattern := p.Args[0], strings.Join(p.Args[1:], ":")
	if len(p.Args) == 1 {
		file, pattern = "", p.Args[0]
	}
	if s.Programs == nil {
		refusal.Wrong(p.Pos, "%s: programs cannot be looked at here", p.Text)
	}
	list, at, err := s.Programs.Static(file, pattern)
	s.tellReplaced(p, at)
	if err != nil {
		unread(p, file, err)
	}
	s.mustHave(s.Facts.Features().Uprobe, "uprobes", s.Facts.Features().Why["uprobe"], p)
	fs := &Functions{Mech: tree.AttachUprobe, Binary: at.Path, Same: at.Same, Process: s.onlyProcess()}
	for _, probe := range list {
		operands := s.operands(p, &probe)
		for i := range probe.Places {
			site := &probe.Places[i]
			f := &Function{Name: probe.Name, Text: p.Provider + ":" + at.Name + ":" + probe.Provider + ":" + probe.Name,
				User: true, Site: site, static: site.Addr, Operands: operands}
			f.Place = tree.Place{Func: probe.Provider + ":" + probe.Name, Offset: site.Offset,
				Semaphore: site.Semaphore}
			fs.Funcs = append(fs.Funcs, f)
		}
	}
	return []*Target{{Source: fs, Text: p.Text, Name: p.Provider, Pos: p.Pos}}
}

// operands are the names and types of the arguments of a probe, as far as they are known.
func (f *Finder) operands(p *plan.Pattern, probe *usdt.StaticProbe) []ctypes.Param {
	btf, err := f.Facts.BTF()
	if f.Types == nil || err != nil {
		return nil
	}
	out, err := ctypes.Operands(btf, f.Types(), probe.Provider, probe.Name, probe.Args())
	if err != nil {
		refusal.Wrong(p.Pos, "%v", err)
	}
	return out
}
