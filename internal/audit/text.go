package audit

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/paragraph"
)

// The text that `startrace audit` prints.

// fromWords say whose the values of a line are.
var fromWords = []struct {
	from  From
	words string
}{
	{FromEvent, "of the event"},
	{FromKernel, "of the kernel's memory"},
	{FromAddress, "where an address leads, to memory of the kernel or of the process"},
	{FromProcess, "of the process's memory"},
}

// A sheet is the text of a report; the folder of the script is left out of them.
type sheet struct{ paragraph.Page }

// WriteText prints the report for people.
func (a *Report) WriteText(w io.Writer) error {
	folder, _ := path.Split(a.Script)
	t := &sheet{paragraph.Page{Drop: folder}}
	t.Wrapped(0, 2, "%s: %s", a.Script, a.summary())
	t.Wrapped(0, 0, "%s", a.Who)
	t.Wrapped(0, 0, "The top level was run once to find this. Where it declares other probes, for other arguments, at "+
		"another time or on another machine, that is not here.")
	t.asks(a.Asks)
	for i := range a.Probes {
		t.auditProbe(&a.Probes[i])
	}
	if len(a.Own) > 0 {
		t.Line(0, "")
		t.Line(0, "programs that startrace adds")
		t.costs(a.Own)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// summary is the first line: what the script may do at all.
func (a *Report) summary() string {
	points, sends := 0, 0
	for _, p := range a.Probes {
		points += len(p.Points)
		sends += len(p.Events)
	}
	parts := []string{format.Count(len(a.Probes), "probe") + " at " + format.Count(points, "point")}
	if sends == 0 {
		parts = append(parts, "no event leaves the kernel, only what tables and aggregations hold")
	} else {
		parts = append(parts, "events leave the kernel")
	}
	parts = append(parts, "about "+explain.Size(a.Memory)+" of kernel memory")
	if wants := a.wants(); len(wants) > 0 {
		parts = append(parts, "it asks for "+strings.Join(wants, ", "))
	} else {
		parts = append(parts, "it writes no file, runs no command and changes nothing of what it traces")
	}
	return strings.Join(parts, "; ")
}

// wants are the flags without which something of the script is refused.
func (a *Report) wants() (out []string) {
	seen := map[string]bool{"": true}
	for _, ask := range a.Asks {
		if !seen[ask.Needs] {
			seen[ask.Needs] = true
			out = append(out, ask.Needs)
		}
	}
	return out
}

func (t *sheet) asks(asks []Ask) {
	if len(asks) == 0 {
		return
	}
	t.Line(0, "")
	t.Line(0, "outside of tracing")
	for _, ask := range asks {
		grant := ""
		if ask.Needs != "" {
			grant = ", refused without " + ask.Needs
		}
		t.Wrapped(2, 4, "%s at %s: %s%s", ask.Builtin, ask.Pos, ask.What, grant)
	}
}

func (t *sheet) auditProbe(p *Probe) {
	t.Line(0, "")
	t.Wrapped(0, 6, "probe %s (%s)", p.Name, p.Pos)
	t.Wrapped(2, 4, "%s", explain.Happens(p.Points))
	for _, f := range fromWords {
		var list []string
		for _, r := range p.Reads {
			if r.From == f.from {
				list = append(list, r.String())
			}
		}
		if len(list) > 0 {
			t.Wrapped(2, 4, "reads %s: %s", f.words, strings.Join(list, ", "))
		}
	}
	t.leaves(p.Events)
	if len(p.Shares) > 0 {
		t.Wrapped(2, 4, "keeps in the kernel: %s", strings.Join(p.Shares, ", "))
	}
	t.costs(p.Programs)
}

// leaves says what leaves the kernel with each event.
func (t *sheet) leaves(events []explain.Event) {
	if len(events) == 0 {
		t.Line(2, "sends nothing")
	}
	for i := range events {
		e := &events[i]
		var names []string
		for _, f := range e.Fields {
			names = append(names, f.Name)
		}
		what := cmp.Or(strings.Join(names, ", "), "that it happened, and when")
		t.Wrapped(2, 4, "sends, with up to %d bytes an event: %s", e.Max, what)
	}
}

func (t *sheet) costs(list []Program) {
	for _, p := range list {
		attached := p.Attached
		if p.Times > 1 {
			attached = fmt.Sprintf("%s (at %d places)", attached, p.Times)
		}
		t.Wrapped(2, 4, "costs at most %s instructions and %s of kernel functions: %s",
			most(p.Instructions), calls(p.Calls), attached)
	}
}

// most is a number in words; one that is too large to count is said to be that.
func most(n int64) string {
	if n == math.MaxInt64 {
		return "2^63 or more"
	}
	return fmt.Sprint(n)
}

func calls(n int64) string {
	if n == 1 {
		return "1 call"
	}
	return most(n) + " calls"
}
