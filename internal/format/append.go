package format

import (
	"fmt"
	"unicode/utf8"
)

// A format of printf applied to its arguments, verb by verb, with the message that a verb wants another kind.

// Append applies the format to args and appends the outcome to dst. On an
// error dst comes back with its old length.
func (f *Format) Append(dst []byte, args []Arg) ([]byte, error) {
	if len(args) != f.wanted {
		return dst, fmt.Errorf("format wants %s, got %d", count(f.wanted), len(args))
	}
	old, next := len(dst), 0
	for i := range f.parts {
		p := &f.parts[i]
		if p.verb == 0 {
			dst = append(dst, p.lit...)
			continue
		}
		var err error
		if p.starWidth || p.starPrec {
			resolved := *p
			if next, err = resolved.stars(args, next); err != nil {
				return dst[:old], err
			}
			dst, err = f.appendStarred(dst, resolved, &args[next])
		} else {
			dst, err = f.appendVerb(dst, p, &args[next])
		}
		if err != nil {
			return dst[:old], err
		}
		next++
	}
	return dst, nil
}

func count(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return Count(n, "argument")
}

// appendStarred keeps the copy of a part whose width came from an argument
// off the usual path, where it would be moved to the heap.
func (f *Format) appendStarred(dst []byte, p part, a *Arg) ([]byte, error) {
	return f.appendVerb(dst, &p, a)
}

// stars takes width and precision from the arguments and gives the number of
// the next one. As in C a negative width is the flag `-`, a negative
// precision none.
func (p *part) stars(args []Arg, next int) (int, error) {
	if p.starWidth {
		n, err := p.starValue(&args[next], "width")
		if err != nil {
			return next, err
		}
		if p.width = n; n < 0 {
			p.width, p.minus = -n, true
		}
		next++
	}
	if p.starPrec {
		n, err := p.starValue(&args[next], "precision")
		if err != nil {
			return next, err
		}
		p.prec = max(n, -1)
		next++
	}
	return next, nil
}

func (p *part) starValue(a *Arg, what string) (int, error) {
	if a.Kind != Int {
		return 0, fmt.Errorf("%s wants an int as its %s, got %s", p.spec, what, a.describe())
	}
	if a.Int > maxWidth || a.Int < -maxWidth {
		return 0, fmt.Errorf("%s: a %s of %d is beyond %d", p.spec, what, a.Int, maxWidth)
	}
	return int(a.Int), nil
}

// appendVerb applies one verb. None and FAULT print by name under every verb:
// a value that may be absent is ordinary in a tracer.
func (f *Format) appendVerb(dst []byte, p *part, a *Arg) ([]byte, error) {
	if a.Kind == None || a.Kind == Fault {
		return appendAbsent(dst, p, a), nil
	}
	switch p.verb {
	case 'd', 'u', 'o', 'b', 'p':
		return appendNumber(dst, p, a)
	case 'x', 'X':
		if a.Kind == Str || a.Kind == Bytes {
			return appendHex(dst, p, a.Str), nil
		}
		return appendNumber(dst, p, a)
	case 'f', 'F', 'e', 'E', 'g', 'G':
		return appendFloatVerb(dst, p, a)
	case 'c':
		return f.appendChar(dst, p, a)
	case 'q', 'r':
		return f.appendQuoted(dst, p, a)
	case 't':
		if a.Kind != Bool {
			return dst, p.wants("a bool", a)
		}
	}
	return f.appendString(dst, p, a), nil
}

func appendAbsent(dst []byte, p *part, a *Arg) []byte {
	start := len(dst)
	return p.pad(a.appendText(dst), start)
}

func (p *part) wants(what string, a *Arg) error {
	return fmt.Errorf("%s wants %s, got %s", p.spec, what, a.describe())
}

// AppendHeading appends text where a value would stand: with the widths and
// the alignment of the verbs, literal text as spaces.
func (f *Format) AppendHeading(dst []byte, text string) []byte {
	for i := range f.parts {
		p := f.parts[i]
		if p.verb == 0 {
			for range utf8.RuneCountInString(p.lit) {
				dst = append(dst, ' ')
			}
			continue
		}
		start := len(dst)
		dst = p.pad(append(dst, text...), start)
		text = ""
	}
	return dst
}
