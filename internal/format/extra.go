package format

import "math"

// How long the outcome of a format becomes.

// Extra is about how many bytes the outcome has at the most besides the text of each argument: literal text, what
// widths and precisions add, and verbs by which an argument is longer than its text.
func (f *Format) Extra(args []Arg) (bytes uint64) {
	next := 0
	number := func() (n int64) {
		if next < len(args) {
			n = min(max(args[next].Int, -args[next].Int), maxWidth)
		}
		next++
		return n
	}
	for i := range f.parts {
		p := &f.parts[i]
		if bytes += uint64(len(p.lit) + p.width + max(p.prec, 0)); p.verb == 0 {
			continue
		}
		if p.starWidth {
			bytes += uint64(number())
		}
		if p.starPrec {
			bytes += uint64(number())
		}
		if next < len(args) {
			bytes += p.longer(&args[next])
		}
		next++
	}
	return bytes
}

// longer is how much longer than its text an argument is at the most by the verb, width and precision aside.
func (p *part) longer(a *Arg) uint64 {
	switch a.Kind {
	case Str, Bytes:
		switch p.verb {
		case 'x', 'X': // with spaces
			return 2 * uint64(len(a.Str))
		case 'q', 'r':
			return 3 * uint64(len(a.Str))
		}
	case Big:
		if p.verb != 'd' {
			return uint64(a.Big.BitLen())
		}
	case Float:
		if math.Abs(a.Float) >= 1e20 {
			return 310
		}
	}
	return 64 // an int in bits
}
