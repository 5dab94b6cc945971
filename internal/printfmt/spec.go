package printfmt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Conversions of printk: flags, width, %s, %d, %pS.

// A spec is a conversion: what stands from a % to its verb.
type spec struct {
	minus, plus, space, hash, zero bool // the flags
	// width and precision are -1 where there is none, and fromArgument for a *.
	width, precision int
	size             int    // bytes of the number
	verb             string // "d"; of %pI4 "pI4"; "" of none
}

const fromArgument = -2

// conversion is %, flags, width and precision, the size of the number, the verb. What follows %p says how
// (printk-formats).
var conversion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^%([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*))?(hh|h|ll|l|z|t|j|q|L)?(%|p[A-Za-z]\w*|[diuxXocsp])`)
})

var sizes = map[string]int{"hh": 1, "h": 2, "": 4}

// parseSpec reads the conversion at the beginning of a text, and says how long it is.
func parseSpec(text string) (s spec, n int, err error) {
	m := conversion().FindStringSubmatch(text)
	if m == nil {
		return s, 0, fmt.Errorf("conversion %q", text)
	}
	s = spec{minus: strings.Contains(m[1], "-"), plus: strings.Contains(m[1], "+"),
		space: strings.Contains(m[1], " "), hash: strings.Contains(m[1], "#"), zero: strings.Contains(m[1], "0"),
		width: bound(m[2]), precision: bound(m[3]), verb: m[5]}
	if strings.Contains(m[0], ".") && m[3] == "" {
		return s, 0, fmt.Errorf("conversion %q", m[0])
	}
	size, known := sizes[m[4]]
	if s.size = size; !known {
		s.size = 8
	}
	if len(s.verb) > 1 && addresses[s.verb] == nil && bits[s.verb] == nil && !symbols[s.verb] && s.verb != "px" {
		return s, 0, fmt.Errorf("conversion %%%s", s.verb)
	}
	if bits[s.verb] != nil && s.width != fromArgument { // how many bits or bytes there are
		return s, 0, fmt.Errorf("conversion %s without a width", m[0])
	}
	return s, len(m[0]), nil
}

// largestWidth is what the kernel's own printing takes (FIELD_WIDTH_MAX is larger).
const largestWidth = 1 << 15

func bound(text string) int {
	if text == "*" {
		return fromArgument
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return min(n, largestWidth)
}

// symbols are the conversions that name code.
var symbols = map[string]bool{"pS": true, "ps": true, "pF": true, "pf": true, "pB": true}

// given is the conversion with the width and the precision that its arguments say.
func (s spec) given(values []Value) spec {
	if s.width == fromArgument {
		s.width = int(int32(values[0].n))
		values = values[1:]
		if s.width < 0 { // C 7.21.6.1: a flag and a width
			s.minus, s.width = true, -s.width
		}
		s.width = min(s.width, largestWidth)
	}
	if s.precision == fromArgument {
		s.precision = max(-1, min(int(int32(values[0].n)), largestWidth))
	}
	return s
}

// text is a value as the conversion prints it.
func (s spec) text(v Value, symbol Symbol) (string, error) {
	switch {
	case v.kind == isMissing:
		return v.s, nil
	case s.verb == "s":
		return s.ofText(v)
	case addresses[s.verb] != nil || bits[s.verb] != nil:
		return s.ofBytes(v)
	case v.kind != isInt:
		return "", fmt.Errorf("%%%s of another type", s.verb)
	case symbols[s.verb]:
		return s.padded(symbol(v.n, s.verb != "ps" && s.verb != "pf")), nil
	}
	switch s.verb {
	case "c":
		return s.padded(string([]byte{byte(v.n)})), nil
	case "d", "i":
		return s.number(v.cut(signed(s.size)).n, true, 10), nil
	case "u":
		return s.number(v.cut(unsigned(s.size)).n, false, 10), nil
	case "x", "X":
		return s.number(v.cut(unsigned(s.size)).n, false, 16), nil
	case "o":
		return s.number(v.cut(unsigned(s.size)).n, false, 8), nil
	case "px":
		return fmt.Sprintf("%016x", v.n), nil
	}
	return "0x" + strconv.FormatUint(v.n, 16), nil // p
}

// ofText is a string; the kernel says "(null)" of one that is not there.
func (s spec) ofText(v Value) (string, error) {
	text := v.s
	switch {
	case v.kind == isInt && v.n == 0:
		text = "(null)"
	case v.kind != isText:
		return "", fmt.Errorf("%%s of another type")
	}
	if s.precision >= 0 {
		text = text[:min(s.precision, len(text))]
	}
	return s.padded(text), nil
}

// ofBytes is an array as an address of a network, or as a set of bits.
func (s spec) ofBytes(v Value) (string, error) {
	if v.kind != isArray {
		return "", fmt.Errorf("%%%s of another type", s.verb)
	}
	if print := bits[s.verb]; print != nil {
		text, ok := print([]byte(v.s), s.width)
		if !ok {
			return "", fmt.Errorf("an array of %d bytes has no %d for %%%s", len(v.s), s.width, s.verb)
		}
		return text, nil
	}
	text, ok := addresses[s.verb]([]byte(v.s))
	if !ok {
		return "", fmt.Errorf("an array of %d bytes is no such address", len(v.s))
	}
	return s.padded(text), nil
}

func (s spec) padded(text string) string {
	fill := strings.Repeat(" ", max(0, s.width-len(text)))
	if s.minus {
		return text + fill
	}
	return fill + text
}

// number is as number() of the kernel's lib/vsprintf.c, which differs from Go's: the width counts the 0x, and zeros and
// a precision go together.
func (s spec) number(n uint64, withSign bool, base int) string {
	prefix := ""
	switch {
	case withSign && int64(n) < 0:
		prefix, n = "-", -n
	case withSign && s.plus:
		prefix = "+"
	case withSign && s.space:
		prefix = " "
	case s.hash && base == 16:
		prefix = "0x"
	case s.hash && base == 8 && n != 0:
		prefix = "0"
	}
	digits := strconv.FormatUint(n, base)
	digits = strings.Repeat("0", max(0, s.precision-len(digits))) + digits
	if s.verb == "X" {
		prefix, digits = strings.ToUpper(prefix), strings.ToUpper(digits)
	}
	if s.zero && !s.minus {
		return prefix + strings.Repeat("0", max(0, s.width-len(prefix)-len(digits))) + digits
	}
	return s.padded(prefix + digits)
}
