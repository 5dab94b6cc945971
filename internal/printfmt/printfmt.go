// Package printfmt prints records of tracepoints by the format that the kernel gives with each, an argument list of
// printk in C:
//
//	"dev %d,%d dir %lu mode 0%o", ((unsigned int) ((REC->dev) >> 20)), …, REC->mode
//
// Addresses of networks (%pI4) and sets of bits (%*pbl) are printed from the bytes of the record. An argument that asks
// for the kernel's memory cannot be computed here, and prints as NotShown. Where a field would be lost by that, Parse
// refuses the format, and callers print the fields by name. A field that is not there in one event, as a string that
// could not be read, prints as the text that says so, in its place.
package printfmt

import (
	"fmt"
	"strings"
)

// A format of a tracepoint parsed, and applied to a record.

// A Format is what the kernel prints of one tracepoint.
type Format struct {
	parts []part
	args  []node
}

// A part is text, and the conversion that follows it: none at the end.
type part struct {
	before string
	spec
}

// arguments are how many values the conversion takes.
func (p *part) arguments() int {
	n := 1
	if p.width == fromArgument {
		n++
	}
	if p.precision == fromArgument {
		n++
	}
	return n
}

// Symbol names an address of the kernel's code, for %ps, with the offset in the code for %pS.
type Symbol func(addr uint64, offset bool) string

// Parse reads the text after "print fmt: ". enums gives constants by name.
func Parse(s string, enums func(string) (int64, bool)) (*Format, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{rest: tokens, enums: enums}
	out := &Format{}
	if out.parts, err = split(p.text()); err != nil {
		return nil, err
	}
	if out.args, err = p.arguments(); err != nil {
		return nil, err
	}
	want := 0
	for i := range out.parts[:len(out.parts)-1] {
		want += out.parts[i].arguments()
	}
	if p.peek().kind != end || len(out.args) != want {
		return nil, fmt.Errorf("%d arguments for %d conversions, then %q", len(out.args), len(out.parts)-1,
			p.peek().text)
	}
	return out, nil
}

func split(format string) ([]part, error) {
	var parts []part
	before := ""
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return append(parts, part{before: before + format}), nil
		}
		conversion, n, err := parseSpec(format[at:])
		if err != nil {
			return nil, err
		}
		before, format = before+format[:at], format[at+n:]
		if conversion.verb == "%" {
			before += "%"
			continue
		}
		parts = append(parts, part{before, conversion})
		before = ""
	}
}

// Append adds the text of a record.
func (f *Format) Append(dst []byte, fields Fields, symbol Symbol) ([]byte, error) {
	next := 0
	for i := range f.parts {
		p := &f.parts[i]
		dst = append(dst, p.before...)
		if p.verb == "" {
			break
		}
		var values []Value
		for range p.arguments() {
			v, err := f.args[next](fields)
			if err != nil {
				return dst, err
			}
			values = append(values, v)
			next++
		}
		text, err := p.given(values).text(values[len(values)-1], symbol)
		if err != nil {
			return dst, err
		}
		dst = append(dst, text...)
	}
	return dst, nil
}
