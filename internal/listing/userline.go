package listing

import (
	"fmt"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/point"
)

// Lines and places of programs in `startrace list`.

// userLine finds the places of a line of a program's source.
func (s *Source) userLine(r *Result, k *point.Kind, file, source string, line int) error {
	if s.Programs == nil {
		return errNoPrograms
	}
	list, at, err := s.Programs.Lines(file, source, line)
	if err != nil {
		r.problem(err)
		return nil
	}
	for i := range list {
		p := &Point{Name: fmt.Sprintf("%s:%s:%s:%d", k.Name, at.Name, source, line), Kind: k.Name, File: at.Name}
		p.detail = func(p *Point) { s.placeOfLine(p, at, list[i]) }
		r.Points = append(r.Points, p)
	}
	r.problem(s.missing(k))
	return nil
}

// behindStart finds the place so many bytes behind the start of a function.
func (s *Source) behindStart(r *Result, k *point.Kind, file, function string, offset uint64) error {
	list, at, err := s.Programs.Functions(binary.Query{File: file, Pattern: function})
	if err != nil {
		r.problem(err)
		return nil
	}
	for _, fn := range list {
		if fn.Copy != nil {
			continue
		}
		if err := s.Programs.Inside(at, fn, offset); err != nil {
			r.problem(err)
			continue
		}
		fn.Entry = fn.Start + offset
		p := &Point{Name: fmt.Sprintf("%s:%s:%s+%d", k.Name, at.Name, fn.Name, offset), Kind: k.Name, File: at.Name}
		p.detail = func(p *Point) { s.placeOfLine(p, at, fn) }
		r.Points = append(r.Points, p)
	}
	r.problem(s.missing(k))
	return nil
}

// placeOfLine fills in where a place is, and the variables there.
func (s *Source) placeOfLine(p *Point, at *binary.File, fn binary.Function) {
	inside := fn.Entry - fn.Start
	p.Where = fmt.Sprintf("address %#x, in %s", fn.Addr+inside, fn.Name)
	if fn.Inlined {
		p.Notes = append(p.Notes, fn.Name+" was inlined here")
	}
	p.Fields = append(p.Fields, Field{Name: "e.source", Type: "string"})
	list, err := s.Programs.Locals(at, fn, inside)
	if err != nil {
		p.Notes = append(p.Notes, "its variables are not known: "+err.Error())
	}
	for i := range list {
		p.Fields = append(p.Fields, s.variable(at, &list[i]))
	}
}

// variable is one by its type.
func (s *Source) variable(at *binary.File, v *locals.Variable) Field {
	name := "e.vars." + v.Name
	f := Field{Name: name, Type: "int"}
	if btf, err := s.Facts.BTF(); err == nil && v.Type != 0 {
		if id, err := s.Programs.Type(at, v.Type, btf); err == nil {
			f = s.typed(name, id)
		}
	}
	switch v.Place.Kind {
	case location.Nowhere:
		f.Note = "it has no value here: it is FAULT"
	case location.Unreadable:
		f.Note = "it cannot be read"
	}
	return f
}
