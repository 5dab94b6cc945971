package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// What `explain` finds of a probe: programs, events it sends, spans.

func (in *Input) probe(p *plan.Probe) Probe {
	out := Probe{Name: p.Name, Pos: p.Pos.String(), Points: []string{}, Functions: []Function{}}
	if r := in.Result; r != nil {
		out.Points = append(out.Points, r.Names[p.ID]...)
		for _, c := range r.Choices {
			if c.Probe == p.ID {
				out.Choices = append(out.Choices, Choice{c.Chosen, c.Refused, c.Rest})
			}
		}
		for _, at := range r.Placed {
			if at.Probe == p.ID {
				out.Functions = append(out.Functions, in.function(at))
			}
		}
	}
	if in.Unit == nil {
		return out
	}
	for _, rec := range in.Unit.Tree.Records {
		if rec.Probe == p.ID {
			out.Events = addEvent(out.Events, event(rec))
			half := in.Result.Halves[p.ID]
			out.Printed = out.Printed || !rec.Start && half == nil
		}
	}
	for _, s := range in.Unit.Tree.Spans {
		if s.Probe == p.ID {
			out.Spans = append(out.Spans, span(s))
		}
	}
	out.Keep = p.Keep
	out.Programs = in.programs(p.ID)
	return out
}

// programs are those of one probe, -1: of none.
func (in *Input) programs(probe int) (out []Program) {
	for _, p := range in.Unit.Tree.Programs {
		if p.Probe != probe {
			continue
		}
		attached, times := in.attachment(p)
		n := 0
		if spec := in.Unit.Spec.Programs[p.Name]; spec != nil {
			n = int(spec.Instructions.Size()) / insnSize
		}
		out = append(out, Program{p.Name, attached, times, n, p.Code, in.called(p.Name)})
	}
	return out
}

func (in *Input) called(program string) (out []Called) {
	for _, c := range in.Unit.Calls[program] {
		out = append(out, Called{c.Name, c.Pos.String(), c.Times, c.Insns, c.Why, c.Rounds})
	}
	return out
}

// insnSize is the size of an instruction in bytes.
const insnSize = 8

func event(rec *wire.Record) Event {
	e := Event{Number: rec.Number, Start: rec.Start, Header: wire.HeaderSize, Min: rec.FixedSize, Max: rec.MaxSize,
		Fields: []Field{}}
	for _, f := range rec.Fields {
		e.Fields = append(e.Fields, fields(f.Name, f.Type, f.Room, true)...)
	}
	return e
}

// span says what is kept between a start and an end.
func span(s *tree.Span) Span {
	out := Span{Bytes: layout.Span(s.Slots).Size, Entries: s.Size, By: "thread", Kept: []string{}}
	if s.Key.Kind != types.Bot {
		out.By = "key (" + valueWords(s.Key) + ")"
	}
	for i, t := range s.Slots {
		out.Kept = append(out.Kept, slotName(s, i)+" ("+valueWords(t)+")")
	}
	return out
}

// valueWords is the type of a value of a kernel half in words.
func valueWords(t types.Type) string {
	switch t.Kind {
	case types.Int:
		return fmt.Sprintf("int of %d bits", t.Bits)
	case types.Str:
		return fmt.Sprintf("string of up to %d bytes", t.Cap)
	case types.Bytes:
		return fmt.Sprintf("up to %d bytes", t.Cap)
	case types.Ptr, types.Mem:
		return "address"
	case types.Bool, types.None, types.Stack, types.Bot:
		return t.Present().String()
	}
	var parts []string
	for _, e := range t.Elems {
		parts = append(parts, valueWords(e))
	}
	return strings.Join(parts, ", ")
}

// slotName says what a slot keeps.
func slotName(s *tree.Span, i int) string {
	if i >= len(s.Names) {
		return "a value"
	}
	switch name := s.Names[i]; {
	case strings.HasPrefix(name, "reg:"):
		return "an argument of the call"
	case name == "value":
		return "a value"
	default:
		return strings.TrimPrefix(name, tree.Inner)
	}
}

// addEvent joins events with the same layout: a probe has one for each way on
// which its points read the fields.
func addEvent(list []Event, e Event) []Event {
	for i := range list {
		if have := &list[i]; have.Start == e.Start && have.Max == e.Max && slices.Equal(have.Fields, e.Fields) {
			have.Others = append(have.Others, e.Number)
			return list
		}
	}
	return append(list, e)
}

// fields lists the leaves of a type: a tuple has one for each element. room
// is the most bytes of the text of a string in a record.
func fields(name string, t wire.Type, room int, record bool) (out []Field) {
	if t.Kind == wire.Tuple || t.Kind == wire.Record_ {
		for i, e := range t.Elems {
			sub := fmt.Sprintf("%s[%d]", name, i)
			if t.Kind == wire.Record_ {
				sub = strings.TrimPrefix(name+"."+t.Names[i], ".")
			}
			out = append(out, fields(sub, e, room, record)...)
		}
		return out
	}
	f := Field{Name: name, Type: typeName(t), Off: t.Off, Bytes: t.Size}
	if t.TagOff >= 0 {
		f.Bytes++
	}
	if record && (t.Kind == wire.Str || t.Kind == wire.Bytes) {
		f.Text = room
	}
	return append(out, f)
}

// typeName is a type in words.
func typeName(t wire.Type) string {
	var s string
	switch t.Kind {
	case wire.None:
		s = "None"
	case wire.Bool:
		s = "bool"
	case wire.Int:
		s = fmt.Sprintf("int of %d bits", 8*t.Size)
		if !t.Signed {
			s += ", not negative"
		}
	case wire.Float:
		s = fmt.Sprintf("float of %d bits", 8*t.Size)
	case wire.Str:
		s = "string"
	case wire.Bytes:
		s = "bytes"
	case wire.Pointer:
		s = "address"
	case wire.StackID:
		s = "stack (its number)"
	default:
		s = fmt.Sprintf("kind %d", t.Kind)
	}
	if t.Label != "" {
		label, _, _ := strings.Cut(t.Label, ":")
		s += ", shown by " + label
	}
	if t.TagOff >= 0 {
		s += ", or None or FAULT"
	}
	return s
}
