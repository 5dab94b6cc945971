package listing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Tracepoints and raw tracepoints in `startrace list`, with notes about their arguments.

// tracepoints finds CATEGORY:NAME; a category alone means all of it.
func (s *Source) tracepoints(r *Result, k *point.Kind, rest string) error {
	f := point.Split(rest, 2)
	group, name := orAll(f[0]), "*"
	if len(f) == 2 {
		name = orAll(f[1])
	}
	found, err := s.Facts.MatchTracepoints(group, name)
	if err == nil && len(found) == 0 && len(f) == 1 { // a name without its category
		found, err = s.Facts.MatchTracepoints("*", group)
		name = group
	}
	if err != nil {
		r.problem(err)
		return nil
	}
	for _, n := range found {
		r.Points = append(r.Points, &Point{Name: k.Name + ":" + n.String(), Kind: k.Name, detail: s.tracepoint(n)})
	}
	if len(found) == 0 {
		r.hint(s.nearTracepoint(k, group, name))
	}
	return nil
}

// nearTracepoint is a hint for names that no tracepoint has.
func (s *Source) nearTracepoint(k *point.Kind, group, name string) string {
	if !naming.IsPattern(group) {
		var none *kernel.NoPointError
		if _, err := s.Facts.Tracepoint(group, name); errors.As(err, &none) && none.Near != "" {
			return didYouMean(k.Name + ":" + none.Near)
		}
	}
	if naming.IsPattern(name) {
		return ""
	}
	all, err := s.Facts.MatchTracepoints("*", "*")
	if err != nil {
		return ""
	}
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
	}
	near := naming.Suggest(name, names)
	for _, n := range all {
		if near != "" && n.Name == near {
			return didYouMean(k.Name + ":" + n.String())
		}
	}
	return ""
}

// tracepoint reads the format of a tracepoint.
func (s *Source) tracepoint(n kernel.TracepointName) func(*Point) {
	return func(p *Point) {
		t, err := s.Facts.Tracepoint(n.Group, n.Name)
		if err != nil {
			p.Notes = append(p.Notes, err.Error())
			return
		}
		for _, f := range t.OwnFields() {
			p.Fields = append(p.Fields, tracepointField(t, f))
		}
		p.Format = strings.ReplaceAll(t.PrintFmt, "\n", `\n`)
	}
}

func tracepointField(t *kernel.Tracepoint, f kernel.TracepointField) Field {
	if f.Arg != nil {
		return callArgument(strings.TrimPrefix(t.Name, "sys_enter_"), *f.Arg, 0)
	}
	out := Field{Name: argName(f.Name, 0), C: f.CType, Size: f.Size, Type: "int"}
	switch {
	case f.DataLoc || f.RelLoc:
		out.Size = 0
		if out.Type = "string"; !f.IsString {
			out.Type, out.Note = "array", "of dynamic length"
		}
	case f.IsString:
		out.Type, out.C = "string", f.CType+lengthOf(f)
	case f.Array:
		out.Type, out.C, out.Note = "array", f.CType+lengthOf(f), wholeNote(f)
	case f.IsPtr:
		out.Type = pointerWord(f.CType)
	case f.Size > 8:
		out.Type, out.Note = "struct", "more than 64 bits: no value"
	case f.CType == "bool":
		out.Type = "bool"
	}
	return out
}

// wholeNote says that an array has too many elements to be a value.
func wholeNote(f kernel.TracepointField) string {
	if f.ArrayLen <= kernel.MaxArray {
		return ""
	}
	first := argName(f.Name, 0) + "[0]"
	return fmt.Sprintf("more than %d elements: no value, each of them is, as %s", kernel.MaxArray, first)
}

func lengthOf(f kernel.TracepointField) string {
	if f.ArrayLen == 0 {
		return "[]"
	}
	return fmt.Sprintf("[%d]", f.ArrayLen)
}

// pointerWord is what a script gets for a pointer of this type in C: of a
// struct it can read the fields.
func pointerWord(ctype string) string {
	to := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(ctype), "*"))
	to = strings.TrimPrefix(to, "const ")
	if to == "char" {
		return "string"
	}
	return "pointer"
}

// rawTracepoints finds tracepoints by their names alone, with the arguments
// of their call sites.
func (s *Source) rawTracepoints(r *Result, k *point.Kind, rest string) error {
	found, err := s.Facts.MatchRawTracepoints(orAll(rest))
	if err != nil {
		r.problem(err)
		return nil
	}
	for _, name := range found {
		r.Points = append(r.Points, &Point{Name: k.Name + ":" + name, Kind: k.Name, detail: s.rawTracepoint(name)})
	}
	if len(found) == 0 && !naming.IsPattern(rest) {
		_, err := s.Facts.RawTracepoint(rest)
		r.none(k, err)
	}
	return nil
}

func (s *Source) rawTracepoint(name string) func(*Point) {
	return func(p *Point) {
		t, err := s.Facts.RawTracepoint(name)
		if err != nil {
			p.Notes = append(p.Notes, err.Error())
			return
		}
		p.Fields = s.params(t.Params)
	}
}
