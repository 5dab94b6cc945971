package format

import (
	"math"
	"math/big"
	"strconv"
)

// The verbs for ints: %d, %i, %u, %x, %o, %b, with sign, zeros and prefix.

// appendNumber applies a verb for integers. As in Starlark a float loses its
// fraction; a bool is 0 or 1.
func appendNumber(dst []byte, p *part, a *Arg) ([]byte, error) {
	if p.halves > 0 && a.Kind != Float {
		a = p.narrowed(a)
	}
	switch a.Kind {
	case Bool, Int:
		if a.Int < 0 && p.verb == 'd' {
			return p.appendUint(dst, -uint64(a.Int), true), nil
		}
		// The verbs of C for unsigned values show the bits of a negative one.
		return p.appendUint(dst, uint64(a.Int), false), nil
	case Uint:
		return p.appendUint(dst, a.Uint, false), nil
	case Big:
		return p.appendBig(dst, a.Big), nil
	case Float:
		return p.appendTruncated(dst, a)
	}
	return dst, p.wants("a number", a)
}

// narrowed is an int as the short or the char that h and hh say.
func (p *part) narrowed(a *Arg) *Arg {
	bits := uint64(a.Int)
	switch a.Kind {
	case Bool, Int:
	case Uint:
		bits = a.Uint
	case Big:
		bits = new(big.Int).And(a.Big, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	default:
		return a
	}
	shift := 64 - 16>>min(p.halves-1, 1)
	if p.verb == 'd' {
		return &Arg{Kind: Int, Int: int64(bits<<shift) >> shift}
	}
	return &Arg{Kind: Uint, Uint: bits << shift >> shift}
}

func (p *part) appendTruncated(dst []byte, a *Arg) ([]byte, error) {
	if math.IsNaN(a.Float) || math.IsInf(a.Float, 0) {
		return dst, p.wants("a finite number", a)
	}
	if math.Abs(a.Float) < 1<<63 {
		return appendNumber(dst, p, &Arg{Kind: Int, Int: int64(a.Float)})
	}
	i, _ := big.NewFloat(a.Float).Int(nil)
	return p.appendBig(dst, i), nil
}

func (p *part) base() int {
	switch p.verb {
	case 'x', 'X', 'p':
		return 16
	case 'o':
		return 8
	case 'b':
		return 2
	}
	return 10
}

// appendUint appends a magnitude with its sign.
func (p *part) appendUint(dst []byte, u uint64, negative bool) []byte {
	start := len(dst)
	if p.base() == 10 && p.width == 0 && p.prec < 0 && !p.plus && !p.space {
		if negative {
			dst = append(dst, '-')
		}
		return strconv.AppendUint(dst, u, 10)
	}
	var room [64]byte
	digits := strconv.AppendUint(room[:0], u, p.base())
	return p.number(dst, start, digits, negative)
}

func (p *part) appendBig(dst []byte, i *big.Int) []byte {
	digits := i.Append(nil, p.base())
	if i.Sign() < 0 {
		digits = digits[1:]
	}
	return p.number(dst, len(dst), digits, i.Sign() < 0)
}

// number puts sign, prefix, zeros and digits together and pads them.
func (p *part) number(dst []byte, start int, digits []byte, negative bool) []byte {
	if p.verb == 'X' {
		upper(digits)
	}
	zeroValue := len(digits) == 1 && digits[0] == '0'
	if p.prec == 0 && zeroValue && !(p.alt && p.verb == 'o') {
		digits = digits[:0] // as in C, where "#" gives an octal number a zero in any case
	}
	dst = p.sign(dst, negative)
	dst = append(dst, p.prefix(digits, zeroValue)...)
	zeros := p.prec - len(digits)
	if p.zero && !p.minus && p.prec < 0 {
		zeros = p.width - (len(dst) - start) - len(digits)
	}
	for ; zeros > 0; zeros-- {
		dst = append(dst, '0')
	}
	return p.pad(append(dst, digits...), start)
}

func (p *part) sign(dst []byte, negative bool) []byte {
	switch {
	case negative:
		return append(dst, '-')
	case p.verb != 'd': // as in C, which has a sign in %d only
		return dst
	case p.plus:
		return append(dst, '+')
	case p.space:
		return append(dst, ' ')
	}
	return dst
}

func (p *part) prefix(digits []byte, zeroValue bool) string {
	switch {
	case p.verb == 'p':
		return "0x"
	case !p.alt || zeroValue:
		return ""
	}
	switch p.verb {
	case 'x':
		return "0x"
	case 'X':
		return "0X"
	case 'b':
		return "0b"
	case 'o':
		if len(digits) >= p.prec { // else a zero comes from the precision
			return "0"
		}
	}
	return ""
}

func upper(b []byte) {
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
}
