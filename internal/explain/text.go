package explain

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/paragraph"
)

// The text of `explain`: points, functions, events that are sent, notes, loops; and of what -v says runs where.

func itoa(n int) string { return strconv.Itoa(n) }

// WriteText prints the report for people.
func (r *Report) WriteText(w io.Writer) error {
	t := &text{paragraph.Page{Drop: r.folder()}}
	t.summary(r)
	for i := range r.Probes {
		t.probe(&r.Probes[i], r.compiled)
	}
	t.notes(r.Notes)
	t.callbacks(r.Callbacks)
	if len(r.Own) > 0 {
		t.Line(0, "")
		t.Line(0, "programs that startrace adds")
		t.programs(r.Own)
	}
	t.maps(r.Maps)
	t.helpers(r.Helpers)
	t.stages(r)
	_, err := io.WriteString(w, t.String())
	return err
}

// folder is that of the script, with its slash; "" for none.
func (r *Report) folder() string {
	dir, _ := path.Split(r.Script)
	return dir
}

// WritePlacement prints only what runs where, for -v.
func (r *Report) WritePlacement(w io.Writer) error {
	t := &text{paragraph.Page{Drop: r.folder()}}
	for i := range r.Probes {
		p := &r.Probes[i]
		t.Line(0, "probe %s: %s", p.Name, format.Count(len(p.Points), "point"))
		t.choices(p.Choices)
		t.functions(p)
	}
	t.notes(r.Notes)
	_, err := io.WriteString(w, t.String())
	return err
}

// text collects lines; the folder of the script is left out of them.
type text struct{ paragraph.Page }

func (t *text) summary(r *Report) {
	programs, insns, events, points := len(r.Own), 0, 0, 0
	for _, p := range r.Own {
		insns += p.Instructions
	}
	for _, p := range r.Probes {
		programs += len(p.Programs)
		events += len(p.Events)
		points += len(p.Points)
		for _, prog := range p.Programs {
			insns += prog.Instructions
		}
	}
	parts := []string{format.Count(len(r.Probes), "probe"), format.Count(points, "point")}
	if r.compiled {
		memory := 0
		for _, m := range r.Maps {
			memory += m.Memory
		}
		parts = append(parts, format.Count(programs, "program")+" of "+format.Count(insns, "instruction"),
			format.Count(events, "kind")+" of event", Size(memory)+" of kernel memory")
	}
	t.Wrapped(0, 2, "%s: %s", r.Script, strings.Join(parts, ", "))
	if r.Who != "" {
		t.Wrapped(0, 0, "%s", r.Who)
	}
	if r.compiled && len(r.Probes) > 0 {
		t.Wrapped(0, 0, "Functions of the kernel half run inside the kernel, each time a point is reached. "+
			"Those of the user half run in startrace, on the events that the kernel half sends.")
	}
	if len(r.Errors) > 0 {
		t.Wrapped(0, 0, "It cannot be compiled, so this is not all; the messages say why.")
	}
}

func (t *text) probe(p *Probe, compiled bool) {
	t.Line(0, "")
	t.Wrapped(0, 6, "probe %s (%s)", p.Name, p.Pos)
	t.Wrapped(2, 4, "%s", Happens(p.Points))
	t.choices(p.Choices)
	t.functions(p)
	if !compiled {
		return
	}
	for i := range p.Events {
		t.event(&p.Events[i])
	}
	if p.Keep > 0 {
		t.Line(2, "keeps the last %s in the kernel, until dump() or the end", format.Count(p.Keep, "event"))
	}
	if len(p.Events) == 0 {
		t.Line(2, "sends no events: what it finds stays in tables of the kernel")
	}
	for _, s := range p.Spans {
		t.Wrapped(2, 4, "pairs start and end by %s; until the end it keeps %s: %s", s.By, format.Count(s.Bytes, "byte"),
			listOr(s.Kept, "only that the call has begun"))
	}
	t.programs(p.Programs)
}

// shownPoints is how many points are listed.
const shownPoints = 8

