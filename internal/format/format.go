// Package format applies printf formats: the verbs of C and of Go, with
// flags, width and precision.
//
// A format is parsed once. Applying it appends to the caller's buffer and
// allocates nothing except for integers beyond 64 bits and for errors. The
// package knows nothing of the interpreter: values come as Arg.
//
// A Format is immutable after Parse, except Escape, which its owner sets
// before the first use; then any goroutine may apply it.
package format

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/escape"
)

// Formats of printf parsed: verbs, flags, width, precision, and hints about verbs that are not known.

// A Format is a parsed format string.
type Format struct {
	// Escape says what becomes of control characters in string arguments.
	// The text of the format itself is the script's own and stays as it is.
	Escape escape.How

	parts  []part
	wanted int
}

// A part is literal text or a verb.
type part struct {
	lit  string // set for literal text; verb is then 0
	spec string // the verb as written: "%-16s"
	// verb is the letter that ends it: 'd'.
	verb byte

	// width and prec are the numbers of %8.3f; prec is -1 where none was given.
	width, prec int
	// starWidth and starPrec: the number is an argument, as in %*d.
	starWidth, starPrec bool
	// minus, plus, space, zero and alt are the flags "-", "+", " ", "0" and "#".
	minus, plus, space bool
	zero, alt          bool
	// halves is how many h stand before the verb.
	halves int
}

// The largest width and precision; more would only fill memory.
const maxWidth = 10000

// Wanted is the number of arguments that the format takes, those of `*`
// included.
func (f *Format) Wanted() int { return f.wanted }

// Parse reads a format string. Errors name the column in it, in runes from 1.
func Parse(s string) (*Format, error) {
	p := parser{text: s, out: &Format{}}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.out, nil
}

type parser struct {
	text string
	pos  int
	lit  []byte // literal text that has not become a part yet
	out  *Format
}

func (p *parser) run() error {
	for p.pos < len(p.text) {
		if p.text[p.pos] != '%' {
			p.lit = append(p.lit, p.text[p.pos])
			p.pos++
			continue
		}
		if err := p.directive(); err != nil {
			return err
		}
	}
	p.flush()
	return nil
}

func (p *parser) flush() {
	if len(p.lit) > 0 {
		p.out.parts = append(p.out.parts, part{lit: string(p.lit)})
		p.lit = p.lit[:0]
	}
}

// directive reads from a % to its verb.
func (p *parser) directive() error {
	start := p.pos
	p.pos++
	d := part{prec: -1}
	p.flags(&d)
	if err := p.widthAndPrec(&d); err != nil {
		return err
	}
	for p.pos < len(p.text) && isModifier(p.text[p.pos]) {
		if p.text[p.pos] == 'h' {
			d.halves++
		}
		p.pos++
	}
	if p.pos == len(p.text) {
		return p.errorf(start, "the format ends inside %s (write %%%% for a percent sign)", p.text[start:])
	}
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	if r == '%' {
		p.lit = append(p.lit, '%')
		return nil
	}
	if !isVerb(r) {
		return p.errorf(start, "unknown verb %s%s", strings.TrimSpace(p.text[start:p.pos]), verbHint(r))
	}
	d.verb, d.spec = byte(r), p.text[start:p.pos]
	if d.verb == 'i' {
		d.verb = 'd'
	}
	p.flush()
	p.out.parts = append(p.out.parts, d)
	p.out.wanted++
	return nil
}

func (p *parser) flags(d *part) {
	for ; p.pos < len(p.text); p.pos++ {
		switch p.text[p.pos] {
		case '-':
			d.minus = true
		case '+':
			d.plus = true
		case ' ':
			d.space = true
		case '0':
			d.zero = true
		case '#':
			d.alt = true
		default:
			return
		}
	}
}

func (p *parser) widthAndPrec(d *part) (err error) {
	if d.starWidth = p.star(); !d.starWidth {
		if d.width, err = p.number("width"); err != nil {
			return err
		}
	}
	if p.pos == len(p.text) || p.text[p.pos] != '.' {
		return nil
	}
	p.pos++
	if d.starPrec = p.star(); !d.starPrec {
		d.prec, err = p.number("precision")
	}
	return err
}

func (p *parser) star() bool {
	if p.pos < len(p.text) && p.text[p.pos] == '*' {
		p.pos++
		p.out.wanted++
		return true
	}
	return false
}

func (p *parser) number(what string) (int, error) {
	start, n := p.pos, 0
	for ; p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9'; p.pos++ {
		if n = n*10 + int(p.text[p.pos]-'0'); n > maxWidth {
			return 0, p.errorf(start, "%s is above %d", what, maxWidth)
		}
	}
	return n, nil
}

func (p *parser) errorf(at int, msg string, args ...any) error {
	col := utf8.RuneCountInString(p.text[:at]) + 1
	return fmt.Errorf("format, column %d: %s", col, fmt.Sprintf(msg, args...))
}

// isModifier reports whether c is a length modifier of C. Of h and hh an int
// is what its low 16 or 8 bits are. The others mean nothing, for ints have 64
// bits or know their size.
func isModifier(c byte) bool {
	return c == 'l' || c == 'h' || c == 'z' || c == 'j'
}

func isVerb(r rune) bool {
	switch r {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'b', 'c', 's', 'q', 'r', 'v', 't',
		'f', 'F', 'e', 'E', 'g', 'G', 'p':
		return true
	}
	return false
}

func verbHint(r rune) string {
	switch r {
	case 'n':
		return " (write \\n for a new line)"
	case '$', '[':
		return " (arguments are taken in order)"
	}
	return " (known are d i u x X o b c s q r v t f e g p)"
}
