package session

import (
	"fmt"
	"io"
	"strings"

	"github.com/startrace/startrace/bpfgen/infer"
)

// Stages are the stages of the compiler that explain shows.
type Stages struct{ Types, IR, Asm bool }

// Explain compiles a script and shows what became of it; nothing is loaded.
// st is complete once the arguments behind the file have been read.
func Explain(o Options, st *Stages) (exit int, err error) {
	defer guard(o, &exit, &err)
	s := newSession(o)
	defer s.close()
	args, err := s.prepare()
	if err != nil {
		return Failed, tidy(err)
	}
	if ended, err := s.runScript(args); ended || err != nil {
		return s.finish(err)
	}
	s.makePlan()
	s.out.buf = s.out.buf[:0] // what the script printed is not asked for
	result, err := s.compile(*st)
	if err != nil {
		return Failed, err
	}
	w := outputWriter{s.out}
	explainPlacement(w, result, func(id int) string { return probeName(s.plan, id) })
	if st.Types {
		fmt.Fprintf(w, "\n%s", result.Tree)
	}
	if st.IR {
		for _, p := range s.unit.Tree.Programs {
			fmt.Fprintf(w, "\nprogram %s\n%s", p.Name, s.unit.Dumps[p.Name].IR)
		}
	}
	if st.Asm {
		s.explainAsm(w)
	}
	s.out.flush()
	return Done, s.out.failure()
}

type outputWriter struct{ *output }

func (w outputWriter) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	w.full()
	return len(b), nil
}

// explainPlacement says for each function of each probe where it runs.
func explainPlacement(w io.Writer, result *infer.Result, probe func(int) string) {
	last := -1
	for _, p := range result.Placed {
		if p.Probe != last {
			last = p.Probe
			n := result.Points[p.Probe]
			fmt.Fprintf(w, "%s: %d point%s\n", probe(p.Probe), n, plural(n))
		}
		fmt.Fprintf(w, "  %-8s runs in %s space", p.Role, p.Side)
		if p.Fn != nil {
			fmt.Fprintf(w, " (%s, %s)", p.Fn.Name, p.Fn.Pos)
		}
		fmt.Fprintln(w)
		if p.Why != "" {
			fmt.Fprintf(w, "           because %s\n", p.Why)
		}
		if len(p.Sends) > 0 {
			fmt.Fprintf(w, "           gets %s\n", strings.Join(p.Sends, ", "))
		}
	}
}

// explainAsm lists the programs as they are loaded.
func (s *session) explainAsm(w io.Writer) {
	for _, p := range s.unit.Tree.Programs {
		spec := s.unit.Spec.Programs[p.Name]
		if spec == nil {
			continue
		}
		fmt.Fprintf(w, "\nprogram %s: %v, %d instructions\n%v", p.Name, p.Attach, len(spec.Instructions), spec.Instructions)
	}
}
