package format

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// The verbs %f, %e and %g, and how str() shows a float.

// appendFloatVerb applies %f %e %g. The precision is 6 where none is given,
// for %g too, as in C and Python.
func appendFloatVerb(dst []byte, p *part, a *Arg) ([]byte, error) {
	f, ok := a.float()
	if !ok {
		return dst, p.wants("a number", a)
	}
	start := len(dst)
	finite := !math.IsNaN(f) && !math.IsInf(f, 0)
	if !math.Signbit(f) {
		dst = p.floatSign(dst)
	}
	digits := len(dst)
	dst = p.appendFloat(dst, f, finite)
	if p.zero && !p.minus && finite {
		if dst[digits] == '-' {
			digits++
		}
		return insert(dst, digits, '0', p.width-(len(dst)-start)), nil
	}
	return p.pad(dst, start), nil
}

func (p *part) floatSign(dst []byte) []byte {
	switch {
	case p.plus:
		return append(dst, '+')
	case p.space:
		return append(dst, ' ')
	}
	return dst
}

func (p *part) appendFloat(dst []byte, f float64, finite bool) []byte {
	if !finite {
		start := len(dst)
		if dst = appendNonFinite(dst, f); p.verb == 'E' || p.verb == 'F' || p.verb == 'G' {
			upper(dst[start:])
		}
		return dst
	}
	prec := p.prec
	if prec < 0 {
		prec = 6
	}
	verb := p.verb
	if verb == 'F' {
		verb = 'f'
	}
	if (verb == 'g' || verb == 'G') && prec == 0 {
		prec = 1
	}
	if p.alt { // a point in any case, and the zeros behind it
		return fmt.Appendf(dst, "%#.*"+string(verb), prec, f)
	}
	return strconv.AppendFloat(dst, f, verb, prec, 64)
}

func appendNonFinite(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case f < 0:
		return append(dst, "-inf"...)
	}
	return append(dst, "inf"...)
}

// float gives the value for a verb of floats.
func (a *Arg) float() (float64, bool) {
	switch a.Kind {
	case Bool, Int:
		return float64(a.Int), true
	case Uint:
		return float64(a.Uint), true
	case Float:
		return a.Float, true
	case Big:
		f, _ := a.Big.Float64()
		return f, true
	}
	return 0, false
}

// AppendFloat appends a float as Starlark's str() does: always with a point
// or an exponent, so that it reads as a float.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "+inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}
