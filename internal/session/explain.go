package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/starlark/script"
)

// `startrace explain`: a script is compiled and its report printed, with whose events count.

// Stages are the stages of the compiler that explain shows.
type Stages = explain.Stages

// nobody stands in listings for a process that is known only in a run: the
// tracer itself, or the command of -c. It is PID_MAX_LIMIT of the kernel's
// include/linux/threads.h, a number that no process has.
const nobody = 1 << 22

// Explain compiles a script and shows what became of it; nothing is loaded.
// Of a script with mistakes it shows what can be known. st is complete once
// the arguments behind the file have been read.
func Explain(o Options, st *Stages) (exit int, err error) {
	defer Guard(&o, &exit, &err)
	s := newSession(o)
	s.untraced = true
	defer s.close()
	args, err := s.prepare()
	if err == nil {
		err = s.checkExplain(*st)
	}
	if err != nil {
		return Failed, mistake.Tidy(err)
	}
	if ended, err := runLooking(s, args); ended || err != nil {
		return s.explainFailed(*st, err)
	}
	p := s.whole()
	s.explainTarget(&p.Plan.Target)
	result, err := s.loader.Compile(p, *st)
	return s.showReport(s.fullReport(p, result, *st, err), err)
}

// checkExplain refuses what explain cannot show.
func (s *session) checkExplain(st Stages) error {
	if st.Pass != "" && !slices.Contains(bpfgen.Passes(), st.Pass) {
		return mistake.Usagef("--ir=%s: the passes are %s", st.Pass, strings.Join(bpfgen.Passes(), ", "))
	}
	if f := s.out.Format(); f != render.Text && f != render.JSON {
		return mistake.Usagef("--format %s: explain prints text or json", s.Format)
	}
	return nil
}

// explainTarget restricts the plan as a run would.
func (s *session) explainTarget(t *plan.Target) {
	t.Cgroup, t.User = s.target.Passing()
	switch {
	case s.target.Command() != "":
		t.PID, t.Follow = nobody, true
	case len(s.PIDs) > 0:
		t.PID, t.Also, t.Follow = s.PIDs[0], s.PIDs[1:], s.Follow
	default:
		t.Self = nobody
	}
}

// explainFailed shows the probes that a script declared before it failed.
func (s *session) explainFailed(st Stages, failed error) (int, error) {
	var mistakes script.Errors
	if !errors.As(failed, &mistakes) {
		return s.finish(failed)
	}
	p := s.whole()
	if len(p.Plan.Probes) == 0 {
		return Failed, mistake.Tidy(failed)
	}
	// What inference finds wrong may be due to what is missing.
	result, err := infer.Plan(p.Plan, s.machine.Facts(), infer.Options{Programs: s.machine.Programs()})
	var diags refusal.Diags
	if err != nil && !errors.As(err, &diags) {
		return Failed, err
	}
	return s.showReport(s.fullReport(p, result, st, failed), failed)
}

// fullReport is everything that explain knows.
func (s *session) fullReport(p *parts.Part, result *infer.Result, st Stages, failed error) *explain.Report {
	in := s.loader.ReportInput(p, result, failed)
	in.Stages, in.Unit, in.Who = st, p.Unit, s.whose(p.Plan.Target)
	if t := p.Plan.Target; t.Self == nobody {
		in.Note = fmt.Sprintf("%d stands for the process of startrace itself, whose events are left out.", nobody)
	} else if t.PID == nobody {
		in.Note = fmt.Sprintf("%d stands for the process that -c starts.", nobody)
	}
	for _, t := range s.timers.All() {
		if t.Func == nil {
			continue
		}
		when := "after " + time.Duration(t.Deadline).String()
		if t.Period > 0 {
			when = "every " + time.Duration(t.Period).String()
		}
		in.Callbacks = append(in.Callbacks, callbackOf(when, t.Func))
	}
	for _, fn := range s.calls.AtExit {
		in.Callbacks = append(in.Callbacks, callbackOf("at exit", fn))
	}
	return explain.New(in)
}

// whose says in words which processes a run concerns.
func (s *session) whose(t plan.Target) string {
	var of []string
	switch {
	case s.target.Command() != "":
		of = append(of, "of the command "+s.target.Command())
	case len(s.PIDs) == 1:
		of = append(of, fmt.Sprintf("of process %d", s.PIDs[0]))
	case len(s.PIDs) > 1:
		of = append(of, "of the processes "+strings.Trim(fmt.Sprint(s.PIDs), "[]"))
	}
	if t.Follow {
		of[0] += ", and of what it starts"
	}
	for _, scope := range []struct{ words, value string }{
		{"in cgroup ", s.Cgroup}, {"in container ", s.Container}, {"of user ", s.User},
	} {
		if scope.value != "" {
			of = append(of, scope.words+scope.value)
		}
	}
	if len(of) > 0 {
		return fmt.Sprintf("Only events %s count.", strings.Join(of, "; "))
	}
	return "Events of all processes count, but not those of startrace itself."
}

func callbackOf(when string, fn starlark.Callable) explain.Callback {
	c := explain.Callback{When: when, Name: fn.Name()}
	if f, ok := fn.(*starlark.Function); ok {
		c.Pos = f.Position().String()
	}
	return c
}

// show prints a report as text or as JSON, instead of what the script has printed.
func show(out *output.Output, report interface{ WriteText(io.Writer) error }) (err error) {
	out.Drop()
	if out.Format() == render.JSON {
		enc := escape.JSONEncoder(out)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		err = report.WriteText(out)
	}
	out.Flush()
	return err
}

// showReport prints the report instead of what the script has printed.
func (s *session) showReport(r *explain.Report, failed error) (int, error) {
	switch err := show(s.out, r); {
	case failed != nil:
		return Failed, mistake.Tidy(failed)
	case err != nil:
		return Failed, fmt.Errorf("explain: %w", err)
	}
	return Done, s.out.Err()
}
