package session

import (
	"fmt"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/audit"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/render"
)

// `startrace audit`: a script is compiled and its report printed.

// Audit compiles a script and says what it may do: what it reads, what leaves
// the kernel, what it wants outside of tracing, and what an event costs at most.
// Nothing is loaded. The script's top level is run, as it must be to know its
// probes, in a world in which it can write, run and see nothing.
func Audit(o Options) (exit int, err error) {
	defer Guard(&o, &exit, &err)
	o.Unsafe = true // what the script asks for is told, and not refused
	s := newSession(o)
	s.untraced = true
	defer s.close()
	args, err := s.prepare()
	if err == nil && s.out.Format() != render.Text && s.out.Format() != render.JSON {
		err = mistake.Usagef("--format %s: audit prints text or json", s.Format)
	}
	if err != nil {
		return Failed, mistake.Tidy(err)
	}
	s.host.Env().Outside = nil
	if ended, err := runLooking(s, args); err != nil {
		return Failed, mistake.Tidy(err)
	} else if ended {
		return s.finish(nil)
	}
	p := s.whole()
	s.explainTarget(&p.Plan.Target)
	result, err := s.loader.Compile(p, Stages{Cost: true})
	if err != nil {
		return Failed, mistake.Tidy(err)
	}
	in := s.loader.ReportInput(p, result, nil)
	in.Unit, in.Who = p.Unit, s.whose(p.Plan.Target)
	return s.showAudit(audit.New(in, s.asks()))
}

// asks are the places at which the script and what it loads reach outside of
// tracing.
func (s *session) asks() (out []audit.Ask) {
	for _, en := range builtins.Entries() {
		if en.Reaches == "" {
			continue
		}
		for _, pos := range s.host.Sources().Places(en.Name) {
			out = append(out, audit.Ask{Builtin: en.Name, What: en.Reaches, Needs: en.Needs, Pos: pos.String()})
		}
	}
	return out
}

// showAudit prints the audit instead of what the script has printed.
func (s *session) showAudit(a *audit.Report) (int, error) {
	if err := show(s.out, a); err != nil {
		return Failed, fmt.Errorf("audit: %w", err)
	}
	return Done, s.out.Err()
}
