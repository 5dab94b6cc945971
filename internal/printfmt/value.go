package printfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Numbers of C with their types, and what operators give.

// A Value is a number of C, a text, an array of numbers, or what says why there is none.
type Value struct {
	kind   int
	n      uint64 // extended by its sign to 64 bits
	size   int    // bytes, of an array those of an element
	signed bool
	s      string // a text, or the bytes of an array as they lie in memory
}

const (
	isInt = iota + 1
	isText
	isArray
	isMissing
)

// Int is a number that in C has so many bytes.
func Int(n int64, size int, signed bool) Value {
	return Value{kind: isInt, n: uint64(n)}.cut(ctype{size: size, signed: signed})
}

// String is a text.
func String(s string) Value { return Value{kind: isText, s: s} }

// Array is an array of numbers of a size, in bytes as they lie in memory.
func Array(b []byte, size int, signed bool) Value {
	return Value{kind: isArray, s: string(b), size: size, signed: signed}
}

// Missing is a value that is not there. What is made of it is not there either, and prints as the text.
func Missing(text string) Value { return Value{kind: isMissing, s: text} }

// element is v[i] of an array.
func (v Value) element(i Value) (Value, error) {
	if v.kind == isMissing || i.kind == isMissing {
		return Missing(v.s + i.s), nil
	}
	if v.kind != isArray || i.kind != isInt || v.size == 0 || i.n >= uint64(len(v.s)/v.size) {
		return v, errors.New("an element that is not there")
	}
	at := int(i.n) * v.size
	word := make([]byte, 8)
	copy(word, v.s[at:at+v.size]) // the lowest byte is the first
	return Int(int64(binary.LittleEndian.Uint64(word)), v.size, v.signed), nil
}

// Fields gives the fields of a record by name.
type Fields func(name string) (Value, bool)

type ctype struct {
	size   int // bytes
	signed bool
	// pointer: a text or an array stays what it is.
	pointer bool
}

// types are those that casts in the kernel's formats name; all others count as 64 bits without a sign, which addresses
// are.
var types = map[string]ctype{
	"char": signed(1), "signed char": signed(1), "unsigned char": unsigned(1), "u8": unsigned(1), "__u8": unsigned(1),
	"s8": signed(1), "bool": unsigned(1),
	"short": signed(2), "unsigned short": unsigned(2), "u16": unsigned(2), "__u16": unsigned(2), "s16": signed(2),
	"umode_t": unsigned(2), "__be16": unsigned(2), "uint8_t": unsigned(1), "uint16_t": unsigned(2),
	"pid_t": signed(4), "int32_t": signed(4), "__s32": signed(4), "uint32_t": unsigned(4), "__be32": unsigned(4),
	"uid_t": unsigned(4), "blk_opf_t": unsigned(4),
	"int": signed(4), "unsigned": unsigned(4), "unsigned int": unsigned(4), "u32": unsigned(4), "__u32": unsigned(4),
	"s32": signed(4), "dev_t": unsigned(4), "gfp_t": unsigned(4),
	"long": signed(8), "long long": signed(8), "s64": signed(8), "__s64": signed(8), "ssize_t": signed(8),
	"u64": unsigned(8), "__u64": unsigned(8),
	"size_t": unsigned(8), "unsigned long": unsigned(8), "unsigned long long": unsigned(8), "uint64_t": unsigned(8),
	"dma_addr_t": unsigned(8), "phys_addr_t": unsigned(8),
	"loff_t": signed(8),
}

func signed(size int) ctype   { return ctype{size: size, signed: true} }
func unsigned(size int) ctype { return ctype{size: size} }

func typeOf(spelled string) ctype {
	if t, ok := types[spelled]; ok {
		return t
	}
	return ctype{size: 8}
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
	if v.kind == isMissing || t.pointer && v.kind != isInt {
		return v, nil
	}
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
	switch {
	case v.kind == isMissing:
		return v, nil
	case op == "!":
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
	return v.cut(ctype{size: v.size, signed: v.signed}), nil
}

// combine is v op w in the common type of both (C 6.3.1.8); a shift has that of its left side.
func (v Value) combine(op string, w Value) (Value, error) {
	if w.kind == isMissing {
		return w, nil
	}
	if op == "&&" || op == "||" {
		return truth(w.truth()), nil // v alone did not decide
	}
	if v.kind != isInt || w.kind != isInt {
		return v, fmt.Errorf("%s of a text or an array", op)
	}
	v, w = v.promoted(), w.promoted()
	t := ctype{size: v.size, signed: v.signed}
	switch {
	case op == "<<" || op == ">>":
	case w.size > v.size:
		t = ctype{size: w.size, signed: w.signed}
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
