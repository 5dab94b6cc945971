package printfmt

import (
	"errors"
	"fmt"
)

// A Value is a number of C, a text, or the bytes of an array.
type Value struct {
	kind   int
	n      uint64 // extended by its sign to 64 bits
	size   int    // bytes
	signed bool
	s      string
}

const (
	isInt = iota + 1
	isText
	isBytes
)

// Int is a number that in C has so many bytes.
func Int(n int64, size int, signed bool) Value {
	return Value{kind: isInt, n: uint64(n)}.cut(ctype{size, signed})
}

// String is a text.
func String(s string) Value { return Value{kind: isText, s: s} }

// Bytes is an array of bytes, as an address.
func Bytes(b []byte) Value { return Value{kind: isBytes, s: string(b)} }

// Fields gives the fields of a record by name.
type Fields func(name string) (Value, bool)

type ctype struct {
	size   int // bytes
	signed bool
}

// types are those that casts in the kernel's formats name; all others count as 64 bits without a sign, which addresses
// are.
var types = map[string]ctype{
	"char": {1, true}, "signed char": {1, true}, "unsigned char": {1, false}, "u8": {1, false}, "__u8": {1, false},
	"s8": {1, true}, "bool": {1, false},
	"short": {2, true}, "unsigned short": {2, false}, "u16": {2, false}, "__u16": {2, false}, "s16": {2, true},
	"umode_t": {2, false},
	"int":     {4, true}, "unsigned": {4, false}, "unsigned int": {4, false}, "u32": {4, false}, "__u32": {4, false},
	"s32": {4, true}, "dev_t": {4, false}, "gfp_t": {4, false},
	"long": {8, true}, "long long": {8, true}, "s64": {8, true}, "__s64": {8, true}, "ssize_t": {8, true},
	"loff_t": {8, true},
}

func typeOf(spelled string) ctype {
	if t, ok := types[spelled]; ok {
		return t
	}
	return ctype{8, false}
}

func (v Value) cut(t ctype) Value {
	shift := uint(64 - 8*t.size)
	if v.n <<= shift; t.signed {
		v.n = uint64(int64(v.n) >> shift)
	} else {
		v.n >>= shift
	}
	v.size, v.signed = t.size, t.signed
	return v
}

func (v Value) as(t ctype) (Value, error) {
	if v.kind != isInt {
		return v, errors.New("the address of a text or an array")
	}
	return v.cut(t), nil
}

func (v Value) truth() bool { return v.kind != isInt || v.n != 0 }

func truth(b bool) Value {
	if b {
		return Int(1, 4, true)
	}
	return Int(0, 4, true)
}

// promoted is what a narrow number is for an operator: an int (C 6.3.1.1).
func (v Value) promoted() Value {
	if v.size < 4 {
		v.size, v.signed = 4, true
	}
	return v
}

func (v Value) single(op string) (Value, error) {
	if op == "!" {
		return truth(!v.truth()), nil
	}
	if v.kind != isInt {
		return v, fmt.Errorf("%s of a text or an array", op)
	}
	v = v.promoted()
	switch op {
	case "~":
		v.n = ^v.n
	case "-":
		v.n = -v.n
	}
	return v.cut(ctype{v.size, v.signed}), nil
}

// combine is v op w in the common type of both (C 6.3.1.8); a shift has that of its left side.
func (v Value) combine(op string, w Value) (Value, error) {
	if op == "&&" || op == "||" {
		return truth(w.truth()), nil // v alone did not decide
	}
	if v.kind != isInt || w.kind != isInt {
		return v, fmt.Errorf("%s of a text or an array", op)
	}
	v, w = v.promoted(), w.promoted()
	t := ctype{v.size, v.signed}
	switch {
	case op == "<<" || op == ">>":
	case w.size > v.size:
		t = ctype{w.size, w.signed}
	case w.size == v.size:
		t.signed = v.signed && w.signed
	}
	if op == "<<" || op == ">>" {
		return v.shift(op, w.n).cut(t), nil
	}
	v, w = v.cut(t), w.cut(t)
	if is, ok := compare(op, v, w); ok {
		return truth(is), nil
	}
	n, err := calculate(op, v, w)
	v.n = n
	return v.cut(t), err
}

func (v Value) shift(op string, by uint64) Value {
	switch {
	case op == "<<":
		v.n <<= by
	case v.signed:
		v.n = uint64(int64(v.n) >> by)
	default:
		v.n >>= by
	}
	return v
}

func compare(op string, v, w Value) (is, ok bool) {
	less := v.n < w.n
	if v.signed {
		less = int64(v.n) < int64(w.n)
	}
	switch op {
	case "==":
		return v.n == w.n, true
	case "!=":
		return v.n != w.n, true
	case "<":
		return less, true
	case ">=":
		return !less, true
	case ">":
		return !less && v.n != w.n, true
	case "<=":
		return less || v.n == w.n, true
	}
	return false, false
}

func calculate(op string, v, w Value) (uint64, error) {
	switch op {
	case "+":
		return v.n + w.n, nil
	case "-":
		return v.n - w.n, nil
	case "*":
		return v.n * w.n, nil
	case "&":
		return v.n & w.n, nil
	case "|":
		return v.n | w.n, nil
	case "^":
		return v.n ^ w.n, nil
	}
	if w.n == 0 {
		return 0, errors.New("division by zero")
	}
	switch {
	case op == "/" && v.signed:
		return uint64(int64(v.n) / int64(w.n)), nil
	case op == "/":
		return v.n / w.n, nil
	case v.signed:
		return uint64(int64(v.n) % int64(w.n)), nil
	}
	return v.n % w.n, nil
}