// Happens says at which points a probe happens.
func Happens(points []string) string {
	switch n := len(points); {
	case n == 0:
		return "its points are not found: see the messages"
	case n > shownPoints:
		return fmt.Sprintf("happens at %d points: %s … and %d more", n, strings.Join(points[:shownPoints], ", "),
			n-shownPoints)
	default:
		return fmt.Sprintf("happens at %s: %s", format.Count(n, "point"), strings.Join(points, ", "))
	}
}

func (t *text) choices(choices []Choice) {
	for _, c := range choices {
		t.Wrapped(2, 4, "first() chose %s", strings.Join(c.Chosen, ", "))
		for _, why := range c.Refused {
			t.Wrapped(4, 4, "passed over: %s", why)
		}
		if c.Rest > 0 {
			t.Line(4, "not looked at: %s behind it", format.Count(c.Rest, "alternative"))
		}
	}
}

// roles are the words for what a function is to its probe.
var roles = map[string]string{"where": "where=", "kernel": "kernel=", "start": "start=", "handler": "handler",
	"event": "event", "key": "span key"}

func (t *text) functions(p *Probe) {
	for _, f := range p.Functions {
		role := roles[f.Role]
		if role == "" {
			role = f.Role
		}
		t.Line(2, "%-9s %s half: %s (%s)", role, f.Side, f.Name, f.Pos)
		t.Wrapped(6, 2, "because %s", f.Why)
		if len(f.Gets) > 0 {
			t.Wrapped(6, 2, "gets %s, read in the kernel at the moment of the event", strings.Join(f.Gets, ", "))
		}
		if len(f.Makes) > 0 {
			t.Wrapped(6, 2, "the kernel makes these changes before it sends the event: %s", strings.Join(f.Makes, ", "))
		}
		if len(f.Calls) > 0 {
			t.Wrapped(6, 2, "with it, on the same side: %s", strings.Join(f.Calls, ", "))
		}
		if len(f.Shares) > 0 {
			t.Wrapped(6, 2, "uses %s", strings.Join(f.Shares, ", "))
		}
		if len(f.Constants) > 0 {
			t.Wrapped(6, 2, "fixed when the script had run: %s", constants(f.Constants))
		}
	}
	if p.Printed {
		t.Line(2, "handler: none; startrace prints a line for each event")
	}
}

func constants(list []Constant) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Name+" = "+c.Value)
	}
	return strings.Join(parts, ", ")
}

func (t *text) event(e *Event) {
	of := ""
	if e.Start {
		of = " of the start"
	}
	if n := len(e.Others); n > 0 {
		of += fmt.Sprintf(" (in %d variants, by how its points get the fields)", n+1)
	}
	if e.Max == e.Min {
		t.Line(2, "sends an event%s of %s", of, format.Count(e.Min, "byte"))
	} else {
		t.Line(2, "sends an event%s of %d to %d bytes", of, e.Min, e.Max)
	}
	t.Line(6, "%5d bytes  %s", e.Header, "which event it is, the CPU, the time")
	used := e.Header
	for _, f := range e.Fields {
		used += f.Bytes
		text := ""
		if f.Text > 0 {
			text = fmt.Sprintf(", then up to %d of text", f.Text)
		}
		t.Line(6, "%5d bytes  %s: %s%s", f.Bytes, f.Name, f.Type, text)
	}
	if pad := e.Min - used; pad > 0 {
		t.Line(6, "%5d bytes  unused, so that numbers lie at multiples of their size", pad)
	}
}

func (t *text) programs(list []Program) {
	for _, p := range list {
		attached := p.Attached
		if p.Times > 1 {
			attached = fmt.Sprintf("%s (at %d places)", attached, p.Times)
		}
		insns := format.Count(p.Instructions, "instruction")
		if p.Code != "" {
			insns = "the instructions of " + p.Code
		}
		t.Wrapped(2, 4, "program %s, %s, attached to %s", p.Name, insns, attached)
		for _, c := range p.Calls {
			t.called(&c)
		}
	}
}

