package printfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The kernel's functions for arrays: `__print_array`, `__print_hex`.

// ofField is what a function gives of the field that it names.
func (p *parser) ofField(fn string, field node) (node, error) {
	fn = strings.Replace(fn, "__get_rel_", "__get_", 1)
	switch fn {
	case "__get_dynamic_array":
		return p.elementOf(field)
	case "__get_str", "__get_sockaddr":
		return field, nil
	}
	return func(f Fields) (Value, error) {
		v, err := field(f)
		switch {
		case err != nil || v.kind == isMissing:
			return v, err
		case v.kind != isArray:
			return v, fmt.Errorf("%s of what is no array", fn)
		case fn == "__get_dynamic_array_len":
			return Int(int64(len(v.s)), 4, true), nil
		}
		words, _ := bitWords([]byte(v.s), 8*len(v.s))
		return String(words), nil
	}, nil
}

// list reads (array, count), for __print_array with the size of an element behind it.
func (p *parser) list(fn string) (node, error) {
	var args []node
	for len(args) == 0 || p.take(",") {
		x, err := p.choice()
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	if want := map[bool]int{true: 3, false: 2}[fn == "__print_array"]; len(args) != want {
		return nil, fmt.Errorf("%s of %d arguments", fn, len(args))
	}
	return func(f Fields) (Value, error) {
		var values []Value
		for _, a := range args {
			v, err := a(f)
			if err != nil || v.kind == isMissing {
				return v, err
			}
			values = append(values, v)
		}
		return printed(fn, values)
	}, nil
}

// printed is what __print_hex and its like print.
func printed(fn string, args []Value) (Value, error) {
	array, n, size := args[0], int(int32(args[1].n)), 1
	if len(args) == 3 {
		size = int(int32(args[2].n))
	}
	if array.kind != isArray || n < 0 || size != 1 && size != 2 && size != 4 && size != 8 || n*size > len(array.s) {
		return Value{}, errors.New("a list of what is not there")
	}
	b := []byte(array.s)[:n*size]
	switch fn {
	case "__print_hex":
		return String(hexOf(b, " ")), nil
	case "__print_hex_str":
		return String(hexOf(b, "")), nil
	}
	out := make([]string, n)
	for i := range out {
		word := make([]byte, 8)
		copy(word, b[i*size:(i+1)*size]) // the lowest byte is the first
		out[i] = fmt.Sprintf("0x%x", binary.LittleEndian.Uint64(word))
	}
	return String("{" + strings.Join(out, ",") + "}"), nil
}
