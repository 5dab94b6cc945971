package points

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

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
	fs := &Functions{Mech: tree.AttachUprobe, Binary: at.Path, Process: s.onlyProcess()}
	for _, probe := range list {
		for i := range probe.Places {
			site := &probe.Places[i]
			f := &Function{Name: probe.Name, Text: p.Provider + ":" + at.Name + ":" + probe.Provider + ":" + probe.Name,
				User: true, Site: site}
			f.Place = tree.Place{Func: probe.Provider + ":" + probe.Name, Offset: site.Offset,
				Semaphore: site.Semaphore}
			fs.Funcs = append(fs.Funcs, f)
		}
	}
	return []*Target{{Source: fs, Text: p.Text, Name: p.Provider, Pos: p.Pos}}
}