func (t *text) called(c *Called) {
	switch {
	case c.Rounds > 0 && c.Instructions > 0:
		t.Wrapped(6, 2, "loop at %s: its body is a subprogram of %s, which the kernel calls up to %d times (bpf_loop)",
			c.Pos,
			format.Count(c.Instructions, "instruction"), c.Rounds)
		return
	case c.Rounds > 0:
		t.Wrapped(6, 2, "loop at %s: the kernel's verifier follows each of its rounds, because %s", c.Pos, c.Why)
		return
	}
	where := fmt.Sprintf("%s, called at %s (first %s)", c.Name, format.Count(c.Places, "place"), c.Pos)
	if c.Instructions > 0 {
		t.Wrapped(6, 2, "%s: a subprogram of %s", where, format.Count(c.Instructions, "instruction"))
		return
	}
	t.Wrapped(6, 2, "%s: its code stands at each of them, because %s", where, c.Why)
}

// notes say what else the author may want to know.
func (t *text) notes(list []string) {
	for _, n := range list {
		t.Wrapped(0, 2, "note: %s", n)
	}
}

func (t *text) callbacks(list []Callback) {
	if len(list) == 0 {
		return
	}
	t.Line(0, "")
	t.Line(0, "functions without an event, all in the user half")
	for _, c := range list {
		t.Line(2, "%s: %s (%s)", c.When, c.Name, c.Pos)
	}
}

func (t *text) maps(list []Map) {
	if len(list) == 0 {
		return
	}
	t.Line(0, "")
	t.Line(0, "memory in the kernel (maps)")
	for i := range list {
		t.oneMap(&list[i])
	}
}

func (t *text) oneMap(m *Map) {
	name := m.Name
	if m.Pos != "" {
		name += " (" + m.Pos + ")"
	}
	kind := m.Kind
	if m.Map != m.Name {
		kind = m.Map + ", " + kind
	}
	t.Wrapped(2, 4, "%s: %s; %s [%s]", name, m.What, Size(m.Memory), kind)
	if len(m.Key) == 0 && len(m.Value) == 0 {
		return
	}
	if len(m.Key) > 0 {
		t.Wrapped(6, 2, "room for %s", format.Count(m.Entries, "entry"))
		t.Wrapped(6, 2, "key, %s: %s", format.Count(m.KeySize, "byte"), layoutText(m.Key))
	}
	t.Wrapped(6, 2, "value, %s: %s", format.Count(m.ValSize, "byte"), layoutText(m.Value))
}

// layoutText lists the parts of a key or value.
func layoutText(fields []Field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, fmt.Sprintf("%s %s (%d at %d)", f.Name, f.Type, f.Bytes, f.Off))
	}
	return strings.Join(parts, "; ")
}

func (t *text) helpers(list []Helper) {
	if len(list) == 0 {
		return
	}
	width := 0
	for _, h := range list {
		width = max(width, len(h.Name))
	}
	t.Line(0, "")
	t.Line(0, "functions of the kernel that the programs call (helpers), and at how many places")
	for _, h := range list {
		t.Line(2, "%4d  %-*s  %s", h.Calls, width, h.Name, h.What)
	}
}

// stages prints what --types, --ir and --asm ask for.
func (t *text) stages(r *Report) {
	if r.Note != "" && (r.Types != "" || len(r.IR) > 0 || len(r.Asm) > 0) {
		t.Line(0, "")
		t.Wrapped(0, 0, "%s", r.Note)
	}
	if r.Types != "" {
		t.Line(0, "")
		t.Line(0, "typed trees")
		t.Raw(r.Types)
	}
	for _, ir := range r.IR {
		t.Line(0, "")
		t.Line(0, "program %s, %s", ir.Program, ir.Stage)
		t.Raw(ir.Text)
	}
	for i := range r.Asm {
		t.listing(&r.Asm[i])
	}
}

// insnColumn is the width of an instruction in a listing.
const insnColumn = 48

func (t *text) listing(l *Listing) {
	t.Line(0, "")
	t.Line(0, "program %s, instructions", l.Program)
	for _, i := range l.Insns {
		if i.Function != "" {
			t.Line(2, "subprogram %s", i.Function)
		}
		if i.Pos == "" {
			t.Line(0, "%5d  %s", i.N, i.Text)
			continue
		}
		t.Line(0, "%5d  %-*s ; %s %s", i.N, insnColumn, i.Text, i.Pos, cut(i.Source))
	}
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

// Size is a number of bytes in words.
func Size(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return format.Count(n, "byte")
}
