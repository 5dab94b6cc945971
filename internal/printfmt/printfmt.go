// Package printfmt prints records of tracepoints by the format that the kernel gives with each, an argument list of
// printk in C:
//
//	"dev %d,%d dir %lu mode 0%o", ((unsigned int) ((REC->dev) >> 20)), …, REC->mode
//
// Addresses of networks (%pI4) are printed from the bytes of the record. A format that asks for the kernel's memory
// cannot be printed here. Parse refuses it, and callers print the fields by name.
package printfmt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Format is what the kernel prints of one tracepoint.
type Format struct {
	parts []part
	args  []node
}

// A part is text, and the conversion that follows it: none at the end.
type part struct {
	before string
	flags  string // and width and precision
	size   int    // bytes of the number
	verb   byte
	// address prints the bytes of an array as the address that %p asks for; nil for all other conversions.
	address func([]byte) (string, bool)
}

// Symbol names an address of the kernel's code, for %pS and its like.
type Symbol func(addr uint64) string

// Parse reads the text after "print fmt: ". enums gives constants by name.
func Parse(s string, enums func(string) (int64, bool)) (*Format, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{rest: tokens, enums: enums}
	format := ""
	for p.peek().kind == text {
		format += p.next().text
	}
	out := &Format{}
	if out.parts, err = split(format); err != nil {
		return nil, err
	}
	for p.take(",") {
		x, err := p.choice()
		if err != nil {
			return nil, err
		}
		out.args = append(out.args, x)
	}
	if p.peek().kind != end || len(out.args) != len(out.parts)-1 {
		return nil, fmt.Errorf("%d arguments for %d conversions, then %q", len(out.args), len(out.parts)-1,
			p.peek().text)
	}
	return out, nil
}

// conversion is %, flags, width and precision, the size of the number, the verb. What follows %p says how
// (printk-formats).
var conversion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%([-+ #0]*\d*(?:\.\d+)?)(hh|h|ll|l|z|t|j|q|L)?(%|p[A-Za-z]\w*|[diuxXocsp])`)
})

var sizes = map[string]int{"hh": 1, "h": 2, "": 4}

func split(format string) ([]part, error) {
	var parts []part
	before := ""
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return append(parts, part{before: before + format}), nil
		}
		m := conversion().FindStringSubmatch(format[at:])
		if m == nil || !strings.HasPrefix(format[at:], m[0]) {
			return nil, fmt.Errorf("conversion %q", format[at:])
		}
		before, format = before+format[:at], format[at+len(m[0]):]
		switch verb := m[3]; {
		case verb == "%":
			before += "%"
			continue
		case addresses[verb] != nil:
			parts = append(parts, part{before: before, flags: m[1], verb: 'p', address: addresses[verb]})
		case len(verb) > 1 && verb != "pS" && verb != "ps" && verb != "pF" && verb != "pf":
			return nil, fmt.Errorf("conversion %%%s", verb)
		default:
			size, ok := sizes[m[2]]
			if !ok {
				size = 8
			}
			parts = append(parts, part{before: before, flags: m[1], size: size, verb: verb[len(verb)-1]})
		}
		before = ""
	}
}

// Append adds the text of a record.
func (f *Format) Append(dst []byte, fields Fields, symbol Symbol) ([]byte, error) {
	for i, arg := range f.args {
		v, err := arg(fields)
		if err != nil {
			return dst, err
		}
		dst = append(dst, f.parts[i].before...)
		if dst, err = f.parts[i].append(dst, v, symbol); err != nil {
			return dst, err
		}
	}
	return append(dst, f.parts[len(f.args)].before...), nil
}

func (p *part) append(dst []byte, v Value, symbol Symbol) ([]byte, error) {
	if (p.verb == 's') != (v.kind == isText) || (p.address != nil) != (v.kind == isBytes) {
		return dst, fmt.Errorf("%%%c of another type", p.verb)
	}
	if p.address != nil {
		text, ok := p.address([]byte(v.s))
		if !ok {
			return dst, fmt.Errorf("an array of %d bytes is no such address", len(v.s))
		}
		return fmt.Appendf(dst, "%"+p.flags+"s", text), nil
	}
	verb := "%" + p.flags + string(p.verb)
	switch p.verb {
	case 's':
		return fmt.Appendf(dst, verb, v.s), nil
	case 'c':
		return append(dst, byte(v.n)), nil
	case 'd', 'i':
		return fmt.Appendf(dst, "%"+p.flags+"d", int64(v.cut(ctype{p.size, true}).n)), nil
	case 'u':
		return fmt.Appendf(dst, "%"+p.flags+"d", v.cut(ctype{p.size, false}).n), nil
	case 'x', 'X', 'o':
		return fmt.Appendf(dst, verb, v.cut(ctype{p.size, false}).n), nil
	case 'p':
		return append(dst, "0x"+strconv.FormatUint(v.n, 16)...), nil
	}
	return append(dst, symbol(v.n)...), nil // S s F f
}
